// ConvTranspose: the adjoint of Conv in its data operand: Y[n, g*M/G + m, i*stride + k*dilation - pad]
// accumulates X[n, g*C/G + c, i] * W[g*C/G + c, m, k]  (ONNX ConvTranspose-11).
#include <algorithm>

#include "common/infer_util.h"
#include "macs.h"
#include "product/ref_gemm.h"
#include "window/conv_dynamic.h"
#include "window/ref_window.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Result<std::vector<TensorType>> infer_conv_transpose(const InferContext& context) {
  MRVLC_TRY(check_same_elem(context, 1));
  if (context.has(2)) MRVLC_TRY(check_same_elem(context, 2));
  MRVLC_ASSIGN(ConvParams p, conv_transpose_params(context));
  Shape shape{p.batch, p.out_channels};
  shape.insert(shape.end(), p.output.begin(), p.output.end());
  return one_type(context.type(0).elem, std::move(shape));
}

constexpr int64_t kScatteredColumns = 128;

// W of one group, [C/G, M/G * taps], transposed so that the product runs along rows.
std::vector<double> transposed_weights(const Tensor& w, int64_t first, int64_t channels, int64_t rows) {
  std::vector<double> in(static_cast<size_t>(channels * rows)), out(in.size());
  load_doubles(w, first, channels * rows, in.data());
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t r = 0; r < rows; ++r)
      out[static_cast<size_t>(r * channels + c)] = in[static_cast<size_t>(c * rows + r)];
  }
  return out;
}

// The window that maps the output (as its input) to the input (as its output).
WindowParams adjoint_window(const ConvParams& p) {
  WindowParams adjoint = p;
  std::swap(adjoint.input, adjoint.output);
  return adjoint;
}

Status eval_conv_transpose(const EvalContext& context) {
  MRVLC_ASSIGN(ConvParams p, conv_transpose_params(context.infer_view()));
  WindowParams adjoint = adjoint_window(p);
  WindowGather gather(adjoint);
  int64_t channels = p.in_channels / p.group, out = p.out_channels / p.group, rows = out * gather.taps();
  int64_t positions = gather.positions(), plane = gather.plane();
  std::vector<double> y(static_cast<size_t>(out * plane)), x(static_cast<size_t>(channels * positions));
  std::vector<double> columns(static_cast<size_t>(rows * std::min(kScatteredColumns, positions)));
  for (int64_t g = 0; g < p.group; ++g) {
    std::vector<double> w = transposed_weights(context.in(1), g * channels * rows, channels, rows);
    for (int64_t n = 0; n < p.batch; ++n) {
      load_doubles(context.in(0), (n * p.group + g) * channels * positions, channels * positions, x.data());
      for (int64_t m = 0; m < out; ++m) {
        std::fill_n(y.begin() + m * plane, plane,
                    context.has(2) ? context.in(2).as_double(g * out + m) : 0.0);
      }
      for (int64_t first = 0; first < positions; first += kScatteredColumns) {
        int64_t count = std::min(kScatteredColumns, positions - first);
        std::fill(columns.begin(), columns.end(), 0.0);
        ref_gemm(rows, count, channels, w.data(), channels, x.data() + first, positions, columns.data(),
                 count);
        for (int64_t m = 0; m < out; ++m) {
          gather.scatter(columns.data() + m * gather.taps() * count, first, count, y.data() + m * plane);
        }
      }
      store_doubles(context.out(), (n * p.group + g) * out * plane, out * plane, y.data());
    }
  }
  return {};
}

}  // namespace

const OpDef& def_ConvTranspose() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "ConvTranspose";
    d.macs = conv_transpose_macs;
    d.traits = {.work = Work::Windows, .sums_products = true, .passes_size_on = true, .by_channel = true};
    d.attrs = {with_string("auto_pad", "NOTSET"),
               optional("dilations", ir::AttrKind::Ints),
               with_int("group", 1),
               optional("kernel_shape", ir::AttrKind::Ints),
               optional("output_padding", ir::AttrKind::Ints),
               optional("output_shape", ir::AttrKind::Ints),
               optional("pads", ir::AttrKind::Ints),
               optional("strides", ir::AttrKind::Ints)};
    d.min_inputs = 2;
    d.max_inputs = 3;
    d.types = kFloats;
    d.infer = infer_conv_transpose;
    d.eval = eval_conv_transpose;
    d.emit_kernel = "conv_transpose";
    d.emit_dynamic = emit_dynamic_conv_transpose;
    d.accel = {LayerKind::ConvTranspose};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops

// Conv: Y[n,m,o] = B[m] + sum over c, k of X[n, g*C/G + c, o*stride + k*dilation - pad] * W[m,c,k]  (ONNX
// Conv-11).
#include <algorithm>

#include "infer_util.h"
#include "ref_gemm.h"
#include "ref_window.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Result<std::vector<TensorType>> infer_conv(const InferContext& context) {
  MRVLC_TRY(check_same_elem(context, 1));
  if (context.has(2)) MRVLC_TRY(check_same_elem(context, 2));
  MRVLC_ASSIGN(ConvParams p, conv_params(context));
  Shape shape{p.batch, p.out_channels};
  shape.insert(shape.end(), p.output.begin(), p.output.end());
  return one_type(context.type(0).elem, std::move(shape));
}

// Output positions worked on together: the gathered operand stays in the cache.
constexpr int64_t kColumns = 128;

// One group of one image, output positions [first, first + count): gathers the window operand, multiplies,
// stores.
void conv_columns(const EvalContext& context, const ConvParams& p, const WindowGather& gather,
                  const double* x, const double* w, int64_t row, int64_t first, int64_t count,
                  std::vector<double>& columns) {
  int64_t rows = p.out_channels / p.group, channels = p.in_channels / p.group, taps = gather.taps();
  columns.resize(static_cast<size_t>(channels * taps * count + rows * count));
  double* sums = columns.data() + channels * taps * count;
  for (int64_t c = 0; c < channels; ++c)
    gather.columns(x + c * gather.plane(), first, count, columns.data() + c * taps * count);
  int64_t positions = gather.positions(), m0 = row % p.out_channels;
  for (int64_t m = 0; m < rows; ++m) {
    double bias = context.has(2) ? context.in(2).as_double(m0 + m) : 0.0;
    std::fill_n(sums + m * count, count, bias);
  }
  ref_gemm(rows, count, channels * taps, w, channels * taps, columns.data(), count, sums, count);
  for (int64_t m = 0; m < rows; ++m)
    store_doubles(context.out(), (row + m) * positions + first, count, sums + m * count);
}

Status eval_conv(const EvalContext& context) {
  MRVLC_ASSIGN(ConvParams p, conv_params(context.infer_view()));
  WindowGather gather(p);
  int64_t rows = p.out_channels / p.group, channels = p.in_channels / p.group;
  int64_t weights = rows * channels * gather.taps(), planes = channels * gather.plane();
  std::vector<double> x(static_cast<size_t>(planes)), w(static_cast<size_t>(weights)), columns;
  for (int64_t g = 0; g < p.group; ++g) {
    load_doubles(context.in(1), g * weights, weights, w.data());
    for (int64_t n = 0; n < p.batch; ++n) {
      load_doubles(context.in(0), (n * p.group + g) * planes, planes, x.data());
      for (int64_t first = 0; first < gather.positions(); first += kColumns) {
        int64_t count = std::min(kColumns, gather.positions() - first);
        conv_columns(context, p, gather, x.data(), w.data(), n * p.out_channels + g * rows, first, count,
                     columns);
      }
    }
  }
  return {};
}

}  // namespace

const OpDef& def_Conv() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Conv";
    d.attrs = {with_string("auto_pad", "NOTSET"),
               optional("dilations", ir::AttrKind::Ints),
               with_int("group", 1),
               optional("kernel_shape", ir::AttrKind::Ints),
               optional("pads", ir::AttrKind::Ints),
               optional("strides", ir::AttrKind::Ints)};
    d.min_inputs = 2;
    d.max_inputs = 3;
    d.types = kFloats;
    d.infer = infer_conv;
    d.eval = eval_conv;
    d.emit_kernel = "conv";
    d.accel = "conv";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops

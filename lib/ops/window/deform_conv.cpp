// DeformConv (ONNX DeformConv-22), of images: a convolution whose every tap reads, interpolated, at an
// offset.
#include "window/deform_conv.h"

#include <algorithm>
#include <cmath>

#include "common/dims.h"
#include "macs.h"
#include "window/window_attrs.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Attributes and weights.
Status read_kernel(const InferContext& context, DeformParams& p) {
  const Shape& w = context.type(1).shape;
  MRVLC_ASSIGN(auto strides, extents(context, "strides", 2, 1, 1));
  MRVLC_ASSIGN(auto dilations, extents(context, "dilations", 2, 1, 1));
  MRVLC_ASSIGN(auto pads, extents(context, "pads", 4, 0, 0));
  const auto& kernel = context.ints_attr("kernel_shape");
  if (!kernel.empty() && kernel != std::vector<int64_t>(w.begin() + 2, w.end()))
    return bad_attr("kernel_shape", "differs from the weights");
  for (size_t d = 0; d < 2; ++d) {
    p.kernel[d] = w[d + 2];
    p.stride[d] = strides[d], p.dilation[d] = dilations[d], p.pad[d] = pads[d];
    if (p.kernel[d] < 1 || p.kernel[d] > kMaxExtent) return bad_operands("the kernel is empty or too large");
    auto span = checked_mul(p.kernel[d] - 1, p.dilation[d]);
    if (!span || *span > kMaxExtent) return bad_attr("dilations", "make the window too large");
    p.extra[d] = pads[d] + pads[d + 2] - *span - 1;
  }
  p.taps = p.kernel[0] * p.kernel[1];
  auto points = checked_mul(p.offset_group, p.taps), column = checked_mul(p.channels, p.taps);
  if (!points || *points > kMaxExtent) return bad_attr("offset_group", "is too large");
  if (!column || *column > kMaxElements) return bad_operands("the kernel is too large");
  return {};
}

Status check_groups(const InferContext& context, const DeformParams& p) {
  const Shape& w = context.type(1).shape;
  if (p.group < 1 || p.channels % p.group != 0 || p.filters % p.group != 0 || w[1] != p.channels / p.group) {
    return bad_attr(
        "group", fmt::format("is {} for {} channels and weights of {}", p.group, p.channels, to_string(w)));
  }
  if (p.offset_group < 1 || p.channels % p.offset_group != 0)
    return bad_attr("offset_group", fmt::format("is {} for {} channels", p.offset_group, p.channels));
  return {};
}

Status read_sizes(const InferContext& context, DeformParams& p) {
  for (size_t d = 0; d < 2; ++d) {
    p.input[d] = context.type(0).shape[d + 2];
    MRVLC_TRY(check_dim(p.input[d], "a spatial size"));
    int64_t room = p.input[d] + p.extra[d];
    if (room < 0 || p.input[d] == 0) return bad_operands("the window is larger than the padded input");
    p.output[d] = room / p.stride[d] + 1;
  }
  return {};
}

Status check_operands(const InferContext& context, const DeformParams& p) {
  auto expect = [&](size_t i, const Shape& shape) -> Status {
    if (!context.has(i) || context.type(i).shape == shape) return {};
    return bad_operands(
        fmt::format("input {} is {}, expected {}", i, to_string(context.type(i).shape), to_string(shape)));
  };
  int64_t points = p.offset_group * p.taps;
  MRVLC_TRY(expect(2, {p.batch, 2 * points, p.output[0], p.output[1]}));
  MRVLC_TRY(expect(3, {p.filters}));
  return expect(4, {p.batch, points, p.output[0], p.output[1]});
}

}  // namespace

Result<DeformParams> deform_form(const InferContext& context) {
  for (size_t i = 0; i < context.num_inputs(); ++i) {
    if (!context.has(i)) continue;
    MRVLC_TRY(check_same_elem(context, i));
    MRVLC_TRY(check_rank(context, i, i == 3 ? 1 : 4, i == 3 ? 1 : 4));
  }
  DeformParams p;
  p.batch = context.type(0).shape[0];
  p.channels = context.type(0).shape[1];
  p.filters = context.type(1).shape[0];
  p.group = context.int_attr("group");
  p.offset_group = context.int_attr("offset_group");
  MRVLC_TRY(check_groups(context, p));
  MRVLC_TRY(read_kernel(context, p));
  return p;
}

Result<DeformParams> deform_params(const InferContext& context) {
  MRVLC_ASSIGN(DeformParams p, deform_form(context));
  MRVLC_TRY(read_sizes(context, p));
  MRVLC_TRY(check_operands(context, p));
  return p;
}

namespace {

// Channels and weights are static; examples and sizes need not be.
Result<std::vector<TensorType>> infer_deform_conv_dynamic(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  if (context.type(1).dynamic != 0 || context.type(0).is_dynamic(1))
    return bad_operands("the channels and the weights must have shapes known at compile time");
  MRVLC_ASSIGN(DeformParams p, deform_form(context));
  Dims x = dims_of(context.type(0)), offset = dims_of(context.type(2));
  Dims y = {equal_dim(x[0], offset[0]), {p.filters, false}, offset[2], offset[3]};
  return std::vector<TensorType>{type_of(context.type(0).elem, y)};
}

Result<std::vector<TensorType>> infer_deform_conv(const InferContext& context) {
  MRVLC_ASSIGN(DeformParams p, deform_params(context));
  return one_type(context.type(0).elem, {p.batch, p.filters, p.output[0], p.output[1]});
}

// Linear interpolation, zero outside.
double sample(const Tensor& x, int64_t base, const int64_t* size, double r, double c) {
  if (!(r > -1 && c > -1 && r < static_cast<double>(size[0]) && c < static_cast<double>(size[1]))) return 0;
  double fr = std::floor(r), fc = std::floor(c), sum = 0;
  for (int k = 0; k < 4; ++k) {
    auto row = static_cast<int64_t>(fr) + k / 2, col = static_cast<int64_t>(fc) + k % 2;
    double w = (k / 2 != 0 ? r - fr : 1 - (r - fr)) * (k % 2 != 0 ? c - fc : 1 - (c - fc));
    if (row < 0 || col < 0 || row >= size[0] || col >= size[1] || w == 0) continue;
    sum += w * x.as_double(base + row * size[1] + col);
  }
  return sum;
}

// What the taps of all channels read for output (oy, ox).
void read_column(const EvalContext& context, const DeformParams& p, int64_t n, int64_t oy, int64_t ox,
                 std::vector<double>& column) {
  const Tensor &x = context.in(0), &offset = context.in(2);
  int64_t per_offset = p.channels / p.offset_group, plane = p.output[0] * p.output[1],
          at_out = oy * p.output[1] + ox;
  for (int64_t i = 0; i < p.channels * p.taps; ++i) {
    int64_t c = i / p.taps, tap = i % p.taps;
    int64_t point = (n * p.offset_group + c / per_offset) * p.taps + tap;
    double r = static_cast<double>(oy * p.stride[0] - p.pad[0] + tap / p.kernel[1] * p.dilation[0]) +
               offset.as_double(point * 2 * plane + at_out);
    double s = static_cast<double>(ox * p.stride[1] - p.pad[1] + tap % p.kernel[1] * p.dilation[1]) +
               offset.as_double((point * 2 + 1) * plane + at_out);
    double v = sample(x, (n * p.channels + c) * p.input[0] * p.input[1], p.input, r, s);
    column[at(i)] = context.has(4) ? v * context.in(4).as_double(point * plane + at_out) : v;
  }
}

Status eval_deform_conv(const EvalContext& context) {
  MRVLC_ASSIGN(DeformParams p, deform_params(context.infer_view()));
  const Tensor& w = context.in(1);
  int64_t plane = p.output[0] * p.output[1], per_group = p.channels / p.group * p.taps;
  if (context.out().elements() == 0) return {};
  std::vector<double> column(at(p.channels * p.taps));
  for (int64_t i = 0; i < p.batch * plane; ++i) {
    int64_t n = i / plane, place = i % plane;
    read_column(context, p, n, place / p.output[1], place % p.output[1], column);
    for (int64_t f = 0; f < p.filters; ++f) {
      const double* from = column.data() + f / (p.filters / p.group) * per_group;
      double sum = context.has(3) ? context.in(3).as_double(f) : 0;
      for (int64_t k = 0; k < per_group; ++k) sum += from[k] * w.as_double(f * per_group + k);
      context.out().set_double((n * p.filters + f) * plane + place, sum);
    }
  }
  return {};
}

}  // namespace

const OpDef& def_DeformConv() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "DeformConv";
    d.macs = conv_macs;
    d.since_min = 19;
    d.attrs = {optional("dilations", ir::AttrKind::Ints),    with_int("group", 1),
               optional("kernel_shape", ir::AttrKind::Ints), with_int("offset_group", 1),
               optional("pads", ir::AttrKind::Ints),         optional("strides", ir::AttrKind::Ints)};
    d.min_inputs = 3;
    d.max_inputs = 5;
    d.types = kFloats;
    d.infer = infer_deform_conv;
    d.eval = eval_deform_conv;
    d.infer_dynamic = infer_deform_conv_dynamic;
    d.emit = d.emit_dynamic = emit_deform_conv;
    d.declined = "the accelerator has no reads at computed addresses";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops

// DeformConv (ONNX DeformConv-22), of images: a convolution whose every tap reads, interpolated, at an
// offset.
#include <algorithm>
#include <cmath>

#include "common/dims.h"
#include "macs.h"
#include "window/window_attrs.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

struct DeformParams {
  int64_t batch = 0, channels = 0, filters = 0, group = 1, offset_group = 1, taps = 1;
  int64_t input[2] = {}, kernel[2] = {}, stride[2] = {}, dilation[2] = {}, pad[2] = {}, output[2] = {};
  int64_t extra[2] = {};  // padding less the window's extent
};

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

// All but the sizes of images.
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

// -- C

struct DeformTexts {
  std::string batch, input[2], output[2];
};

// Leaves at[] and v[] of the four elements tap k of offset group g reads; at is -1 outside.
void emit_point(EmitContext& context, const DeformParams& p, const DeformTexts& t, ElementType elem) {
  std::string_view type = c_type(elem), f = elem == E::F32 ? "f" : "";
  context.line(fmt::format("const ptrdiff_t point = (n * {} + g) * {} + k;", p.offset_group, p.taps));
  std::string tap[2] = {fmt::format("k / {}", p.kernel[1]), fmt::format("k % {}", p.kernel[1])};
  for (size_t d = 0; d < 2; ++d) {
    context.line(fmt::format(
        "const {0} p{1} = ({0})(o{1} * {2} - {3} + {4} * {5}) + {6}[(point * 2 + {1}) * plane + o];", type, d,
        p.stride[d], p.pad[d], tap[d], p.dilation[d], context.in(2)));
  }
  context.line(fmt::format("const int hit = p0 > -1 && p0 < ({0}){1} && p1 > -1 && p1 < ({0}){2};", type,
                           t.input[0], t.input[1]));
  for (size_t d = 0; d < 2; ++d) {
    context.line(fmt::format("const ptrdiff_t i{0} = hit ? (ptrdiff_t)floor{1}(p{0}) : 0;", d, f));
    context.line(fmt::format("const {0} s{1} = hit ? p{1} - ({0})i{1} : 0;", type, d));
  }
  context.line(
      fmt::format("{} v[4] = {{(1 - s0) * (1 - s1), (1 - s0) * s1, s0 * (1 - s1), s0 * s1}};", type));
  context.line("ptrdiff_t at[4];");
  context.open("for (ptrdiff_t j = 0; j < 4; ++j)");
  context.line("const ptrdiff_t r = i0 + j / 2, c = i1 + j % 2;");
  context.line(fmt::format("at[j] = hit && r >= 0 && c >= 0 && r < {} && c < {} ? r * {} + c : -1;",
                           t.input[0], t.input[1], t.input[1]));
  if (context.has(4)) context.line(fmt::format("v[j] *= {}[point * plane + o];", context.in(4)));
  context.close();
}

void emit_column(EmitContext& context, const DeformParams& p, const DeformTexts& t, ElementType elem) {
  int64_t per_offset = p.channels / p.offset_group;
  context.loop("g", p.offset_group);
  context.loop("k", p.taps);
  emit_point(context, p, t, elem);
  context.open(fmt::format("for (ptrdiff_t c = g * {0}; c < (g + 1) * {0}; ++c)", per_offset));
  context.line(fmt::format("const {}* x = {} + (n * {} + c) * {} * {};", c_type(elem), context.in(0),
                           p.channels, t.input[0], t.input[1]));
  context.line(fmt::format("{} sum = 0;", c_type(elem)));
  context.open("for (ptrdiff_t j = 0; j < 4; ++j)");
  context.line("if (at[j] >= 0) sum += v[j] * x[at[j]];");
  context.close();
  context.line(fmt::format("column[c * {} + k] = sum;", p.taps));
  context.close();
  context.close();
  context.close();
}

Status emit_filters(EmitContext& context, const DeformParams& p, const DeformTexts& t) {
  MRVLC_TRY(require_widened(context));
  std::string_view type = c_type(context.in_type(0).elem);
  int64_t per_group = p.channels / p.group * p.taps;
  int64_t room = std::max<int64_t>(1, p.channels * p.taps) * byte_size(context.in_type(0).elem);
  context.line(fmt::format("{0}* column = ({0}*){1};", type, context.scratch(room)));
  context.line(fmt::format("const ptrdiff_t plane = {} * {};", t.output[0], t.output[1]));
  context.open(fmt::format("for (ptrdiff_t n = 0; n < {}; ++n)", t.batch));
  context.open("for (ptrdiff_t o = 0; o < plane; ++o)");
  context.line(fmt::format("const ptrdiff_t o0 = o / {0}, o1 = o % {0};", t.output[1]));
  emit_column(context, p, t, context.in_type(0).elem);
  context.loop("f", p.filters);
  context.line(fmt::format("const {}* from = column + f / {} * {};", type, p.filters / p.group, per_group));
  context.line(fmt::format("{} sum = {};", type, context.has(3) ? context.in(3) + "[f]" : "0"));
  context.line(fmt::format("for (ptrdiff_t k = 0; k < {0}; ++k) sum += from[k] * {1}[f * {0} + k];",
                           per_group, context.in(1)));
  context.line(fmt::format("{}[(n * {} + f) * plane + o] = sum;", context.out(0), p.filters));
  context.close();
  context.close();
  context.close();
  return {};
}

DeformTexts known_sizes(const DeformParams& p) {
  auto text = [](int64_t v) { return fmt::format("{}", v); };
  return {text(p.batch), {text(p.input[0]), text(p.input[1])}, {text(p.output[0]), text(p.output[1])}};
}

// Declares and checks what deform_params reads of static shapes.
DeformTexts read_sizes(EmitContext& context, const DeformParams& p) {
  Texts x = in_sizes(context, 0);
  DeformTexts t{x[0], {x[2], x[3]}, {"size0", "size1"}};
  for (size_t d = 0; d < 2; ++d) {
    context.line(fmt::format("const int64_t room{} = {} + {};", d, x[d + 2], signed_text(p.extra[d])));
    context.fail_if(fmt::format("room{} < 0 || {} == 0", d, x[d + 2]));
    context.line(fmt::format("const ptrdiff_t size{0} = (ptrdiff_t)(room{0} / {1} + 1);", d, p.stride[d]));
  }
  int64_t points = p.offset_group * p.taps;
  for (size_t i : {size_t{2}, size_t{4}}) {
    if (!context.has(i)) continue;
    Texts expected = {context.in_dim(0, 0), fmt::format("{}", i == 2 ? 2 * points : points), "size0",
                      "size1"};
    for (int64_t d = 0; d < 4; ++d) require_equal(context, context.in_dim(i, d), expected[at(d)]);
  }
  if (context.has(3)) require_equal(context, context.in_dim(3, 0), fmt::format("{}", p.filters));
  context.set_dims(0, {context.in_dim(0, 0), fmt::format("{}", p.filters), "size0", "size1"});
  return t;
}

Status emit_deform_conv(EmitContext& context) {
  const bool dynamic = is_dynamic(context);
  const InferContext view = emit_view(context);
  MRVLC_ASSIGN(DeformParams p, dynamic ? deform_form(view) : deform_params(view));
  if (!dynamic && context.out_type(0).elements() == 0) return {};
  return emit_filters(context, p, dynamic ? read_sizes(context, p) : known_sizes(p));
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

// DeformConv (ONNX DeformConv-22), of images: a convolution whose every tap reads, interpolated, at an
// offset.
#include <cmath>

#include "emit_util.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

struct DeformParams {
  int64_t batch = 0, channels = 0, filters = 0, group = 1, offset_group = 1, taps = 1;
  int64_t input[2] = {}, kernel[2] = {}, stride[2] = {}, dilation[2] = {}, pad[2] = {}, output[2] = {};
};

Result<std::vector<int64_t>> entries(const InferContext& context, std::string_view attr, size_t count,
                                     int64_t low, int64_t fallback) {
  const std::vector<int64_t>& given = context.ints_attr(attr);
  if (given.empty()) return std::vector<int64_t>(count, fallback);
  if (given.size() != count)
    return bad_attr(attr, fmt::format("has {} entries, expected {}", given.size(), count));
  for (int64_t v : given) {
    if (v < low || v > kMaxExtent) return bad_attr(attr, fmt::format("has the entry {}", v));
  }
  return given;
}

Status read_window(const InferContext& context, DeformParams& p) {
  const Shape &x = context.type(0).shape, &w = context.type(1).shape;
  MRVLC_ASSIGN(auto strides, entries(context, "strides", 2, 1, 1));
  MRVLC_ASSIGN(auto dilations, entries(context, "dilations", 2, 1, 1));
  MRVLC_ASSIGN(auto pads, entries(context, "pads", 4, 0, 0));
  const auto& kernel = context.ints_attr("kernel_shape");
  if (!kernel.empty() && kernel != std::vector<int64_t>(w.begin() + 2, w.end()))
    return bad_attr("kernel_shape", "differs from the weights");
  for (size_t d = 0; d < 2; ++d) {
    p.input[d] = x[d + 2], p.kernel[d] = w[d + 2];
    p.stride[d] = strides[d], p.dilation[d] = dilations[d], p.pad[d] = pads[d];
    if (p.kernel[d] < 1 || p.kernel[d] > kMaxExtent) return bad_operands("the kernel is empty or too large");
    auto span = checked_mul(p.kernel[d] - 1, p.dilation[d]);
    if (!span || *span > kMaxExtent) return bad_attr("dilations", "make the window too large");
    MRVLC_TRY(check_dim(p.input[d], "a spatial size"));
    int64_t room = p.input[d] + pads[d] + pads[d + 2] - *span - 1;
    if (room < 0 || p.input[d] == 0) return bad_operands("the window is larger than the padded input");
    p.output[d] = room / p.stride[d] + 1;
  }
  p.taps = p.kernel[0] * p.kernel[1];
  return {};
}

Status check_operands(const InferContext& context, const DeformParams& p) {
  const Shape& w = context.type(1).shape;
  if (p.group < 1 || p.channels % p.group != 0 || p.filters % p.group != 0 || w[1] != p.channels / p.group)
    return bad_attr(
        "group", fmt::format("is {} for {} channels and weights of {}", p.group, p.channels, to_string(w)));
  if (p.offset_group < 1 || p.channels % p.offset_group != 0)
    return bad_attr("offset_group", fmt::format("is {} for {} channels", p.offset_group, p.channels));
  auto expect = [&](size_t i, const Shape& shape) -> Status {
    if (!context.has(i)) return {};
    MRVLC_TRY(check_same_elem(context, i));
    if (context.type(i).shape == shape) return {};
    return bad_operands(
        fmt::format("input {} is {}, expected {}", i, to_string(context.type(i).shape), to_string(shape)));
  };
  auto points = checked_mul(p.offset_group, p.taps);
  if (!points || *points > kMaxExtent) return bad_attr("offset_group", "is too large");
  MRVLC_TRY(expect(2, {p.batch, 2 * *points, p.output[0], p.output[1]}));
  MRVLC_TRY(expect(3, {p.filters}));
  return expect(4, {p.batch, *points, p.output[0], p.output[1]});
}

Result<DeformParams> deform_params(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 4, 4));
  MRVLC_TRY(check_rank(context, 1, 4, 4));
  MRVLC_TRY(check_same_elem(context, 1));
  DeformParams p;
  p.batch = context.type(0).shape[0];
  p.channels = context.type(0).shape[1];
  p.filters = context.type(1).shape[0];
  p.group = context.int_attr("group");
  p.offset_group = context.int_attr("offset_group");
  MRVLC_TRY(read_window(context, p));
  MRVLC_TRY(check_operands(context, p));
  return p;
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

// Leaves at[] and v[] of the four elements tap k of offset group g reads; v is 0 outside.
void emit_point(EmitContext& context, const DeformParams& p, ElementType elem) {
  std::string_view type = c_type(elem), f = elem == E::F32 ? "f" : "";
  int64_t plane = p.output[0] * p.output[1];
  context.line(fmt::format("const ptrdiff_t point = (n * {} + g) * {} + k;", p.offset_group, p.taps));
  std::string tap[2] = {fmt::format("k / {}", p.kernel[1]), fmt::format("k % {}", p.kernel[1])};
  for (size_t d = 0; d < 2; ++d) {
    context.line(fmt::format(
        "const {0} p{1} = ({0})(o{1} * {2} - {3} + {4} * {5}) + {6}[(point * 2 + {1}) * {7} + o0 * {8} + "
        "o1];",
        type, d, p.stride[d], p.pad[d], tap[d], p.dilation[d], context.in(2), plane, p.output[1]));
  }
  context.line(fmt::format("const int in = p0 > -1 && p0 < {} && p1 > -1 && p1 < {};",
                           c_literal(p.input[0], elem), c_literal(p.input[1], elem)));
  for (size_t d = 0; d < 2; ++d) {
    context.line(fmt::format("const ptrdiff_t i{0} = in ? (ptrdiff_t)floor{1}(p{0}) : 0;", d, f));
    context.line(fmt::format("const {0} s{1} = in ? p{1} - ({0})i{1} : 0;", type, d));
  }
  context.line(
      fmt::format("{} v[4] = {{(1 - s0) * (1 - s1), (1 - s0) * s1, s0 * (1 - s1), s0 * s1}};", type));
  context.line("ptrdiff_t at[4];");
  context.open("for (ptrdiff_t j = 0; j < 4; ++j)");
  context.line("const ptrdiff_t r = i0 + j / 2, c = i1 + j % 2;");
  context.line(
      fmt::format("const int hit = in && r >= 0 && c >= 0 && r < {} && c < {};", p.input[0], p.input[1]));
  context.line(fmt::format("at[j] = hit ? r * {} + c : -1;", p.input[1]));
  if (context.has(4)) {
    context.line(fmt::format("v[j] *= {}[point * {} + o0 * {} + o1];", context.in(4), plane, p.output[1]));
  }
  context.close();
}

void emit_column(EmitContext& context, const DeformParams& p, ElementType elem) {
  int64_t per_offset = p.channels / p.offset_group;
  context.loop("g", p.offset_group);
  context.loop("k", p.taps);
  emit_point(context, p, elem);
  context.open(fmt::format("for (ptrdiff_t c = g * {0}; c < (g + 1) * {0}; ++c)", per_offset));
  context.line(fmt::format("const {}* x = {} + (n * {} + c) * {};", c_type(elem), context.in(0), p.channels,
                           p.input[0] * p.input[1]));
  context.line(fmt::format("{} sum = 0;", c_type(elem)));
  context.line("for (ptrdiff_t j = 0; j < 4; ++j) {");
  context.line("  if (at[j] >= 0) sum += v[j] * x[at[j]];");
  context.line("}");
  context.line(fmt::format("column[c * {} + k] = sum;", p.taps));
  context.close();
  context.close();
  context.close();
}

Status emit_deform_conv(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(DeformParams p, deform_params(emit_view(context)));
  ElementType elem = context.in_type(0).elem;
  if (context.out_type(0).elements() == 0) return {};
  int64_t per_group = p.channels / p.group * p.taps;
  context.line(fmt::format("{0}* column = ({0}*){1};", c_type(elem),
                           context.scratch(std::max<int64_t>(1, p.channels * p.taps) * byte_size(elem))));
  context.loop("n", p.batch);
  context.loop("o0", p.output[0]);
  context.loop("o1", p.output[1]);
  emit_column(context, p, elem);
  context.loop("f", p.filters);
  context.line(
      fmt::format("const {}* from = column + f / {} * {};", c_type(elem), p.filters / p.group, per_group));
  context.line(fmt::format("{} sum = {};", c_type(elem), context.has(3) ? context.in(3) + "[f]" : "0"));
  context.line(fmt::format("for (ptrdiff_t k = 0; k < {0}; ++k) sum += from[k] * {1}[f * {0} + k];",
                           per_group, context.in(1)));
  context.line(fmt::format("{}[((n * {} + f) * {} + o0) * {} + o1] = sum;", context.out(0), p.filters,
                           p.output[0], p.output[1]));
  for (int i = 0; i < 4; ++i) context.close();
  return {};
}

}  // namespace

const OpDef& def_DeformConv() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "DeformConv";
    d.since_min = 19;
    d.attrs = {optional("dilations", ir::AttrKind::Ints),    with_int("group", 1),
               optional("kernel_shape", ir::AttrKind::Ints), with_int("offset_group", 1),
               optional("pads", ir::AttrKind::Ints),         optional("strides", ir::AttrKind::Ints)};
    d.min_inputs = 3;
    d.max_inputs = 5;
    d.types = kFloats;
    d.infer = infer_deform_conv;
    d.eval = eval_deform_conv;
    d.emit = emit_deform_conv;
    d.declined = "the accelerator has no reads at computed addresses";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops

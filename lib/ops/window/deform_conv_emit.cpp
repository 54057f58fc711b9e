// C of DeformConv: sixteen results at a time, what their taps read first, then the products of all filters.
#include <algorithm>

#include "common/dims.h"
#include "window/deform_conv.h"

namespace mrvlc::ops {
namespace {

struct DeformTexts {
  std::string batch, input[2], output[2];
};

// Results that are computed together: neighbours in a plane.
constexpr int64_t kTogether = 16;

// `padded`: the channels of an example in zeros, one element wide, so that what is read beside an element
// needs no conditions. Bounds of sizes may allow more elements than the type has.
void declare_padded(EmitContext& context, const DeformParams& p, const DeformTexts& t) {
  const TensorType& x = context.in_type(0);
  const std::string_view type = c_type(x.elem);
  const int64_t plane = x.elements() / std::max<int64_t>(1, p.channels) + 2 * (x.shape[2] + x.shape[3]) + 4;
  const int64_t room = std::max<int64_t>(1, p.channels * plane) * byte_size(x.elem);
  context.line(
      fmt::format("const ptrdiff_t pitch = {} + 2, area = ({} + 2) * pitch;", t.input[1], t.input[0]));
  context.line(fmt::format("{0}* padded = ({0}*){1};", type, context.scratch(room)));
  context.line(fmt::format("memset(padded, 0, (size_t)({} * area) * sizeof *padded);", p.channels));
}

void emit_padded(EmitContext& context, const DeformParams& p, const DeformTexts& t) {
  context.loop("c", p.channels);
  context.open(fmt::format("for (ptrdiff_t r = 0; r < {}; ++r)", t.input[0]));
  context.line(
      fmt::format("memcpy(padded + c * area + (r + 1) * pitch + 1, {} + ((n * {} + c) * {} + r) * {}, "
                  "(size_t){} * sizeof *padded);",
                  context.in(0), p.channels, t.input[0], t.input[1], t.input[1]));
  context.close();
  context.close();
}

// Leaves where tap k of offset group g reads for each of the results: at[], the parts of the four elements
// there, and the mask's factor.
void emit_points(EmitContext& context, const DeformParams& p, const DeformTexts& t, std::string_view type) {
  context.line(fmt::format("const ptrdiff_t point = (n * {} + g) * {} + k;", p.offset_group, p.taps));
  context.loop("j", kTogether);
  context.line("const ptrdiff_t o = first + (j < count ? j : count - 1);");
  context.line(fmt::format("const ptrdiff_t o0 = o / {0}, o1 = o % {0};", t.output[1]));
  std::string tap[2] = {fmt::format("k / {}", p.kernel[1]), fmt::format("k % {}", p.kernel[1])};
  for (size_t d = 0; d < 2; ++d) {
    context.line(fmt::format(
        "const {0} p{1} = ({0})(o{1} * {2} - {3} + {4} * {5}) + {6}[(point * 2 + {1}) * plane + o];", type, d,
        p.stride[d], p.pad[d], tap[d], p.dilation[d], context.in(2)));
  }
  context.line(fmt::format("const int hit = p0 > -1 && p0 < ({0}){1} && p1 > -1 && p1 < ({0}){2};", type,
                           t.input[0], t.input[1]));
  for (size_t d = 0; d < 2; ++d) {
    context.line(fmt::format("const ptrdiff_t i{0} = hit ? (ptrdiff_t)p{0} - (p{0} < 0) : -1;", d));
    context.line(fmt::format("const {0} within{1} = hit ? p{1} - ({0})i{1} : 0;", type, d));
  }
  context.line("at[j] = (i0 + 1) * pitch + i1 + 1;");
  context.line(
      "part0[j] = (1 - within0) * (1 - within1), part1[j] = (1 - within0) * within1, part2[j] = within0 * (1 "
      "- within1), part3[j] = within0 * "
      "within1;");
  // Nothing but zeros, from the end of the first row to the begin of the third.
  context.line("if (!hit) at[j] = pitch - 1, part0[j] = 0;");
  if (context.has(4)) context.line(fmt::format("mask[j] = {}[point * plane + o];", context.in(4)));
  context.close();
}

// What the taps of all channels read for the results: column[channel][tap][result].
void emit_column(EmitContext& context, const DeformParams& p, const DeformTexts& t, std::string_view type) {
  const int64_t per_offset = p.channels / p.offset_group;
  context.loop("g", p.offset_group);
  context.loop("k", p.taps);
  for (const char* name : {"part0", "part1", "part2", "part3", "mask"})
    if (name[0] == 'p' || context.has(4)) context.line(fmt::format("{} {}[{}];", type, name, kTogether));
  context.line(fmt::format("ptrdiff_t at[{}];", kTogether));
  emit_points(context, p, t, type);
  context.open(fmt::format("for (ptrdiff_t c = g * {0}; c < (g + 1) * {0}; ++c)", per_offset));
  context.line(fmt::format("{}* to = column + (c * {} + k) * {};", type, p.taps, kTogether));
  context.loop("j", kTogether);
  context.line(fmt::format("const {}* x = padded + c * area + at[j];", type));
  const std::string sum = "part0[j] * x[0] + part1[j] * x[1] + part2[j] * x[pitch] + part3[j] * x[pitch + 1]";
  context.line(fmt::format("to[j] = {};", context.has(4) ? fmt::format("({}) * mask[j]", sum) : sum));
  for (int i = 0; i < 4; ++i) context.close();
}

// Four filters at a time, whose sums stay in registers.
void emit_filters(EmitContext& context, const DeformParams& p, std::string_view type) {
  const int64_t per_group = p.channels / p.group * p.taps, filters = p.filters / p.group;
  context.loop("g", p.group);
  context.open(fmt::format("for (ptrdiff_t f = 0; f < {}; f += 4)", filters));
  context.line(fmt::format("const ptrdiff_t rows = {0} - f < 4 ? {0} - f : 4, row = g * {0} + f;", filters));
  context.line(fmt::format("const {}* filter0 = {} + row * {};", type, context.in(1), per_group));
  for (int r = 1; r < 4; ++r)
    context.line(fmt::format("const {0}* filter{1} = rows > {1} ? filter{2} + {3} : filter{2};", type, r,
                             r - 1, per_group));
  context.line(fmt::format("{} sum[4][{}] = {{{{0}}}};", type, kTogether));
  if (context.has(3)) {
    context.open("for (ptrdiff_t r = 0; r < rows; ++r)");
    context.line(
        fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) sum[r][j] = {}[row + r];", kTogether, context.in(3)));
    context.close();
  }
  context.loop("k", per_group);
  context.line(fmt::format("const {}* from = column + (g * {} + k) * {};", type, per_group, kTogether));
  context.loop("j", kTogether);
  for (int r = 0; r < 4; ++r) context.line(fmt::format("sum[{0}][j] += from[j] * filter{0}[k];", r));
  context.close();
  context.close();
  context.open("for (ptrdiff_t r = 0; r < rows; ++r)");
  context.line(
      fmt::format("{}* y = {} + (n * {} + row + r) * plane + first;", type, context.out(0), p.filters));
  context.line("for (ptrdiff_t j = 0; j < count; ++j) y[j] = sum[r][j];");
  for (int i = 0; i < 3; ++i) context.close();
}

Status emit_images(EmitContext& context, const DeformParams& p, const DeformTexts& t) {
  MRVLC_TRY(require_widened(context));
  const ElementType elem = context.in_type(0).elem;
  const std::string_view type = c_type(elem);
  const int64_t room = std::max<int64_t>(1, p.channels * p.taps * kTogether) * byte_size(elem);
  context.line(fmt::format("{0}* column = ({0}*){1};", type, context.scratch(room)));
  context.line(fmt::format("const ptrdiff_t plane = {} * {};", t.output[0], t.output[1]));
  declare_padded(context, p, t);
  context.open(fmt::format("for (ptrdiff_t n = 0; n < {}; ++n)", t.batch));
  emit_padded(context, p, t);
  context.open(fmt::format("for (ptrdiff_t first = 0; first < plane; first += {})", kTogether));
  context.line(fmt::format("const ptrdiff_t count = plane - first < {0} ? plane - first : {0};", kTogether));
  emit_column(context, p, t, type);
  emit_filters(context, p, type);
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

}  // namespace

Status emit_deform_conv(EmitContext& context) {
  const bool dynamic = is_dynamic(context);
  const InferContext view = emit_view(context);
  MRVLC_ASSIGN(DeformParams p, dynamic ? deform_form(view) : deform_params(view));
  if (!dynamic && context.out_type(0).elements() == 0) return {};
  return emit_images(context, p, dynamic ? read_sizes(context, p) : known_sizes(p));
}

}  // namespace mrvlc::ops

// C of pools whose windows are large, and the loops that they share with others.
#include <algorithm>

#include "common/emit_util.h"
#include "window/pool_code.h"

namespace mrvlc::ops {

std::string nested_index(std::string_view var, const Shape& sizes, size_t count) {
  std::string text;
  for (size_t d = 0; d < count; ++d) {
    text = d == 0 ? fmt::format("{}{}", var, d) : fmt::format("({}) * {} + {}{}", text, sizes[d], var, d);
  }
  return text.empty() ? "0" : text;
}

void open_outer_taps(PoolCode& code) {
  const PoolParams& p = code.p;
  for (size_t d = 0; d < code.last; ++d) {
    code.context.loop(fmt::format("k{}", d), p.kernel[d]);
    code.context.line(fmt::format("const ptrdiff_t i{0} = o{0} * {1} + k{0} * {2} - {3};", d, p.strides[d],
                                  p.dilations[d], p.pads_begin[d]));
    code.context.line(fmt::format("if (i{0} < 0 || i{0} >= {1}) continue;", d, p.input[d]));
  }
}

void close_blocks(EmitContext& context, size_t count) {
  for (size_t i = 0; i < count; ++i) context.close();
}

namespace {

// Fewer taps are not worth a row of their own, and that must fit on the stack.
constexpr int64_t kFewTaps = 64, kMostRowBytes = 8192;

// The innermost dimension with what padding its windows see.
int64_t padded_row(const PoolCode& code) {
  const PoolParams& p = code.p;
  const size_t d = code.last;
  return (p.output[d] - 1) * p.strides[d] + (p.kernel[d] - 1) * p.dilations[d] + 1;
}

void merge_into(PoolCode& code, const std::string& into, const std::string& value) {
  if (!code.p.is_max) {
    code.context.line(fmt::format("{} += {};", into, value));
    return;
  }
  code.context.line(fmt::format("const {} v = {};", code.type, value));
  code.context.line(larger_text(code.context.in_type(0).elem, into, "v"));
}

}  // namespace

bool suits_rows(const PoolCode& code) {
  const PoolParams& p = code.p;
  const int64_t taps = element_count(p.kernel), along = p.kernel[code.last], outer = taps / along;
  return !code.context.wants_little_text() && code.norm == 0 && taps > kFewTaps &&
         p.strides[code.last] < taps && 2 * (outer * p.strides[code.last] + along) < taps &&
         padded_row(code) * byte_size(code.context.in_type(0).elem) <= kMostRowBytes;
}

void reduce_rows(PoolCode& code, const std::string& init) {
  const PoolParams& p = code.p;
  EmitContext& context = code.context;
  const size_t d = code.last;
  const int64_t width = padded_row(code), pad = p.pads_begin[d];
  context.line(fmt::format("{} wide[{}];", code.type, width));
  context.line(fmt::format("for (ptrdiff_t x = 0; x < {}; ++x) wide[x] = {};", width, init));
  open_outer_taps(code);
  context.line(fmt::format("const {}* src = plane_in + ({}) * {};", code.type, nested_index("i", p.input, d),
                           p.input[d]));
  context.open(fmt::format("for (ptrdiff_t x = 0; x < {}; ++x)", std::min(p.input[d], width - pad)));
  merge_into(code, fmt::format("wide[x + {}]", pad), "src[x]");
  context.close();
  close_blocks(context, d);
  context.loop("kx", p.kernel[d]);
  context.loop("ox", p.output[d]);
  merge_into(code, "row[ox]", fmt::format("wide[ox * {} + kx * {}]", p.strides[d], p.dilations[d]));
  close_blocks(context, 2);
}

}  // namespace mrvlc::ops

// C of strided copies whose sizes may be known at run time only.
#include "common/text_copy.h"

#include "common/strided_copy.h"

namespace mrvlc::ops {
namespace {

std::optional<StridedCopy> known_copy(const TextCopy& c) {
  const auto size = numbers_of(c.size), in = numbers_of(c.in), out = numbers_of(c.out),
             offsets = numbers_of({c.in_offset, c.out_offset});
  if (!size || !in || !out || !offsets) return std::nullopt;
  return StridedCopy{*size, *in, *out, (*offsets)[0], (*offsets)[1]};
}

std::string moved(const std::string& pointer, const std::string& offset) {
  return offset == "0" ? pointer : fmt::format("{} + {}", pointer, offset);
}

}  // namespace

void emit_copy(EmitContext& context, const TextCopy& copy, size_t i, size_t output) {
  const ElementType elem = context.in_type(i).elem;
  if (const auto known = known_copy(copy))
    return emit_copy(context, *known, context.in(i), context.out(output), elem);
  Texts strides = copy.in;
  strides.insert(strides.end(), copy.out.begin(), copy.out.end());
  context.open("");  // several copies may follow each other in one function
  declare_list(context, "extent", copy.size, false);
  declare_list(context, "stride", strides, false);
  context.line(fmt::format("{}({}, {}, {}, {}, extent, stride);", context.helper("dynamic_copy"),
                           moved(context.out(output), copy.out_offset), moved(context.in(i), copy.in_offset),
                           element_bytes(elem), copy.size.size()));
  context.close();
}

}  // namespace mrvlc::ops

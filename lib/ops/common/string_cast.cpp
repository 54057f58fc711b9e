// Numbers to text in room of 32 characters each; text to an integer where it is one, else to a double.
#include "common/string_cast.h"

#include "common/dims.h"
#include "common/element_bytes.h"
#include "mrvlc/ops/strings.h"
#include "mrvlc/tensor/narrow.h"

namespace mrvlc::ops {
namespace {

using E = ElementType;

// No number takes more characters: "-1.2345678901234567e-308".
constexpr int64_t kLongest = 32;

// The value as a double and how fine its type is there: bits of the mantissa, exponent of the smallest
// number.
std::string float_call(EmitContext& context, const std::string& x, ElementType elem) {
  std::string value = decoded_text(context, x, elem);
  std::string_view format = elem == E::F64 ? "53, -1074" : elem == E::F16 ? "11, -24" : "24, -149";
  return fmt::format("{}(to, (double)({}), {})", context.helper("float_text"), value, format);
}

std::string text_call(EmitContext& context, const std::string& x) {
  const ElementType elem = context.in_type(0).elem;
  if (elem == E::Bool) return fmt::format("{}(to, {})", context.helper("bool_text"), x);
  if (is_float(elem) || is_narrow_float(elem)) return float_call(context, x, elem);
  bool sign = is_signed_integer(elem) || elem == E::I4 || elem == E::I2;
  std::string magnitude = sign ? fmt::format("{0} < 0 ? (uint64_t)0 - (uint64_t){0} : (uint64_t){0}", x) : x;
  return fmt::format("{}(to, {}, {})", context.helper("integer_text"), sign ? x + " < 0" : "0", magnitude);
}

Status emit_to_text(EmitContext& context, const std::string& n) {
  auto* memory = dynamic_cast<TextMemory*>(&context);
  int64_t bytes = context.out_type(0).elements() * kLongest;
  std::string characters = memory == nullptr ? "" : memory->characters(bytes);
  if (characters.empty()) return bad_operands("strings are not made in a loop of any number of turns");
  context.open(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i)", n));
  context.line(fmt::format("char* to = {} + i * {};", characters, kLongest));
  context.line(fmt::format("{}[i].size = {};", context.out(0), text_call(context, context.in(0) + "[i]")));
  context.line(fmt::format("{}[i].data = to;", context.out(0)));
  context.close();
  return {};
}

Status emit_from_text(EmitContext& context, const std::string& n, const CastMode& mode) {
  const ElementType to = context.out_type(0).elem;
  context.open(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i)", n));
  context.line("double v = 0;");
  std::string x = context.in(0) + "[i]", y = context.out(0) + "[i]";
  context.fail_if(fmt::format("!{}({}.data, {}.size, &v)", context.helper("parse_number"), x, x));
  if (is_integer(to)) {
    context.line("uint64_t integer = 0;");
    context.open(fmt::format("if ({}({}.data, {}.size, &integer))", context.helper("parse_integer"), x, x));
    context.line(fmt::format("{} = ({})integer;", y, c_type(to)));
    context.line("continue;");
    context.close();
  }
  context.line(fmt::format("{} = {};", y, encoded_text(context, "v", E::F64, to, mode)));
  context.close();
  return {};
}

}  // namespace

Status emit_text_cast(EmitContext& context, const CastMode& mode) {
  std::string n = size_product(out_sizes(context, 0));
  if (context.out_type(0).elements() == 0) return {};
  if (context.out_type(0).elem == E::String) return emit_to_text(context, n);
  return emit_from_text(context, n, mode);
}

}  // namespace mrvlc::ops

// Sizes as C text, products with their literals multiplied out, checks of integer operands at run time.
#include "common/dims.h"

#include <algorithm>
#include <charconv>

namespace mrvlc::ops {
namespace {

bool is_literal(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string dim_text(const std::string& dim) {
  return is_literal(dim) ? dim : "(ptrdiff_t)" + dim;
}

Texts in_sizes(const EmitContext& context, size_t i) {
  Texts dims;
  for (int64_t d = 0; d < context.in_type(i).rank(); ++d) dims.push_back(dim_text(context.in_dim(i, d)));
  return dims;
}

Texts out_sizes(const EmitContext& context, size_t i) {
  Texts dims;
  for (int64_t d = 0; d < context.out_type(i).rank(); ++d) dims.push_back(dim_text(context.out_dim(i, d)));
  return dims;
}

std::string size_product(const Texts& factors, size_t from, size_t to) {
  int64_t known = 1;
  std::string text;
  for (size_t i = from; i < to; ++i) {
    if (is_literal(factors[i])) {
      int64_t value = 0;
      std::from_chars(factors[i].data(), factors[i].data() + factors[i].size(), value);
      known *= value;
    } else {
      text += (text.empty() ? "" : " * ") + factors[i];
    }
  }
  if (text.empty()) return fmt::format("{}", known);
  if (known != 1) text = fmt::format("{} * {}", known, text);
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

std::string int_operand(EmitContext& context, size_t i, int64_t k) {
  const Tensor* known = context.constant(i);
  if (known != nullptr) return c_literal(known->as_int(k), ElementType::I64);
  return fmt::format("(int64_t){}[{}]", context.in(i), k);
}

std::string axis_text(const std::string& axis, int64_t rank) {
  if (is_literal(axis) || axis.starts_with("INT64_C")) return "(ptrdiff_t)" + axis;
  return fmt::format("(ptrdiff_t)({0} < -{1} ? -{1} : {0} < {1} ? {0} : {1})", axis, rank);
}

void fail_if_any(EmitContext& context, size_t i, std::string_view condition) {
  if (!is_dynamic(context)) return;
  context.line("int bad = 0;");
  context.open(fmt::format("for (ptrdiff_t k = 0; k < {}; ++k)", in_sizes(context, i)[0]));
  context.line(fmt::format("const int64_t v = {}[k];", context.in(i)));
  context.line(fmt::format("bad |= {};", condition));
  context.close();
  context.fail_if("bad");
}

Status require_widened_result(const EmitContext& context, size_t output) {
  ElementType elem = context.out_type(output).elem;
  if (elem != ElementType::F16 && elem != ElementType::BF16) return {};
  return bad_operands(fmt::format("generated code does not compute in {}", name(elem)));
}

}  // namespace mrvlc::ops

// Names of math functions in C, literals of elements, constant outputs, a node as inference sees it.
#include "common/emit_util.h"

#include <algorithm>

#include "mrvlc/support/diag/ops.h"
#include "mrvlc/tensor/narrow.h"

namespace mrvlc::ops {

InferContext emit_view(const EmitContext& context) {
  InferContext view;
  const ir::Node& node = context.node();
  view.op = node.op;
  view.attrs = &node.attrs;
  view.num_outputs = node.outputs.size();
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    view.types.push_back(context.has(i) ? &context.in_type(i) : nullptr);
    view.constants.push_back(context.has(i) ? context.constant(i) : nullptr);
  }
  return view;
}

Status require_widened(const EmitContext& context, size_t input) {
  ElementType elem = context.in_type(input).elem;
  if (elem != ElementType::F16 && elem != ElementType::BF16) return {};
  return make_diag<DiagCode::MRV0202>(input, name(elem), "generated code");
}

std::string math_function(EmitContext& context, std::string_view name, ElementType elem) {
  constexpr std::string_view kNames[] = {"exp", "expm1", "log", "log1p", "tanh", "erf", "sin", "cos", "tan"};
  if (std::ranges::find(kNames, name) == std::end(kNames)) return {};
  if (elem != ElementType::F32) return std::string(name);
  if (context.wants_little_text()) return fmt::format("{}f", name);
  if (name == "exp") return context.helper("exp");
  if (name == "expm1") return context.helper("expm1");
  if (name == "log") return context.helper("log");
  if (name == "log1p") return context.helper("log1p");
  if (name == "sin") return context.helper("sin");
  if (name == "cos") return context.helper("cos");
  if (name == "tan") return context.helper("tan");
  return name == "tanh" ? context.helper("tanh") : context.helper("erf");
}

std::string larger_text(ElementType elem, std::string_view into, std::string_view value) {
  if (!is_float(elem)) return fmt::format("{0} = {1} > {0} ? {1} : {0};", into, value);
  // One comparison after the other: C compilers make vectors of these, and not of both in one condition.
  return fmt::format("{0} = {1} > {0} ? {1} : {0}, {0} = {1} != {1} ? {1} : {0};", into, value);
}

std::string element_literal(const Tensor& tensor, int64_t i) {
  if (is_narrow_float(tensor.elem())) return fmt::format("{}", tensor.data<uint8_t>()[at(i)]);
  if (is_float(tensor.elem())) return c_literal(tensor.as_double(i), tensor.elem());
  return c_literal(tensor.as_int(i), tensor.elem());
}

void emit_constant_output(EmitContext& context, const Tensor& tensor, size_t output) {
  int64_t bytes = tensor.type().bytes();
  if (bytes == 0) return;
  context.line(fmt::format("memcpy({}, {}, {});", context.out(output), context.table(tensor), bytes));
}

}  // namespace mrvlc::ops

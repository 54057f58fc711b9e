// Legality of element-wise layers.
#include <algorithm>
#include <cmath>

#include "legal/legal.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel {
Legality legal_function(const LegalContext& c, const ir::Node& node) {
  if (vector_form(node.kind()) == VectorForm::None) {
    return refuse(
        "elementwise function", std::string(node.op->name), "a function of the vector unit",
        fmt::format("{} is neither an instruction of the vector unit nor a function that its tables hold.",
                    node.op->name));
  }
  if (node.is(Op::QuantizeLinear)) return legal_quantization(c, node);
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid()) continue;
    const ir::Value& value = c.graph.value(node.inputs[i]);
    if (value.kind == ir::ValueKind::Constant && value.type.elements() == 1) continue;
    if (value.kind == ir::ValueKind::Constant) {
      return refuse("scalar parameters", to_string(value.type.shape), "one value",
                    fmt::format("operand {} ('{}') of {} has shape {}; the accelerator takes one value.", i,
                                printable(value.name, 80), node.op->name, to_string(value.type.shape)));
    }
    return refuse("constant parameters", origin(value), "a constant",
                  fmt::format("operand {} ('{}') of {} is {}; the accelerator needs it at compile time.", i,
                              printable(value.name, 80), node.op->name, origin(value)));
  }
  return legal();
}

Legality pow_exponent(const LegalContext& c, const ir::Node& node) {
  if (vector_form(node.kind()) != VectorForm::Power) return legal();
  const Tensor* exponent = c.graph.constant(node.inputs[1]);
  if (exponent == nullptr || exponent->elements() != 1) {
    return refuse("constant exponent", exponent ? "several values" : "computed at run time", "one constant",
                  "the exponent of Pow is not a single constant.");
  }
  double e = exponent->as_double(0);
  if (e == 0.5 || e == 2 || e == 3) return legal();
  return refuse("exponent", fmt::format("{}", e), "0.5, 2 or 3",
                fmt::format("the exponent of Pow is {}; the accelerator takes 0.5, 2 and 3.", e));
}

int64_t broadcast_rank(const std::vector<const Shape*>& operands, const Shape& result) {
  int64_t groups = 0;
  uint64_t previous = ~uint64_t{0};
  for (size_t d = 0; d < result.size(); ++d) {
    if (result[d] == 1) continue;
    uint64_t repeats = 0;  // bit k: operand k is repeated along d
    for (size_t k = 0; k < operands.size(); ++k) {
      const Shape& s = *operands[k];
      size_t missing = result.size() - std::min(s.size(), result.size());
      if (d < missing || s[d - missing] == 1) repeats |= uint64_t{1} << k;
    }
    if (repeats != previous) ++groups;
    previous = repeats;
  }
  return groups;
}

Legality legal_elementwise(const LegalContext& c) {
  const ir::Node& n = c.anchor();
  if (!is_binary(vector_form(n.kind()))) return legal_function(c, n);
  if (n.inputs.size() != 2 || !n.inputs[0].valid() || !n.inputs[1].valid()) {
    return refuse("operands", std::to_string(n.inputs.size()), "2",
                  fmt::format("{} has {} operands; the accelerator takes two.", n.op->name, n.inputs.size()));
  }
  MRVLC_LEGAL(pow_exponent(c, n));
  return collapsed_rank("operands", broadcast_rank({&c.in(0).shape, &c.in(1).shape}, c.out().shape));
}

}  // namespace mrvlc::accel

#include <algorithm>
#include <cmath>

#include "legal.h"

namespace mrvlc::partition {
namespace {

// Computed by an instruction of the vector unit or an activation of the epilogue.
constexpr std::string_view kDirect[] = {"Relu", "Clip", "LeakyRelu",  "HardSigmoid", "HardSwish", "Abs",
                                        "Neg",  "Sqrt", "Reciprocal", "Floor",       "Ceil"};
// Smooth functions that 2048 linear segments over the float16 numbers hold to float16's own precision. Not
// among them: periodic ones (a segment spans several periods), steps, and those with a vertical tangent or a
// pole inside their domain.
constexpr std::string_view kTable[] = {"Sigmoid",  "Tanh", "Elu",   "Selu",  "Celu", "Softplus",
                                       "Softsign", "Gelu", "Mish",  "Swish", "Erf",  "Exp",
                                       "Log",      "Atan", "Asinh", "Sinh",  "Cosh"};
constexpr std::string_view kBinary[] = {"Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu", "Pow"};

bool one_of(const ir::Node& node, std::span<const std::string_view> names) {
  return node.op->domain.empty() && std::find(names.begin(), names.end(), node.op->name) != names.end();
}

}  // namespace

bool is_binary(const ir::Node& node) {
  return one_of(node, kBinary);
}

std::optional<std::string> unary_refusal(const LegalContext& c, const ir::Node& node) {
  if (!one_of(node, kDirect) && !one_of(node, kTable)) {
    return fmt::format("{} is neither an instruction of the vector unit nor a function that its tables hold",
                       node.op->name);
  }
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i].valid() && !c.graph.is_constant(node.inputs[i])) {
      return fmt::format("operand {} of {} is computed at run time", i, node.op->name);
    }
  }
  return std::nullopt;
}

Legality pow_exponent(const LegalContext& c, const ir::Node& node) {
  if (!node.is("Pow")) return legal();
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
  if (!is_binary(n)) {
    std::optional<std::string> why = unary_refusal(c, n);
    return why ? refuse("elementwise function", std::string(n.op->name), "a function of the vector unit",
                        *why + ".")
               : legal();
  }
  if (n.inputs.size() != 2 || !n.inputs[0].valid() || !n.inputs[1].valid()) {
    return refuse("operands", std::to_string(n.inputs.size()), "2",
                  fmt::format("{} has {} operands; the accelerator takes two.", n.op->name, n.inputs.size()));
  }
  MRVLC_LEGAL(pow_exponent(c, n));
  return collapsed_rank("operands", broadcast_rank({&c.in(0).shape, &c.in(1).shape}, c.out().shape));
}

}  // namespace mrvlc::partition

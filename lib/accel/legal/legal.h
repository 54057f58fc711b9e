// Legality, one file a family of layers. Each check answers with the condition as text, the actual value, the
// limit and a sentence; the criteria are listed in docs/rules.md.
#pragma once
#include <optional>

#include "legal/kinds.h"
#include "mrvlc/accel/vector_unit.h"
#include "mrvlc/ops/params.h"

namespace mrvlc::accel {

struct LegalContext {
  const ir::Graph& graph;
  const Layer& layer;
  const KindInfo& kind;
  const target::Machine& machine;

  const ir::Node& anchor() const { return graph.node(layer.anchor); }
  bool has(const ir::Node& n, size_t i) const { return i < n.inputs.size() && n.inputs[i].valid(); }
  const TensorType& type(ir::ValueId v) const { return graph.value(v).type; }
  const TensorType& in(size_t i = 0) const { return type(anchor().inputs[i]); }
  const TensorType& out() const { return type(anchor().outputs[0]); }
  bool is_constant(const ir::Node& n, size_t i) const { return has(n, i) && graph.is_constant(n.inputs[i]); }
};

Legality legal();
Legality refuse(std::string condition, std::string actual, std::string limit, std::string reason);
Legality refuse(const Diag& diag);  // parameters of the operator that cannot be resolved

// actual <= limit, else refused: "<what> is <actual>; the accelerator takes at most <limit>."
Legality at_most(std::string_view condition, std::string_view what, int64_t actual, int64_t limit);
// Dimensions left after neighbours that are addressed alike are merged; more than the five of an instruction
// are refused.
Legality collapsed_rank(std::string_view what, int64_t dims);
// "an input of the model", "computed at run time".
std::string origin(const ir::Value& value);
// The input must be a constant; absent ones are.
Legality constant_input(const LegalContext& c, const ir::Node& node, size_t input, std::string_view what);
Legality constant_input(const LegalContext& c, size_t input, std::string_view what);  // of the anchor
// The same, of one element.
Legality constant_scalar(const LegalContext& c, const ir::Node& node, size_t input, std::string_view what);
// Outputs from `first` on must not be read.
Legality outputs_unused(const LegalContext& c, size_t first);

// Dimensions after merging neighbours whose operands repeat or advance together; dimensions of size 1 do not
// count.
int64_t broadcast_rank(const std::vector<const Shape*>& operands, const Shape& result);

// Whether the vector unit computes it element by element, as a function of its first operand.
Legality legal_function(const LegalContext& c, const ir::Node& node);
Legality pow_exponent(const LegalContext& c, const ir::Node& node);

// Scale and zero point of a QuantizeLinear or DequantizeLinear: one constant each, of integers of 8 bits.
Legality legal_quantization(const LegalContext& c, const ir::Node& node);

// What follows the anchor: a chain, each of which reads the result of the one before it, and is alone in
// that.
Legality legal_epilogue(const LegalContext& c);
// Of layers that are legal otherwise: weights, and operands of products, fit fp16.
Legality legal_numbers(const LegalContext& c);

// Sizes of a sliding window.
Legality legal_window(const LegalContext& c, const ops::WindowParams& p, int64_t batch);
Legality legal_conv(const LegalContext& c);
Legality legal_conv_transpose(const LegalContext& c);
Legality legal_fc(const LegalContext& c);
Legality legal_matmul(const LegalContext& c);
Legality legal_qlinear_conv(const LegalContext& c);
Legality legal_integer_conv(const LegalContext& c);
Legality legal_dequantize(const LegalContext& c);
Legality legal_pool(const LegalContext& c);
Legality legal_elementwise(const LegalContext& c);
Legality legal_reduce(const LegalContext& c);
Legality legal_softmax(const LegalContext& c);
Legality legal_norm(const LegalContext& c);
Legality legal_resize(const LegalContext& c);
Legality legal_concat(const LegalContext& c);
Legality legal_move(const LegalContext& c);
Legality legal_reshape(const LegalContext& c);

#define MRVLC_LEGAL(expr)          \
  do {                             \
    Legality legal_ = (expr);      \
    if (!legal_.ok) return legal_; \
  } while (false)

}  // namespace mrvlc::accel

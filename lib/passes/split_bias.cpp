// split-bias
//   before  %1 = Conv(%x, %w, %b)
//   after   %1 = Conv(%x, %w)    %2 = Add(%1, %b2)        b2: b of shape [C,1,...]; of Gemm b itself
// Preconditions: a constant bias of a Conv or ConvTranspose; of a Gemm with beta = 1, a row.
// Safe because that is the definition of the operators; a kernel that begins its sum with the bias rounds in
// another order.
// In no pipeline: for targets whose functions take no bias. Where the host computes the layer after all, the
// Add is folded into its kernel again.
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

std::optional<Tensor> separate_bias(const Graph& g, const Node& n) {
  const Tensor* bias = g.constant(input_or_none(n, 2));
  if (bias == nullptr || g.use_count(n.outputs[0]) == 0) return std::nullopt;
  if (n.is(Op::Gemm)) {
    const bool row = bias->shape().size() == 1 && ops::attr::beta(n) == 1.0f;
    return row ? std::optional(*bias) : std::nullopt;
  }
  Shape shape(static_cast<size_t>(type_of(g, n.outputs[0]).rank() - 1), 1);
  shape[0] = bias->elements();
  return bias->reshaped(std::move(shape));
}

bool split(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const std::optional<Tensor> bias = separate_bias(g, g.node(id));
  if (!bias) return false;
  const Node& n = g.node(id);
  const ValueId b = rw.constant(*bias, origins(g, {id}, {n.inputs[2]}));
  const TensorType type = type_of(g, n.outputs[0]);
  const NodeId from[] = {id};
  const NodeId product = rw.create(*n.op, {n.inputs[0], n.inputs[1]}, n.attrs, {type}, from);
  const ValueId sum = make(rw, Op::Add, {rw.output(product), b}, type, {id});
  return bypass(rw, id, sum, "its bias became an Add");
}

}  // namespace

Status split_bias(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "split-bias", is_any<Op::Conv, Op::ConvTranspose, Op::Gemm>, split);
  return {};
}

}  // namespace mrvlc::passes

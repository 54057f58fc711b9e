// lower-batchnorm
//   before  %1 = BatchNormalization(%x, %gamma, %beta, %mean, %var)
//   after   %1 = Mul(%x, %s)    %2 = Add(%1, %t)        s = gamma / sqrt(var + eps), t = beta - mean * s,
//   shape [C,1,...]
// Preconditions: inference mode, constant statistics.
// Safe because that is the definition of the operator; s and t are computed in double and rounded once to the
// type of x.
#include <cmath>

#include "affine.h"
#include "mrvlc/ops/op_kind.h"
#include "passes.h"

namespace mrvlc::passes {
namespace {

std::optional<Tensor> channel_tensor(const TensorType& x, const std::vector<double>& values) {
  Shape shape(static_cast<size_t>(x.rank() - 1), 1);
  shape[0] = static_cast<int64_t>(values.size());
  Tensor t(TensorType{x.elem, std::move(shape)});
  for (size_t i = 0; i < values.size(); ++i) {
    t.set_double(static_cast<int64_t>(i), values[i]);
    if (!std::isfinite(t.as_double(static_cast<int64_t>(i)))) return std::nullopt;
  }
  return t;
}

bool lower(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  auto affine = batchnorm_affine(g, n);
  if (!affine || g.use_count(n.outputs[0]) == 0) return false;
  ValueId x = n.inputs[0];
  TensorType type = type_of(g, x);
  auto scale = channel_tensor(type, affine->scale), shift = channel_tensor(type, affine->shift);
  if (!scale || !shift) return false;
  std::vector<NodeId> from = origins(g, {id}, {n.inputs[1], n.inputs[2], n.inputs[3], n.inputs[4]});
  ValueId s = rw.constant(std::move(*scale), from), t = rw.constant(std::move(*shift), from);
  ValueId product = make(rw, Op::Mul, {x, s}, type, {id});
  return bypass(rw, id, make(rw, Op::Add, {product, t}, type, {id}), "lowered to Mul and Add");
}

}  // namespace

Status lower_batchnorm(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "lower-batchnorm", is_any<Op::BatchNormalization>, lower);
  return {};
}

}  // namespace mrvlc::passes

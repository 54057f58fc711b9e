// canonicalize-shape
//   Flatten, Squeeze, Unsqueeze, Reshape(x, any shape)  ->  Reshape(x, constant result shape)
//   Reshape(Reshape(x))                                 ->  Reshape(x)
//   Transpose(Transpose(x, p), q)                       ->  Transpose(x, p after q)
//   Transpose that only moves dimensions of size 1      ->  Reshape
//   ReduceMean over both spatial dimensions             ->  GlobalAveragePool (and Reshape without keepdims),
//                                                           of a batch that the accelerator pools
// Preconditions: types are static, so the result shape is known whatever the shape operand says.
// Safe because a reshape is determined by its result shape, transposes compose, and a transpose keeps the
// row-major order of the elements as long as the dimensions larger than 1 stay in order.
#include <algorithm>
#include <numeric>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

// 0 in the shape operand means "as the input" unless allowzero is set.
int64_t allowzero_for(const Shape& shape) {
  return std::count(shape.begin(), shape.end(), 0) != 0 ? 1 : 0;
}

ValueId make_reshape(Rewriter& rw, ValueId x, const TensorType& type, std::initializer_list<NodeId> from) {
  NodeId last = *(from.end() - 1);
  ValueId shape = rw.constant(ints_tensor(type.shape), std::span(&last, 1), "shape");
  return make(rw, Op::Reshape, {x, shape}, type, from, {{"allowzero", Attr(allowzero_for(type.shape))}});
}

bool is_canonical_reshape(const Graph& g, const Node& n) {
  const Shape& shape = type_of(g, n.outputs[0]).shape;
  auto operand = constant_ints(g, input_or_none(n, 1));
  return n.is(Op::Reshape) && operand && *operand == shape && ops::attr::allowzero(n) == allowzero_for(shape);
}

bool reshape_form(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (ops::traits(n).moves != ops::Moves::Same || n.is(Op::Identity)) return false;
  if (is_canonical_reshape(g, n) || g.use_count(n.outputs[0]) == 0) return false;
  TensorType type = type_of(g, n.outputs[0]);
  return bypass(rw, id, make_reshape(rw, n.inputs[0], type, {id}),
                "rewritten as a Reshape to a constant shape");
}

bool reshape_of_reshape(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (!n.is(Op::Reshape) || g.use_count(n.outputs[0]) == 0) return false;
  const Node* first = producer_of(g, n.inputs[0], Op::Reshape);
  if (first == nullptr) return false;
  NodeId first_id = first->id;
  TensorType type = type_of(g, n.outputs[0]);
  bypass(rw, id, make_reshape(rw, first->inputs[0], type, {first_id, id}),
         "merged with the Reshape before it");
  erase_if_unused(rw, first_id, "merged with the Reshape after it");
  return true;
}

std::vector<int64_t> permutation(const Node& n, int64_t rank) {
  std::vector<int64_t> perm = ops::attr::perm(n);
  if (!perm.empty()) return perm;
  perm.resize(static_cast<size_t>(rank));
  std::iota(perm.rbegin(), perm.rend(), 0);
  return perm;
}

bool transpose_of_transpose(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  const Node* first = n.is(Op::Transpose) ? producer_of(g, n.inputs[0], Op::Transpose) : nullptr;
  if (first == nullptr || g.use_count(n.outputs[0]) == 0) return false;
  TensorType type = type_of(g, n.outputs[0]);
  auto inner = permutation(*first, type.rank()), outer = permutation(n, type.rank());
  std::vector<int64_t> both;
  for (int64_t d : outer) both.push_back(inner[static_cast<size_t>(d)]);
  NodeId first_id = first->id;
  ValueId merged = make(rw, Op::Transpose, {first->inputs[0]}, type, {first_id, id}, {{"perm", Attr(both)}});
  bypass(rw, id, merged, "merged with the Transpose before it");
  erase_if_unused(rw, first_id, "merged with the Transpose after it");
  return true;
}

bool transpose_of_units(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (!n.is(Op::Transpose) || g.use_count(n.outputs[0]) == 0) return false;
  const Shape& from = type_of(g, n.inputs[0]).shape;
  std::vector<int64_t> moved;
  for (int64_t d : permutation(n, static_cast<int64_t>(from.size()))) {
    if (from[static_cast<size_t>(d)] != 1) moved.push_back(d);
  }
  if (!std::is_sorted(moved.begin(), moved.end())) return false;
  TensorType type = type_of(g, n.outputs[0]);
  return bypass(rw, id, make_reshape(rw, n.inputs[0], type, {id}), "it only moves dimensions of size 1");
}

bool mean_to_pool(Rewriter& rw, NodeId id, int64_t largest_batch) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (!n.is(Op::ReduceMean) || g.use_count(n.outputs[0]) == 0) return false;
  TensorType in = type_of(g, n.inputs[0]), out = type_of(g, n.outputs[0]);
  if (in.rank() != 4 || !is_float(in.elem) || in.shape[0] > largest_batch) return false;
  auto axes = ops::reduce_axes(ops::infer_context(g, n));
  if (!axes.ok() || *axes != std::vector<int64_t>{2, 3}) return false;
  TensorType pooled{in.elem, {in.shape[0], in.shape[1], 1, 1}};
  ValueId mean = make(rw, Op::GlobalAveragePool, {n.inputs[0]}, pooled, {id});
  if (!(pooled == out)) mean = make_reshape(rw, mean, out, {id});
  return bypass(rw, id, mean, "rewritten as GlobalAveragePool");
}

bool changes_shape(const Node& n) {
  return n.is(Op::Reshape, Op::Transpose, Op::ReduceMean) || ops::traits(n).moves == ops::Moves::Same;
}

}  // namespace

Status canonicalize_shape(Graph& graph, const PassContext& context, bool& changed) {
  changed = rewrite_nodes(graph, "canonicalize-shape", changes_shape, reshape_of_reshape, reshape_form,
                          transpose_of_transpose, transpose_of_units, [&](Rewriter& rw, NodeId id) {
                            return mean_to_pool(rw, id, context.largest_batch);
                          });
  return {};
}

}  // namespace mrvlc::passes

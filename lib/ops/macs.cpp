// Products of convolutions, matrix products and recurrences from their shapes; of bodies times their rounds.
#include "macs.h"

#include <algorithm>

#include "mrvlc/ops/control_flow.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::ops {
namespace {

int64_t elements(const InferContext& c, size_t i) {
  return c.has(i) ? c.type(i).elements() : 0;
}

// Every element of a filter once for each result (or, transposed, for each operand element).
int64_t per_filter(const InferContext& c, size_t weights, int64_t uses) {
  if (!c.has(weights) || c.type(weights).rank() == 0 || c.type(weights).shape[0] == 0) return 0;
  return saturating_mul(uses, elements(c, weights) / c.type(weights).shape[0]);
}

}  // namespace

int64_t conv_macs(const InferContext& c, int64_t results) {
  return per_filter(c, 1, results);
}
int64_t qlinear_conv_macs(const InferContext& c, int64_t results) {
  return per_filter(c, 3, results);
}
int64_t conv_transpose_macs(const InferContext& c, int64_t) {
  return per_filter(c, 1, elements(c, 0));
}

int64_t gemm_macs(const InferContext& c, int64_t results) {
  if (!c.has(0) || c.type(0).rank() != 2) return 0;
  return saturating_mul(results, c.type(0).shape[c.int_attr("transA") != 0 ? 0 : 1]);
}

int64_t matmul_macs(const InferContext& c, int64_t results) {
  return c.has(0) && c.type(0).rank() > 0 ? saturating_mul(results, c.type(0).shape.back()) : 0;
}

// Input and state times their weights, each step of each sequence; gates and directions are rows of the
// weights.
int64_t recurrent_macs(const InferContext& c, int64_t) {
  if (!c.has(0) || c.type(0).rank() != 3) return 0;
  return saturating_mul(saturating_mul(c.type(0).shape[0], c.type(0).shape[1]),
                        saturating_add(elements(c, 1), elements(c, 2)));
}

int64_t body_rounds(const ir::Graph& graph, const ir::Node& node) {
  auto known = [](int64_t n) { return n == kNoBound ? 1 : n; };
  if (node.is(Op::Loop)) {
    const Tensor* trips = graph.constant(node.inputs.at(0));
    return trips == nullptr ? 1 : std::max<int64_t>(0, trips->as_int(0));
  }
  if (node.is(Op::SequenceMap)) {
    const TensorType& list = graph.value(node.inputs.at(0)).type;
    return known(list.length);
  }
  if (!node.is(Op::Scan)) return 1;
  auto p = scan_params(*node.op, node.attrs, static_cast<size_t>(node.int_attr("formals")));
  if (!p.ok() || p->input_axes.empty()) return 1;
  const TensorType& walked = graph.value(node.inputs.at(p->states)).type;
  const int64_t axis = p->input_axes[0] < 0 ? p->input_axes[0] + walked.rank() : p->input_axes[0];
  return known(walked.shape.at(static_cast<size_t>(axis)));
}

int64_t macs(const ir::Graph& graph, const ir::Node& node) {
  int64_t all = 0;
  for (const ir::Graph* body : ir::bodies_of(node)) {
    for (ir::NodeId id : body->topological_order()) all = saturating_add(all, macs(*body, body->node(id)));
  }
  if (all > 0) return saturating_mul(all, body_rounds(graph, node));
  const auto count = op_def(node).macs;
  if (count == nullptr) return 0;
  const bool has_result = !node.outputs.empty() && node.outputs[0].valid();
  return count(infer_context(graph, node), has_result ? graph.value(node.outputs[0]).type.elements() : 0);
}

bool sums_many_products(const ir::Graph& graph, const ir::Node& node) {
  constexpr int64_t kFewTerms = 3;
  const int64_t products = macs(graph, node);
  if (!ir::bodies_of(node).empty()) return products > 0;
  if (!traits(node).sums_products) return false;
  const int64_t results = node.outputs[0].valid() ? graph.value(node.outputs[0]).type.elements() : 0;
  return results == 0 || products / results > kFewTerms;
}

}  // namespace mrvlc::ops

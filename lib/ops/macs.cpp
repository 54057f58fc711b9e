// Multiply-accumulates by operator, from the types of a node alone.
#include <algorithm>

#include "attention.h"
#include "einsum.h"
#include "mrvlc/ops/control_flow.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::ops {
namespace {

int64_t times(int64_t a, int64_t b) {
  return saturating_mul(a, b);
}

int64_t plus(int64_t a, int64_t b) {
  return saturating_add(a, b);
}

struct View {
  const ir::Graph& graph;
  const ir::Node& node;
  InferContext context;

  int64_t results() const {
    return node.outputs.empty() || !node.outputs[0].valid() ? 0 : output(0).elements();
  }
  const TensorType& output(size_t i) const { return graph.value(node.outputs[i]).type; }
  bool has(size_t i) const { return context.has(i); }
  const TensorType& input(size_t i) const { return context.type(i); }
  int64_t elements(size_t i) const { return has(i) ? input(i).elements() : 0; }
};

// Every element of a filter once for each result (or, transposed, for each operand element).
int64_t per_filter(const View& v, size_t weights, int64_t uses) {
  if (!v.has(weights) || v.input(weights).rank() == 0 || v.input(weights).shape[0] == 0) return 0;
  return times(uses, v.elements(weights) / v.input(weights).shape[0]);
}

int64_t conv(const View& v) {
  return per_filter(v, 1, v.results());
}
int64_t qlinear_conv(const View& v) {
  return per_filter(v, 3, v.results());
}
int64_t conv_transpose(const View& v) {
  return per_filter(v, 1, v.elements(0));
}

int64_t gemm(const View& v) {
  if (!v.has(0) || v.input(0).rank() != 2) return 0;
  return times(v.results(), v.input(0).shape[v.node.int_attr("transA") != 0 ? 0 : 1]);
}

int64_t matmul(const View& v) {
  return v.has(0) && v.input(0).rank() > 0 ? times(v.results(), v.input(0).shape.back()) : 0;
}

// Input and state times their weights, each step of each sequence; gates and directions are rows of the
// weights.
int64_t recurrent(const View& v) {
  if (!v.has(0) || v.input(0).rank() != 3) return 0;
  return times(times(v.input(0).shape[0], v.input(0).shape[1]), plus(v.elements(1), v.elements(2)));
}

// Scores, and values weighted with them.
int64_t attention(const View& v) {
  auto p = attention_params(v.context);
  if (!p.ok()) return 0;
  return times(times(times(p->batch, p->heads), times(p->q_length, p->total())), p->size + p->v_size);
}

// Of every step and value head the update of the state and, with a delta rule, the product before it; of
// every query head the product with the state.
int64_t linear_attention(const View& v) {
  const int64_t heads = v.node.int_attr("q_num_heads"), kv_heads = v.node.int_attr("kv_num_heads");
  if (!v.has(2) || v.input(0).rank() != 3 || v.input(2).rank() != 3 || heads < 1 || kv_heads < 1) return 0;
  const Shape &q = v.input(0).shape, &value = v.input(2).shape;
  const int64_t state = times(q[2] / heads, value[2] / kv_heads);
  const int64_t updates = v.has(5) ? times(2, kv_heads) : kv_heads;  // input 5: beta, of the delta rules
  return times(times(times(q[0], q[1]), state), plus(updates, heads));
}

int64_t einsum(const View& v) {
  return einsum_macs(v.context);
}

struct Rule {
  std::string_view op;
  int64_t (*macs)(const View&);
};
constexpr Rule kRules[] = {
    {"Attention", attention},
    {"CausalConvWithState", conv},
    {"Conv", conv},
    {"ConvInteger", conv},
    {"ConvTranspose", conv_transpose},
    {"DeformConv", conv},
    {"Einsum", einsum},
    {"GRU", recurrent},
    {"Gemm", gemm},
    {"LSTM", recurrent},
    {"LinearAttention", linear_attention},
    {"MatMul", matmul},
    {"MatMulInteger", matmul},
    {"QLinearConv", qlinear_conv},
    {"QLinearMatMul", matmul},
    {"RNN", recurrent},
};

const Rule* rule_of(std::string_view op) {
  const auto* rule = std::ranges::find(kRules, op, &Rule::op);
  return rule == std::end(kRules) ? nullptr : rule;
}

}  // namespace

bool has_macs(std::string_view op) {
  return rule_of(op) != nullptr;
}

int64_t body_rounds(const ir::Graph& graph, const ir::Node& node) {
  auto known = [](int64_t n) { return n == kNoBound ? 1 : n; };
  if (node.is("Loop")) {
    const Tensor* trips = graph.constant(node.inputs.at(0));
    return trips == nullptr ? 1 : std::max<int64_t>(0, trips->as_int(0));
  }
  if (node.is("SequenceMap")) {
    const TensorType& list = graph.value(node.inputs.at(0)).type;
    return known(list.length);
  }
  if (!node.is("Scan")) return 1;
  auto p = scan_params(*node.op, node.attrs, static_cast<size_t>(node.int_attr("formals")));
  if (!p.ok() || p->input_axes.empty()) return 1;
  const TensorType& walked = graph.value(node.inputs.at(p->states)).type;
  const int64_t axis = p->input_axes[0] < 0 ? p->input_axes[0] + walked.rank() : p->input_axes[0];
  return known(walked.shape.at(static_cast<size_t>(axis)));
}

int64_t macs(const ir::Graph& graph, const ir::Node& node) {
  int64_t all = 0;
  for (const ir::Graph* body : ir::bodies_of(node)) {
    for (ir::NodeId id : body->topological_order()) all = plus(all, macs(*body, body->node(id)));
  }
  if (all > 0) return times(all, body_rounds(graph, node));
  if (!node.op->domain.empty()) return 0;
  const Rule* rule = rule_of(node.op->name);
  return rule == nullptr ? 0 : rule->macs({graph, node, infer_context(graph, node)});
}

}  // namespace mrvlc::ops

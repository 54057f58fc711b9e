// Layers with weights read integers. So does what lies between them, as far as integer machines have it:
// arithmetic, pools, what moves elements. What no layer reads any more stays in floats: the results of the
// last layers, and what is made of them (boxes, probabilities), where a step of 8 bits is coarse.
#include "plan.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "disjoint_sets.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::quantize {
namespace {

bool is_f32(const Graph& g, ValueId v) {
  const TensorType& type = g.value(v).type;
  return type.elem == ElementType::F32 && type.wrapper == Wrapper::None && type.has_rank();
}

bool is_activation(const Graph& g, ValueId v) {
  return v.valid() && !g.is_constant(v) && is_f32(g, v);
}

bool has_finite_elements(const Tensor& t) {
  return std::ranges::all_of(t.data<float>(), [](float x) { return std::isfinite(x); });
}

// Padding with zeros: zero is always among the numbers.
bool pads_with_zeros(const Graph& g, const Node& n) {
  const ValueId value = n.inputs.size() > 2 ? n.inputs[2] : ValueId();
  const Tensor* t = value.valid() ? g.constant(value) : nullptr;
  return ops::attr::mode(n) == "constant" && (!value.valid() || (t != nullptr && t->as_double(0) == 0));
}

bool keeps_numbers(const Graph& g, const Node& n) {
  if (n.is(Op::MaxPool, Op::GlobalMaxPool, Op::Concat)) return true;
  if (n.is(Op::Pad)) return pads_with_zeros(g, n);
  if (n.is(Op::Resize)) return ops::attr::mode(n) == "nearest";
  const ops::Moves moves = ops::traits(n).moves;
  return moves == ops::Moves::Same || moves == ops::Moves::Rearranged || moves == ops::Moves::Selected;
}

// Relu or Clip with constant bounds.
bool is_bound(const Graph& g, const Node& n) {
  if (n.is(Op::Relu)) return true;
  return n.is(Op::Clip) && std::ranges::all_of(n.inputs.begin() + 1, n.inputs.end(),
                                               [&](ValueId v) { return !v.valid() || g.is_constant(v); });
}

// What integer machines compute of one or two operands.
bool is_arithmetic(const Node& n) {
  return n.is(Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Min, Op::AveragePool, Op::GlobalAveragePool, Op::Relu,
              Op::Clip, Op::LeakyRelu, Op::Sigmoid, Op::Tanh, Op::HardSigmoid, Op::HardSwish, Op::Elu,
              Op::Gelu);
}

bool reads_data(const Graph& g, const Node& n, size_t i) {
  if (!is_activation(g, n.inputs[i])) return false;
  return i == 0 || n.is(Op::Concat, Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Min);
}

class Planner {
 public:
  Planner(const Graph& graph, const std::vector<bool>& is_float)
      : g_(graph), float_(is_float), feeds_(graph.value_slots(), false), alike_(graph.value_slots()) {
    plan_.group_of.assign(graph.value_slots(), Plan::kNone);
  }

  Plan run() {
    const std::vector<NodeId> order = g_.topological_order();
    for (auto id = order.rbegin(); id != order.rend(); ++id) find_feeding(g_.node(*id));
    for (NodeId id : order) add_layer(g_.node(id));
    for (NodeId id : order) join(g_.node(id));
    for (ValueId v : g_.inputs()) add_value(v);
    for (NodeId id : order)
      for (ValueId v : g_.node(id).outputs)
        if (v.valid()) add_value(v);
    return std::move(plan_);
  }

 private:
  bool stays_float(const Node& n) const { return float_[n.id.index()]; }
  bool is_passed(const Node& n) const {
    return !stays_float(n) && (keeps_numbers(g_, n) || is_arithmetic(n));
  }

  void find_feeding(const Node& n) {
    const bool layer = !stays_float(n) && is_layer(g_, n);
    const bool passes = is_passed(n) && std::ranges::any_of(n.outputs, [&](ValueId v) {
                          return v.valid() && feeds_[v.index()];
                        });
    if (!layer && !passes) return;
    for (size_t i = 0; i < n.inputs.size(); ++i)
      if (n.inputs[i].valid() && reads_data(g_, n, i)) feeds_[n.inputs[i].index()] = true;
  }

  void add_layer(const Node& n) {
    if (stays_float(n) || !is_layer(g_, n)) return;
    const ValueId result = n.outputs[0];
    const Node* bound = goes_into_bound(result);
    plan_.layers.push_back({n.id, n.inputs[0], bound == nullptr ? result : bound->outputs[0]});
  }

  // The activation that is computed with what makes the value, so that it is never stored.
  const Node* goes_into_bound(ValueId v) const {
    const ir::Value& value = g_.value(v);
    if (g_.use_count(v) != 1 || value.users.empty() || !value.producer.valid()) return nullptr;
    const Node &by = g_.node(value.producer), &next = g_.node(value.users[0]);
    const bool computes = is_layer(g_, by) || by.is(Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Min,
                                                    Op::AveragePool, Op::GlobalAveragePool);
    if (computes && is_bound(g_, next)) return &next;
    return is_layer(g_, by) && is_bias(next, v) ? &next : nullptr;
  }

  // An Add of a constant behind a product of matrices.
  bool is_bias(const Node& n, ValueId v) const {
    if (!n.is(Op::Add)) return false;
    const ValueId other = n.inputs[n.inputs[0] == v ? 1 : 0];
    return g_.is_constant(other);
  }

  bool is_stored(ValueId v) const {
    return feeds_[v.index()] && is_activation(g_, v) && goes_into_bound(v) == nullptr;
  }

  // Operands and results of what changes no number.
  void join(const Node& n) {
    if (!is_passed(n) || !keeps_numbers(g_, n)) return;
    std::optional<size_t> first;
    const auto take = [&](ValueId v) {
      if (!v.valid() || !is_stored(v)) return;
      if (!first) first = v.index();
      alike_.join(v.index(), *first);
    };
    for (size_t i = 0; i < n.inputs.size(); ++i)
      if (n.inputs[i].valid() && reads_data(g_, n, i)) take(n.inputs[i]);
    for (ValueId v : n.outputs) take(v);
  }

  void add_value(ValueId v) {
    if (!is_stored(v)) return;
    uint32_t& group = plan_.group_of[alike_.leader(v.index())];
    if (group == Plan::kNone) {
      group = static_cast<uint32_t>(plan_.groups.size());
      plan_.groups.emplace_back();
    }
    plan_.group_of[v.index()] = group;
    plan_.groups[group].push_back(v);
  }

  const Graph& g_;
  const std::vector<bool>& float_;
  std::vector<bool> feeds_;  // by value: a layer reads it, or what is passed on to one
  DisjointSets alike_;       // values that share a scale
  Plan plan_;
};

bool is_row(const Graph& g, ValueId v, int64_t columns) {
  const Tensor* t = v.valid() ? g.constant(v) : nullptr;
  if (!v.valid()) return true;
  if (t == nullptr || t->elem() != ElementType::F32 || !has_finite_elements(*t)) return false;
  return t->elements() == columns && (t->shape().empty() || t->shape().back() == columns);
}

}  // namespace

bool is_layer(const Graph& g, const Node& n) {
  if (!n.is(Op::Conv, Op::Gemm, Op::MatMul) || !is_activation(g, n.inputs[0])) return false;
  const Tensor* w = g.constant(n.inputs[1]);
  if (w == nullptr || w->elem() != ElementType::F32 || w->elements() == 0 || !has_finite_elements(*w))
    return false;
  if (n.is(Op::MatMul)) return w->shape().size() == 2;
  const ValueId bias = n.inputs.size() > 2 ? n.inputs[2] : ValueId();
  if (n.is(Op::Conv)) return is_row(g, bias, w->shape()[0]);
  const bool plain = ops::attr::alpha(n) == 1 && ops::attr::beta(n) == 1 && !ops::attr::trans_a(n);
  return plain && is_row(g, bias, w->shape()[ops::attr::trans_b(n) ? 0 : 1]);
}

Plan make_plan(const Graph& graph, const std::vector<bool>& is_float) {
  return Planner(graph, is_float).run();
}

}  // namespace mrvlc::quantize

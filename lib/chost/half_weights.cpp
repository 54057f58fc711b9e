// Which weights have 16 bits: rounded in the graph, and known by their values when the C is written.
#include "mrvlc/chost/half_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "mrvlc/ir/rewriter.h"
#include "mrvlc/tensor/float16.h"
#include "program.h"

namespace mrvlc::chost {
namespace {

bool is_half(float v) {
  return std::abs(v) <= static_cast<float>(kMostHalf) && half_to_float(float_to_half(v)) == v;
}

// The inputs whose weights functions store as halves: they ask stores_halves() of these alone.
std::vector<size_t> half_operands(const ir::Graph& graph, const ir::Node& node) {
  std::vector<size_t> found;
  auto is_weights = [&](size_t i) {
    const Tensor* t = i < node.inputs.size() ? graph.constant(node.inputs[i]) : nullptr;
    return t != nullptr && t->elem() == ElementType::F32 && t->elements() > 0;
  };
  if (node.is(Op::LSTM, Op::GRU, Op::RNN)) {
    for (size_t i : {size_t{1}, size_t{2}})
      if (is_weights(i)) found.push_back(i);
    return found;
  }
  if (!is_matrix_product(node) && !is_packed_conv(graph, node)) return found;
  if (!is_weights(1)) return found;
  const Shape& shape = graph.value(node.inputs[1]).type.shape;
  if (is_matrix_product(node)) {
    if (shape.size() <= 2) found.push_back(1);
    return found;
  }
  const bool depthwise = node.is(Op::Conv) && shape[1] == 1 && node.int_attr("group") > 1;
  const bool packs = !ops::has_dynamic_shapes(graph, node) || is_dynamic_product(graph, node);
  if (packs && !depthwise) found.push_back(1);
  return found;
}

class WeightRounder {
 public:
  WeightRounder(ir::Graph& graph, std::vector<HalfWeights>& all)
      : graph_(graph), rewriter_(graph, "half-weights"), all_(all) {}

  void round(ir::NodeId id) {
    for (size_t i : half_operands(graph_, graph_.node(id))) {
      const ir::ValueId weights = graph_.node(id).inputs[i];
      auto at = rounded_.find(weights);
      if (at == rounded_.end()) at = rounded_.emplace(weights, rounded(weights, graph_.node(id))).first;
      if (at->second != weights) rewriter_.set_input(id, i, at->second);
    }
  }

 private:
  // The value that takes its place: itself where nothing is rounded.
  ir::ValueId rounded(ir::ValueId weights, const ir::Node& node) {
    const Tensor from = *graph_.constant(weights);
    const auto values = from.data<float>();
    HalfWeights h{node.name, std::string(node.op->name), from.elements()};
    for (float v : values)
      h.most = std::isfinite(v) ? std::max(h.most, static_cast<double>(std::abs(v)))
                                : std::numeric_limits<double>::infinity();
    h.kept = h.most > kMostHalf;
    const bool all = std::ranges::all_of(values, is_half);
    ir::ValueId now = weights;
    if (!h.kept && !all) {
      Tensor to(from.type());
      auto out = to.mutable_data<float>();
      double most_lost = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        out[i] = half_to_float(float_to_half(values[i]));
        h.zeros += out[i] == 0 && values[i] != 0 ? 1 : 0;
        most_lost =
            std::max(most_lost, std::abs(static_cast<double>(out[i]) - static_cast<double>(values[i])));
      }
      h.error = most_lost / h.most;
      const std::vector<ir::NodeId> made_from = graph_.value(weights).made_from;
      now = rewriter_.constant(std::move(to), made_from);
    }
    all_.push_back(std::move(h));
    return now;
  }

  ir::Graph& graph_;
  ir::Rewriter rewriter_;
  std::vector<HalfWeights>& all_;
  std::map<ir::ValueId, ir::ValueId> rounded_;
};

// `placed`: of this graph, or null, where all of it is the host's; `bodies`: where those of its bodies are.
void round_graph(ir::Graph& graph, const partition::Partition* placed, const partition::Partition& bodies,
                 std::vector<HalfWeights>& all) {
  WeightRounder rounder(graph, all);
  std::vector<ir::NodeId> nodes;
  if (placed == nullptr) {
    nodes = graph.topological_order();
  } else {
    for (const partition::Step& step : placed->steps)
      if (step.kind == partition::Step::Kind::Cpu) nodes.push_back(step.node);
  }
  for (ir::NodeId id : nodes) {
    rounder.round(id);
    for (ir::Graph* body : ir::mutable_bodies_of(graph, id))
      round_graph(*body, partition::partition_of(bodies, *body), bodies, all);
  }
}

}  // namespace

std::vector<HalfWeights> round_weights(ir::Graph& graph, const partition::Partition& placed,
                                       std::vector<ir::Graph>& parts) {
  std::vector<HalfWeights> all;
  round_graph(graph, &placed, placed, all);
  const partition::Partition none;
  for (ir::Graph& part : parts) round_graph(part, nullptr, none, all);
  return all;
}

bool Program::stores_halves(ir::ValueId value) const {
  if (options.host_weights != WeightType::F16) return false;
  const Tensor* t = graph.constant(value);
  return t != nullptr && t->elem() == ElementType::F32 && std::ranges::all_of(t->data<float>(), is_half);
}

}  // namespace mrvlc::chost

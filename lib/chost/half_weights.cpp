// Which weights have 16 bits: rounded in the graph, and known by their values when the C is written.
#include "mrvlc/chost/half_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "mrvlc/ir/rewriter.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/partition.h"
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
  if (!is_matrix_product(node) && !is_packed_conv(graph, node) && !is_plane_conv(graph, node)) return found;
  if (!is_weights(1)) return found;
  const Shape& shape = graph.value(node.inputs[1]).type.shape;
  if (is_matrix_product(node)) {
    if (shape.size() <= 2) found.push_back(1);
    return found;
  }
  const bool depthwise = node.is(Op::Conv) && shape[1] == 1 && ops::attr::group(node) > 1;
  const bool packs = !ops::has_dynamic_shapes(graph, node) || is_dynamic_product(graph, node);
  if (packs && !depthwise) found.push_back(1);
  return found;
}

// Rounded tensors by where their bytes lie: a graph and its bodies share them.
class RoundedTensors {
 public:
  // Nothing where no weight changes; else in some shape.
  const std::optional<Tensor>& of(const Tensor& weights, const ir::Node& node) {
    const std::pair key(weights.bytes().data(), weights.bytes().size());
    auto at = known_.find(key);
    if (at == known_.end()) at = known_.emplace(key, Entry{weights, rounded(weights, node)}).first;
    return at->second.rounded;
  }
  std::vector<HalfWeights> take() { return std::move(all_); }

 private:
  std::optional<Tensor> rounded(const Tensor& weights, const ir::Node& node) {
    const auto values = weights.data<float>();
    HalfWeights& h = all_.emplace_back(HalfWeights{node.name, std::string(node.op->name)});
    h.elements = weights.elements();
    for (float v : values)
      h.most = std::isfinite(v) ? std::max(h.most, static_cast<double>(std::abs(v)))
                                : std::numeric_limits<double>::infinity();
    h.kept = h.most > kMostHalf;
    if (h.kept || std::ranges::all_of(values, is_half)) return std::nullopt;
    Tensor now(weights.type());
    const auto out = now.mutable_data<float>();
    double lost = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      out[i] = half_to_float(float_to_half(values[i]));
      h.zeros += out[i] == 0 && values[i] != 0 ? 1 : 0;
      lost = std::max(lost, std::abs(static_cast<double>(out[i]) - static_cast<double>(values[i])));
    }
    h.error = lost / h.most;
    return now;
  }

  struct Entry {
    Tensor weights;  // kept, so that its bytes stay where they are
    std::optional<Tensor> rounded;
  };
  std::map<std::pair<const std::byte*, size_t>, Entry> known_;
  std::vector<HalfWeights> all_;
};

void round_node(ir::Graph& graph, ir::NodeId id, ir::Rewriter& rewriter,
                std::map<ir::ValueId, ir::ValueId>& values, RoundedTensors& tensors) {
  for (size_t i : half_operands(graph, graph.node(id))) {
    const ir::ValueId weights = graph.node(id).inputs[i];
    if (!values.contains(weights)) {
      const std::optional<Tensor>& rounded = tensors.of(*graph.constant(weights), graph.node(id));
      const std::vector<ir::NodeId> from = graph.value(weights).made_from;
      const Shape& shape = graph.value(weights).type.shape;
      values[weights] = rounded ? rewriter.constant(rounded->reshaped(shape), from) : weights;
    }
    if (values[weights] != weights) rewriter.set_input(id, i, values[weights]);
  }
}

// `placed`: of this graph, or null, where all of it is the host's; `bodies`: where those of its bodies are.
void round_graph(ir::Graph& graph, const partition::Partition* placed, const partition::Partition& bodies,
                 RoundedTensors& tensors) {
  ir::Rewriter rewriter(graph, "half-weights");
  std::map<ir::ValueId, ir::ValueId> values;
  std::vector<ir::NodeId> nodes;
  if (placed == nullptr) {
    nodes = graph.topological_order();
  } else {
    for (const partition::Step& step : placed->steps)
      if (step.kind == partition::Step::Kind::Cpu) nodes.push_back(step.node);
  }
  for (ir::NodeId id : nodes) {
    round_node(graph, id, rewriter, values, tensors);
    for (ir::Graph* body : ir::mutable_bodies_of(graph, id))
      round_graph(*body, partition::partition_of(bodies, *body), bodies, tensors);
  }
}

}  // namespace

std::vector<HalfWeights> round_weights(ir::Graph& graph, const partition::Partition& placed,
                                       std::vector<ir::Graph>& parts) {
  RoundedTensors tensors;
  round_graph(graph, &placed, placed, tensors);
  const partition::Partition none;
  for (ir::Graph& part : parts) round_graph(part, nullptr, none, tensors);
  return tensors.take();
}

bool Program::stores_halves(ir::ValueId value) const {
  if (options.host_weights != WeightType::F16) return false;
  const Tensor* t = graph.constant(value);
  return t != nullptr && t->elem() == ElementType::F32 && std::ranges::all_of(t->data<float>(), is_half);
}

}  // namespace mrvlc::chost

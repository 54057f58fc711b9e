#include "storage.h"

#include <numeric>

#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel_random {
namespace {

bool any(const ir::Node& node, std::initializer_list<Op> ops) {
  for (Op op : ops)
    if (node.is(op)) return true;
  return false;
}

bool slides(const partition::Layer& layer, const ir::Node& anchor) {
  for (LayerKind kind : {LayerKind::Conv, LayerKind::ConvTranspose, LayerKind::Pool, LayerKind::Resize})
    if (layer.kind == kind) return true;
  return any(anchor, {Op::InstanceNormalization, Op::BatchNormalization, Op::DepthToSpace, Op::SpaceToDepth});
}

// Propagates "channels last" between values that a layer ties together until nothing changes.
struct Ties {
  std::vector<std::pair<size_t, size_t>> pairs;
  void spread(std::vector<bool>& last) const {
    for (bool changed = true; changed;) {
      changed = false;
      for (auto [a, b] : pairs) {
        if (last[a] == last[b]) continue;
        last[a] = last[b] = changed = true;
      }
    }
  }
};

}  // namespace

Storage::Storage(const ir::Graph& graph, const partition::Region& region)
    : graph_(graph), last_(graph.value_slots(), false) {
  Ties ties;
  auto rank = [&](ir::ValueId v) { return graph.value(v).type.shape.size(); };
  for (const partition::Layer& layer : region.layers) {
    const ir::Node& anchor = graph.node(layer.anchor);
    if (slides(layer, anchor)) last_[anchor.outputs[0].index()] = true;
    if (layer.kind == LayerKind::Reshape) {
      views_.insert(anchor.outputs[0]);
      continue;
    }
    if (any(anchor, {Op::Transpose, Op::Slice, Op::Split, Op::Expand}))
      for (ir::ValueId out : anchor.outputs) views_.insert(out);
    if (anchor.is(Op::Concat))
      for (ir::ValueId in : anchor.inputs) placed_.insert(in);
    for (ir::NodeId id : layer.nodes) {
      const ir::Node& node = graph.node(id);
      if (any(node, {Op::Transpose, Op::MatMul, Op::Gemm})) continue;
      auto tie = [&](ir::ValueId v) {
        if (v.valid() && !graph.is_constant(v) && rank(v) == rank(node.outputs[0]))
          ties.pairs.emplace_back(v.index(), node.outputs[0].index());
      };
      for (ir::ValueId in : node.inputs) tie(in);
      for (ir::ValueId out : node.outputs) tie(out);
    }
  }
  ties.spread(last_);
}

std::optional<std::vector<size_t>> Storage::order(ir::ValueId value) const {
  size_t rank = graph_.value(value).type.shape.size();
  if (views_.contains(value)) return std::nullopt;
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  if (!last_[value.index()] || rank < 3) return order;
  order.erase(order.begin() + 1);
  order.push_back(1);
  return order;
}

}  // namespace mrvlc::accel_random

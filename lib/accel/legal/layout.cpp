// Which values are stored channels last: those that a sliding window reads or writes, and those that
// element-wise layers tie to them, so that no layer in between has to transpose.
#include <map>
#include <set>

#include "legal/legal.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel {
namespace {

// Values of the region, numbered as they are met.
class Classes {
 public:
  size_t of(ir::ValueId v) {
    auto [it, fresh] = number_.try_emplace(v, parent_.size());
    if (fresh) {
      parent_.push_back(it->second);
      last_.push_back(false);
    }
    return it->second;
  }
  size_t find(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(size_t a, size_t b) {
    a = find(a);
    b = find(b);
    last_[a] = last_[a] || last_[b];
    parent_[b] = a;
  }
  void mark(size_t i) { last_[find(i)] = true; }
  std::set<ir::ValueId> last_values() {
    std::set<ir::ValueId> out;
    for (const auto& [value, i] : number_)
      if (last_[find(i)]) out.insert(value);
    return out;
  }

 private:
  std::map<ir::ValueId, size_t> number_;
  std::vector<size_t> parent_;
  std::vector<bool> last_;
};

bool wants_channels_last(const Layer& layer, const ir::Node& anchor) {
  return layer.kind == LayerKind::Resize || ops::traits(anchor).by_channel;
}

bool ties(const ir::Node& node) {
  return !node.is(Op::Transpose, Op::MatMul, Op::Gemm);
}

}  // namespace

std::set<ir::ValueId> channels_last(const ir::Graph& graph, const Region& region) {
  Classes classes;
  auto rank = [&](ir::ValueId v) { return graph.value(v).type.shape.size(); };
  for (const Layer& layer : region.layers) {
    for (ir::NodeId id : layer.nodes) {
      const ir::Node& node = graph.node(id);
      if (!ties(node) || node.outputs.empty() || layer.kind == LayerKind::Reshape) continue;
      for (ir::ValueId in : node.inputs)
        if (in.valid() && !graph.is_constant(in) && rank(in) == rank(node.outputs[0]))
          classes.join(classes.of(in), classes.of(node.outputs[0]));
      for (ir::ValueId out : node.outputs)
        if (rank(out) == rank(node.outputs[0])) classes.join(classes.of(out), classes.of(node.outputs[0]));
    }
    const ir::Node& anchor = graph.node(layer.anchor);
    if (wants_channels_last(layer, anchor)) classes.mark(classes.of(anchor.outputs[0]));
  }
  std::set<ir::ValueId> out = classes.last_values();
  std::erase_if(out, [&](ir::ValueId v) { return rank(v) < 3; });
  return out;
}

namespace {

// What is expected of a region: fp16 but for pairs, and channels last where windows slide.
class Expected {
 public:
  Expected(const ir::Graph& graph, const Region& region)
      : graph_(graph), region_(region), last_(channels_last(graph, region)) {}

  partition::RegionForms forms() const {
    partition::RegionForms out;
    for (ir::ValueId v : region_.inputs) out.inputs.push_back(form(v));
    for (ir::ValueId v : region_.outputs) out.outputs.push_back(form(v));
    return out;
  }

 private:
  partition::DeviceForm form(ir::ValueId v) const {
    const TensorType& type = graph_.value(v).type;
    const auto asked = region_.precisions.find(v);
    const bool wide =
        asked != region_.precisions.end() && asked->second.kind == partition::Precision::Kind::Pair;
    return {v,
            (type.elem == ElementType::F16) == wide,
            last_.contains(v) && partition::moves_channels(type.shape),
            {}};
  }

  const ir::Graph& graph_;
  const Region& region_;
  std::set<ir::ValueId> last_;
};

}  // namespace

partition::RegionForms expected_forms(const ir::Graph& graph, const Region& region) {
  return Expected(graph, region).forms();
}

}  // namespace mrvlc::accel

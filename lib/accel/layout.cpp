// Which values are stored channels last: those that a sliding window reads or writes, and those that
// element-wise layers tie to them, so that no layer in between has to transpose.
#include <numeric>

#include "lowering.h"

namespace mrvlc::accel {
namespace {

class Classes {
 public:
  explicit Classes(size_t n) : parent_(n), last_(n, false) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
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
  bool last(size_t i) { return last_[find(i)]; }

 private:
  std::vector<size_t> parent_;
  std::vector<bool> last_;
};

bool wants_channels_last(const partition::Layer& layer, const ir::Node& anchor) {
  if (layer.kind == "conv" || layer.kind == "conv_transpose" || layer.kind == "pool" ||
      layer.kind == "resize")
    return true;
  return anchor.is("InstanceNormalization") || anchor.is("BatchNormalization") || anchor.is("DepthToSpace") ||
         anchor.is("SpaceToDepth");
}

bool ties(const ir::Node& node) {
  return !(node.is("Transpose") || node.is("MatMul") || node.is("Gemm"));
}

}  // namespace

std::vector<bool> choose_layouts(const ir::Graph& graph, const partition::Region& region) {
  Classes classes(graph.value_slots());
  auto rank = [&](ir::ValueId v) { return graph.value(v).type.shape.size(); };
  for (const partition::Layer& layer : region.layers) {
    for (ir::NodeId id : layer.nodes) {
      const ir::Node& node = graph.node(id);
      if (!ties(node) || node.outputs.empty() || layer.kind == "reshape") continue;
      for (ir::ValueId in : node.inputs)
        if (in.valid() && !graph.is_constant(in) && rank(in) == rank(node.outputs[0]))
          classes.join(in.index(), node.outputs[0].index());
      for (ir::ValueId out : node.outputs)
        if (rank(out) == rank(node.outputs[0])) classes.join(out.index(), node.outputs[0].index());
    }
    const ir::Node& anchor = graph.node(layer.anchor);
    if (wants_channels_last(layer, anchor)) classes.mark(anchor.outputs[0].index());
  }
  std::vector<bool> out(graph.value_slots());
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = classes.last(i) && graph.value(ir::ValueId(i)).type.shape.size() >= 3;
  return out;
}

}  // namespace mrvlc::accel

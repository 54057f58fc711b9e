// Strides with which all readers of an image step over it, followed through its users.
#include "bound/read_strides.h"

#include <algorithm>
#include <set>

#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"

namespace mrvlc::accel {
namespace {

class Strides {
 public:
  Strides(const ir::Graph& graph, const partition::Region& region) : graph_(graph), region_(region) {
    for (const partition::Layer& l : region.layers) inside_.insert(l.nodes.begin(), l.nodes.end());
    outputs_.insert(region.outputs.begin(), region.outputs.end());
  }

  std::map<ir::ValueId, int64_t> run() {
    for (auto layer = region_.layers.rbegin(); layer != region_.layers.rend(); ++layer)
      for (auto node = layer->nodes.rbegin(); node != layer->nodes.rend(); ++node)
        for (ir::ValueId out : graph_.node(*node).outputs)
          if (out.valid()) visit(out);
    return std::move(strides_);
  }

 private:
  void visit(ir::ValueId v) {
    const ir::Value& value = graph_.value(v);
    if (outputs_.contains(v) || value.users.empty() || value.type.shape.size() != 4) return;
    int64_t common = 0;
    for (ir::NodeId user : value.users) {
      int64_t s = inside_.contains(user) ? by(graph_.node(user), v) : 1;
      if (common != 0 && s != common) return;
      common = s;
    }
    if (common > 1) strides_[v] = common;
  }

  int64_t of(ir::ValueId v) const {
    auto it = strides_.find(v);
    return it == strides_.end() ? 1 : it->second;
  }

  int64_t by(const ir::Node& n, ir::ValueId v) const {
    if (n.is(Op::Conv) && n.inputs[0] == v) return by_convolution(n);
    bool same = n.outputs.size() == 1 && graph_.value(n.outputs[0]).type.shape == graph_.value(v).type.shape;
    bool by_element =
        n.is(Op::Add, Op::Sub, Op::Mul, Op::Relu, Op::Clip, Op::LeakyRelu, Op::Sigmoid, Op::HardSwish);
    return same && by_element ? of(n.outputs[0]) : 1;
  }

  int64_t by_convolution(const ir::Node& n) const {
    Result<ops::ConvParams> p = ops::conv_params(ops::infer_context(graph_, n));
    if (!p.ok() || p->kernel != std::vector<int64_t>{1, 1} || p->strides[0] != p->strides[1]) return 1;
    auto none = [](const std::vector<int64_t>& pads) {
      return std::ranges::all_of(pads, [](int64_t x) { return x == 0; });
    };
    return none(p->pads_begin) && none(p->pads_end) ? p->strides[0] * of(n.outputs[0]) : 1;
  }

  const ir::Graph& graph_;
  const partition::Region& region_;
  std::set<ir::NodeId> inside_;
  std::set<ir::ValueId> outputs_;
  std::map<ir::ValueId, int64_t> strides_;
};

}  // namespace

std::map<ir::ValueId, int64_t> read_strides(const ir::Graph& graph, const partition::Region& region) {
  return Strides(graph, region).run();
}

}  // namespace mrvlc::accel

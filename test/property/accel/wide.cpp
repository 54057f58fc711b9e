#include "wide.h"

#include <cmath>
#include <functional>
#include <map>

#include "model.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel_random {
namespace {

using Names = std::initializer_list<Op>;

bool any(const ir::Node& node, Names ops) {
  for (Op op : ops)
    if (node.is(op)) return true;
  return false;
}

bool is_image(const partition::Layer& l) {
  return l.kind == LayerKind::Conv || l.kind == LayerKind::ConvTranspose;
}

// One sentence of the documentation after the other, over all values, until nothing changes.
struct Rules {
  const ir::Graph& g;
  const partition::Region& region;
  std::map<ir::NodeId, const partition::Layer*> layer;
  std::set<ir::ValueId> inputs, all, wanted, barred;
  std::vector<std::pair<ir::ValueId, ir::ValueId>> moved;

  Rules(const ir::Graph& graph, const partition::Region& r) : g(graph), region(r) {
    for (const partition::Layer& l : r.layers)
      for (ir::NodeId n : l.nodes) layer[n] = &l;
    inputs.insert(r.inputs.begin(), r.inputs.end());
    all = inputs;
    for (auto [id, l] : layer)
      for (ir::ValueId v : g.node(id).outputs) all.insert(v);
  }

  bool constant(ir::ValueId v) const { return g.is_constant(v); }
  bool vector(const partition::Layer& l) const {
    return l.kind == LayerKind::Elementwise || l.kind == LayerKind::Reduce || l.kind == LayerKind::Softmax ||
           l.kind == LayerKind::Norm;
  }
  bool product(const partition::Layer& l) const {
    return l.kind == LayerKind::Conv || l.kind == LayerKind::ConvTranspose || l.kind == LayerKind::Fc ||
           l.kind == LayerKind::Matmul;
  }
  bool move(ir::NodeId id) const {
    const partition::Layer& l = *layer.at(id);
    return (l.kind == LayerKind::Move || l.kind == LayerKind::Reshape) && l.nodes.size() == 1 &&
           any(g.node(id), {Op::Transpose, Op::Slice, Op::Split, Op::Expand, Op::Reshape, Op::Flatten,
                            Op::Squeeze, Op::Unsqueeze, Op::Identity});
  }
  double most(ir::ValueId v) const {
    double m = 0;
    for (double d : g.constant(v)->to_doubles()) m = std::max(m, std::fabs(d));
    return m;
  }
  double least(ir::ValueId v) const {
    double m = INFINITY;
    for (double d : g.constant(v)->to_doubles())
      if (d != 0) m = std::min(m, std::fabs(d));
    return m;
  }
  // The constant operand of two; -1: none.
  int side(const ir::Node& n) const {
    if (n.inputs.size() != 2) return -1;
    return constant(n.inputs[1]) ? 1 : constant(n.inputs[0]) ? 0 : -1;
  }
  bool shrinks(const ir::Node& n) const {
    int c = side(n);
    if (c < 0) return false;
    double m = most(n.inputs[static_cast<size_t>(c)]);
    return (n.is(Op::Mul) && m > 0 && m <= 0x1p-12) || (n.is(Op::Div) && c == 1 && m >= 4096);
  }
  bool grows(const ir::Node& n) const {
    if (any(n, {Op::ReduceSum, Op::ReduceSumSquare, Op::ReduceProd})) return true;
    int c = side(n);
    if (c < 0) return false;
    ir::ValueId v = n.inputs[static_cast<size_t>(c)];
    return n.is(Op::Div) ? c == 1 && least(v) <= 0x1p-12
                         : any(n, {Op::Mul, Op::Add, Op::Sub}) && most(v) >= 4096;
  }
  bool summed_square(const ir::Node& n) const {
    bool square = (n.is(Op::Mul) && n.inputs[0] == n.inputs[1]) ||
                  (n.is(Op::Pow) && g.constant(n.inputs[1])->as_double(0) >= 2);
    const auto& users = g.value(n.outputs[0]).users;
    for (ir::NodeId u : users) square = square && layer.contains(u) && layer.at(u)->kind == LayerKind::Reduce;
    return square && !users.empty();
  }
  bool outside(ir::ValueId v, int steps = 8) const {
    if (!v.valid() || constant(v) || inputs.contains(v)) return true;
    ir::NodeId made = g.value(v).producer;
    if (steps == 0 || !layer.contains(made)) return false;
    bool ok = layer.at(made)->kind == LayerKind::Elementwise || move(made);
    for (ir::ValueId in : g.node(made).inputs) ok = ok && outside(in, steps - 1);
    return ok;
  }

  // Operators of a product layer that go into weights and bias.
  size_t folded(const partition::Layer& l) const {
    const ir::Node& anchor = g.node(l.anchor);
    size_t channel = is_image(l) ? 1 : g.value(anchor.outputs[0]).type.shape.size() - 1;
    const Tensor* w = g.constant(anchor.inputs[1]);
    const Tensor* c =
        anchor.is(Op::Gemm) && anchor.inputs.size() > 2 ? g.constant(anchor.inputs[2]) : nullptr;
    bool matrix = c != nullptr && c->shape().size() > 1 && c->shape()[0] != 1;
    bool weights = w != nullptr && (is_image(l) || w->shape().size() == 2);
    return matrix ? 0 : tail_of(g, l, channel, weights, false, true).taken - 1;
  }

  bool wide(ir::ValueId v) const { return wanted.contains(v) && !barred.contains(v); }

  void bar() {
    for (ir::ValueId v : all) {
      const ir::Value& value = g.value(v);
      bool ok = value.type.elem == ElementType::F32;
      if (!inputs.contains(v)) {
        const partition::Layer& l = *layer.at(value.producer);
        if (product(l)) {
          ok = ok && g.node(l.nodes.back()).outputs[0] == v && l.nodes.size() > 1 + folded(l);
        } else {
          ok = ok && (vector(l) || move(value.producer));
        }
      }
      for (ir::NodeId u : value.users) {
        if (!layer.contains(u)) continue;
        const partition::Layer& l = *layer.at(u);
        ok = ok && (vector(l) || (product(l) && u != l.anchor) || move(u));
      }
      if (!ok) barred.insert(v);
    }
    for (auto [id, l] : layer)
      if (move(id))
        for (ir::ValueId v : g.node(id).outputs) moved.emplace_back(g.node(id).inputs[0], v);
    share(barred);
  }

  // What holds of one of two values that a move ties holds of the other.
  void share(std::set<ir::ValueId>& set) const {
    for (size_t before = set.size() + 1; before != set.size();) {
      before = set.size();
      for (auto [a, b] : moved) {
        if (set.contains(a)) set.insert(b);
        if (set.contains(b)) set.insert(a);
      }
    }
  }

  void want_operands() {
    for (auto [id, l] : layer) {
      const ir::Node& n = g.node(id);
      if (shrinks(n)) wanted.insert(n.inputs[static_cast<size_t>(1 - side(n))]);
      if (!any(n, {Op::Softmax, Op::LogSoftmax, Op::ReduceLogSumExp})) continue;
      ir::ValueId x = n.inputs[0];
      if (inputs.contains(x)) wanted.insert(x);
      if (inputs.contains(x) || g.value(x).kind != ir::ValueKind::Result) continue;
      const ir::Node& sum = g.node(g.value(x).producer);
      if (!any(sum, {Op::Add, Op::Sub})) continue;
      for (ir::ValueId in : sum.inputs) {
        if (!(constant(in) ? most(in) >= 1024 : outside(in))) continue;
        wanted.insert(x);
        if (!constant(in)) wanted.insert(in);
      }
    }
  }

  void want_results() {
    for (const partition::Layer& l : region.layers) {
      if (!vector(l) && !product(l)) continue;
      bool large = false;
      for (size_t i = product(l) && folded(l) > 0 ? folded(l) + 1 : 0; i < l.nodes.size(); ++i) {
        const ir::Node& n = g.node(l.nodes[i]);
        bool keeps =
            l.kind == LayerKind::Reduce || any(n, {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Max, Op::Min,
                                                   Op::Neg, Op::Relu, Op::Abs, Op::LeakyRelu, Op::Identity});
        if (any(n, {Op::Mul, Op::Div}) && (side(n) < 0 || shrinks(n))) keeps = false;
        bool reads = false;
        for (ir::ValueId in : n.inputs) reads = reads || (in.valid() && wide(in));
        large = (keeps && (large || reads)) || grows(n) || summed_square(n);
      }
      if (large) wanted.insert(g.node(l.nodes.back()).outputs[0]);
    }
  }
};

}  // namespace

std::set<ir::ValueId> wide_values(const ir::Graph& graph, const partition::Region& region) {
  Rules rules(graph, region);
  rules.bar();
  rules.want_operands();
  for (size_t before = rules.wanted.size() + 1; before != rules.wanted.size();) {
    before = rules.wanted.size();
    rules.share(rules.wanted);
    rules.want_results();
  }
  std::set<ir::ValueId> out;
  for (ir::ValueId v : rules.all)
    if (rules.wide(v)) out.insert(v);
  return out;
}

std::set<ir::ValueId> asked_values(const ir::Graph& graph, const partition::Region& region) {
  std::set<ir::ValueId> out;
  for (const auto& [v, precision] : region.precisions)
    if (!graph.is_constant(v)) out.insert(v);
  for (const partition::Layer& l : region.layers) {
    bool within = out.contains(graph.node(l.nodes.back()).outputs[0]);
    bool product = is_image(l) || l.kind == LayerKind::Fc || l.kind == LayerKind::Matmul;
    for (size_t i = 0; i < 2 && product; ++i) {
      auto p = region.precisions.find(graph.node(l.anchor).inputs[i]);
      within = within || (p != region.precisions.end() && p->second.shift != 0);
    }
    for (size_t i = 0; within && i + 1 < l.nodes.size(); ++i)
      if (!graph.node(l.nodes[i]).is(Op::AveragePool)) out.insert(graph.node(l.nodes[i]).outputs[0]);
  }
  return out;
}

bool fits_half(const Tensor& constant) {
  double norm = 0, lost = 0;
  for (double d : constant.to_doubles()) {
    double error = d - static_cast<double>(narrow(static_cast<float>(d)));
    if (!std::isfinite(d)) continue;
    if (!std::isfinite(error)) return false;
    norm += d * d;
    if (std::fabs(d) < 0x1p-14) lost += error * error;
  }
  return lost <= 0x1p-16 * norm;
}

}  // namespace mrvlc::accel_random

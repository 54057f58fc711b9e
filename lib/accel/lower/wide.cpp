// Which values of a region are stored as fp32: those that fp16 might not hold, where only the vector unit
// reads and writes them. The rules are those of docs/arithmetic.md, "Wide values".
#include <algorithm>
#include <cmath>

#include "lower/lowering.h"
#include "mrvlc/accel/epilogue.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel {
namespace {

// Factors and terms from here on may bring a value beyond 65504, or be there to bring it back.
constexpr double kLarge = 0x1p12;

// Moves that a view does.
bool is_view(const ir::Node& node) {
  return ops::traits(node).moves == ops::Moves::Same ||
         node.is(Op::Transpose, Op::Slice, Op::Split, Op::Expand);
}
bool is_softmax(const ir::Node& node) {
  return node.is(Op::Softmax, Op::LogSoftmax, Op::ReduceLogSumExp);
}
// Sums of many, and products.
bool accumulates(const ir::Node& node) {
  return node.is(Op::ReduceSum, Op::ReduceSumSquare, Op::ReduceProd);
}
// What is large stays so.
bool keeps_large(const ir::Node& node) {
  return node.is(Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Max, Op::Min, Op::Neg, Op::Relu, Op::Abs,
                 Op::LeakyRelu, Op::Identity);
}

// Whether the vector unit computes layers of the kind.
bool is_vector_kind(LayerKind kind) {
  switch (kind) {
    case LayerKind::Elementwise:
    case LayerKind::Reduce:
    case LayerKind::Softmax:
    case LayerKind::Norm:
      return true;
    case LayerKind::Conv:
    case LayerKind::ConvTranspose:
    case LayerKind::Fc:
    case LayerKind::Matmul:
    case LayerKind::QlinearConv:
    case LayerKind::IntegerConv:
    case LayerKind::Dequantize:
    case LayerKind::Pool:
    case LayerKind::Resize:
    case LayerKind::Concat:
    case LayerKind::Move:
    case LayerKind::Reshape:
      return false;
  }
  return false;
}
bool is_move_kind(LayerKind kind) {
  return kind == LayerKind::Move || kind == LayerKind::Reshape;
}

struct Range {
  double least = 0, most = 0;  // magnitudes
};

class Wide {
 public:
  Wide(const ir::Graph& graph, const partition::Region& region) : g_(graph), region_(region) {
    for (const partition::Layer& l : region.layers)
      for (ir::NodeId n : l.nodes) layer_of_[n] = &l;
    inputs_.insert(region.inputs.begin(), region.inputs.end());
  }

  WideValues run() {
    for (const partition::Layer& l : region_.layers) join_views(l);
    for (const partition::Layer& l : region_.layers) seed(l);
    for (const partition::Layer& l : region_.layers) spread(l);
    WideValues out;
    for (const auto& [value, parent] : parent_)
      if (is_wide(value)) out.values.insert(value);
    // Numbers that integers stand for leave as they are; within the region whoever reads them converts.
    for (const partition::Layer& l : region_.layers)
      if (l.kind == LayerKind::Dequantize && leaves(g_.node(l.anchor).outputs[0]))
        out.values.insert(g_.node(l.anchor).outputs[0]);
    for (ir::NodeId n : strained_)
      if (!is_wide(g_.node(n).outputs[0])) out.strained.push_back(n);
    return out;
  }

 private:
  bool leaves(ir::ValueId v) const { return std::ranges::find(region_.outputs, v) != region_.outputs.end(); }

  // Values that are the same bytes have one type.
  ir::ValueId root(ir::ValueId v) {
    auto it = parent_.try_emplace(v, v).first;
    return it->second == v ? v : it->second = root(it->second);
  }
  void join_views(const partition::Layer& l) {
    const ir::Node& node = g_.node(l.anchor);
    for (ir::ValueId v : node.outputs)
      if (v.valid()) members_[root(v)].push_back(v);
    if (!partition::is_view(g_, l)) return;
    ir::ValueId in = root(node.inputs[0]);
    if (members_[in].empty()) members_[in].push_back(node.inputs[0]);
    for (ir::ValueId v : node.outputs) {
      if (!v.valid() || root(v) == in) continue;
      auto& moved = members_[root(v)];
      members_[in].insert(members_[in].end(), moved.begin(), moved.end());
      moved.clear();
      parent_[root(v)] = in;
    }
  }

  void want(ir::ValueId v) {
    if (v.valid() && !g_.is_constant(v)) wanted_.insert(root(v));
  }
  bool is_wide(ir::ValueId v) {
    return v.valid() && !g_.is_constant(v) && wanted_.contains(root(v)) && possible(root(v));
  }

  bool possible(ir::ValueId of_root) {
    auto [it, fresh] = possible_.try_emplace(of_root, true);
    if (!fresh) return it->second;
    std::vector<ir::ValueId> members = members_[of_root];
    if (members.empty()) members.push_back(of_root);
    bool ok = std::ranges::all_of(members, [&](ir::ValueId v) { return can_be_wide(v); });
    return possible_[of_root] = ok;
  }

  bool can_be_wide(ir::ValueId v) {
    const ir::Value& value = g_.value(v);
    if (value.type.elem != ElementType::F32) return false;
    bool made_here = value.kind == ir::ValueKind::Result && layer_of_.contains(value.producer);
    if (!made_here && !inputs_.contains(v)) return false;
    if (made_here && !written_by_vector_unit(v, *layer_of_.at(value.producer))) return false;
    return std::ranges::all_of(value.users, [&](ir::NodeId user) {
      auto it = layer_of_.find(user);
      return it == layer_of_.end() || read_by_vector_unit(v, g_.node(user), *it->second);
    });
  }

  bool written_by_vector_unit(ir::ValueId v, const partition::Layer& l) {
    if (is_vector_kind(l.kind)) return true;
    bool last = g_.node(l.nodes.back()).outputs[0] == v;
    if (multiplies(l.kind))  // an operator that does not go into weights and bias
      return last && l.nodes.size() > 1 + accel::fold_constants(g_, l).nodes;
    return l.nodes.size() == 1 && is_view(g_.node(l.anchor)) && is_move_kind(l.kind);
  }

  bool read_by_vector_unit(ir::ValueId v, const ir::Node& user, const partition::Layer& l) {
    if (is_vector_kind(l.kind)) return user.inputs[0] == v || l.kind == LayerKind::Elementwise;
    if (multiplies(l.kind)) return user.id != l.anchor;
    return l.nodes.size() == 1 && is_view(user) && user.inputs[0] == v;
  }

  // Magnitudes of a constant; of a value computed at run time nothing is known.
  std::optional<Range> range_of(ir::ValueId v) const {
    const Tensor* t = v.valid() ? g_.constant(v) : nullptr;
    if (t == nullptr || t->elements() == 0 || !is_float(t->elem())) return std::nullopt;
    Range r{INFINITY, 0};
    for (int64_t i = 0; i < t->elements(); ++i) {
      double size = std::fabs(t->as_double(i));
      r.most = std::max(r.most, size);
      if (size > 0) r.least = std::min(r.least, size);
    }
    return r;
  }

  std::optional<Range> constant_of(const ir::Node& n, size_t& at) const {
    if (n.inputs.size() != 2) return std::nullopt;
    at = g_.is_constant(n.inputs[1]) ? 1 : 0;
    return range_of(n.inputs[at]);
  }

  // A factor or a term that may bring the result beyond fp16.
  bool grows(const ir::Node& n) const {
    if (accumulates(n)) return true;
    size_t at = 0;
    std::optional<Range> c = constant_of(n, at);
    if (!c) return false;
    if (n.is(Op::Div)) return at == 1 && c->least > 0 && c->least <= 1 / kLarge;
    return n.is(Op::Mul, Op::Add, Op::Sub) && c->most >= kLarge;
  }

  // A factor that brings back what may be beyond fp16.
  bool shrinks(const ir::Node& n) const {
    size_t at = 0;
    std::optional<Range> c = constant_of(n, at);
    if (!c) return false;
    if (n.is(Op::Div)) return at == 1 && c->most >= kLarge;
    return n.is(Op::Mul) && c->most > 0 && c->most <= 1 / kLarge;
  }

  bool is_square(const ir::Node& n) const {
    if (n.is(Op::Mul)) return n.inputs.size() == 2 && n.inputs[0] == n.inputs[1];
    return n.is(Op::Pow) && n.inputs.size() == 2 && range_of(n.inputs[1]).has_value() &&
           g_.constant(n.inputs[1])->as_double(0) >= 2;
  }

  bool only_summed(ir::ValueId v) const {
    const auto& users = g_.value(v).users;
    return !users.empty() && std::ranges::all_of(users, [&](ir::NodeId u) {
      return layer_of_.contains(u) && layer_of_.at(u)->kind == LayerKind::Reduce;
    });
  }

  // What comes from outside the region, or was made from that alone by element-wise operators: a mask, not
  // the scores that it is added to.
  bool comes_from_outside(ir::ValueId v, int depth = 8) const {
    if (!v.valid() || g_.is_constant(v) || inputs_.contains(v)) return true;
    const ir::Value& value = g_.value(v);
    auto it = layer_of_.find(value.producer);
    if (depth == 0 || it == layer_of_.end()) return false;
    const ir::Node& n = g_.node(value.producer);
    if (it->second->kind != LayerKind::Elementwise && !is_view(n)) return false;
    return std::ranges::all_of(n.inputs, [&](ir::ValueId in) { return comes_from_outside(in, depth - 1); });
  }

  // Scores + mask: in fp16 a mask of -1e4 takes all digits from the scores of a row that is masked
  // altogether, and one of -1e5 is infinite.
  void seed_mask(ir::ValueId scores) {
    if (inputs_.contains(scores)) return want(scores);
    const ir::Value& value = g_.value(scores);
    if (value.kind != ir::ValueKind::Result) return;
    const ir::Node& n = g_.node(value.producer);
    if (!n.is(Op::Add, Op::Sub) || n.inputs.size() != 2) return;
    for (ir::ValueId operand : n.inputs) {
      std::optional<Range> c = range_of(operand);
      bool mask = c ? c->most >= kLarge / 4 : comes_from_outside(operand);
      if (!mask) continue;
      want(scores);
      if (!c) want(operand);
    }
  }

  void seed(const partition::Layer& l) {
    for (ir::NodeId id : l.nodes) {
      const ir::Node& n = g_.node(id);
      if (is_softmax(n)) seed_mask(n.inputs[0]);
      if (!shrinks(n)) continue;
      ir::ValueId large = n.inputs[g_.is_constant(n.inputs[1]) ? 0 : 1];
      want(large);
      const ir::Value& value = g_.value(large);
      bool stored_here = value.kind == ir::ValueKind::Result && layer_of_.contains(value.producer) &&
                         layer_of_.at(value.producer) != layer_of_.at(id);
      if (stored_here) strained_.push_back(value.producer);
    }
  }

  void spread(const partition::Layer& l) {
    if (!is_vector_kind(l.kind) && !multiplies(l.kind)) return;
    bool beyond = false, by_constant = false;
    // What goes into weights and bias was found to fit.
    size_t folded = multiplies(l.kind) ? accel::fold_constants(g_, l).nodes : 0;
    for (size_t i = folded == 0 ? 0 : folded + 1; i < l.nodes.size(); ++i) {
      ir::NodeId id = l.nodes[i];
      const ir::Node& n = g_.node(id);
      bool keeps = keeps_large(n) || (l.kind == LayerKind::Reduce && id == l.anchor);
      bool wide = std::ranges::any_of(n.inputs, [&](ir::ValueId v) { return is_wide(v); });
      bool two_activations =
          n.inputs.size() == 2 && !g_.is_constant(n.inputs[0]) && !g_.is_constant(n.inputs[1]);
      if (n.is(Op::Mul, Op::Div) && (two_activations || shrinks(n))) keeps = false;
      beyond = (keeps && (beyond || wide)) || grows(n) || (is_square(n) && only_summed(n.outputs[0]));
      by_constant = beyond && (by_constant || (grows(n) && !accumulates(n)));
    }
    if (beyond) want(g_.node(l.nodes.back()).outputs[0]);
    if (by_constant) strained_.push_back(l.nodes.back());
  }

  const ir::Graph& g_;
  const partition::Region& region_;
  std::map<ir::NodeId, const partition::Layer*> layer_of_;
  std::set<ir::ValueId> inputs_, wanted_;
  std::vector<ir::NodeId> strained_;  // their results are wanted wide because of a constant
  std::map<ir::ValueId, ir::ValueId> parent_;
  std::map<ir::ValueId, std::vector<ir::ValueId>> members_;
  std::map<ir::ValueId, bool> possible_;
};

}  // namespace

namespace {

// What is not plain fp16 is fp32 in memory, and so is what a layer stores on the way to it; averages are
// fp16.
void add_asked(const ir::Graph& graph, const partition::Region& region, WideValues& wide) {
  for (const auto& [value, precision] : region.precisions)
    if (!graph.is_constant(value)) wide.asked.insert(value);
  auto shifted = [&](ir::ValueId v) {
    auto asked = region.precisions.find(v);
    return asked != region.precisions.end() && asked->second.shift != 0;
  };
  for (const partition::Layer& l : region.layers) {
    const auto& operands = graph.node(l.anchor).inputs;
    bool scaled = multiplies(l.kind) && (shifted(operands[0]) || shifted(operands[1]));
    if (!scaled && !wide.asked.contains(graph.node(l.nodes.back()).outputs[0])) continue;
    for (ir::NodeId n : l.nodes)
      if (n != l.nodes.back() && !graph.node(n).is(Op::AveragePool))
        wide.asked.insert(graph.node(n).outputs[0]);
  }
  wide.values.insert(wide.asked.begin(), wide.asked.end());
  std::erase_if(wide.strained, [&](ir::NodeId n) { return wide.values.contains(graph.node(n).outputs[0]); });
}

}  // namespace

WideValues choose_wide(const ir::Graph& graph, const partition::Region& region) {
  WideValues out = Wide(graph, region).run();
  add_asked(graph, region, out);
  return out;
}

}  // namespace mrvlc::accel

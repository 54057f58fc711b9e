// Values that are rounded to integers next must not come from fp16: an error of a thousandth becomes one of a
// whole unit. This concerns quantised networks written with QuantizeLinear, and networks of integers written
// in floats. What is between two roundings stays on the CPU; products further up, whose own results are not
// rounded, do not. Nor do integers, which are stored as they are. Arithmetic between DequantizeLinear and
// QuantizeLinear may be exact in one layer (ExactChain): it is computed in fp32, step for step as ONNX says.
// What a QuantizeLinear makes of a product of floats is another matter: that sum is not exact to begin with,
// its order is nobody's promise, and a network that is quantised in part has such a place behind each of its
// layers in floats.
#include <algorithm>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "placement.h"

namespace mrvlc::partition {
namespace {

class ExactChains {
 public:
  explicit ExactChains(Placement& p) : p_(p), g_(p.graph) {}

  void find() {
    for (ir::NodeId id : p_.order) {
      const ir::Node& n = g_.node(id);
      if (n.is(Op::QuantizeLinear) && converts_bytes(n, n.outputs[0])) take_chain(n);
    }
  }

 private:
  // A QuantizeLinear or DequantizeLinear of one scale.
  bool converts_bytes(const ir::Node& n, ir::ValueId integers) const {
    const Tensor* scale = g_.constant(n.inputs[1]);
    return scale != nullptr && scale->elements() == 1 && scale->elem() == ElementType::F32 &&
           is_byte(g_.value(integers).type.elem);
  }
  bool is_dequantized(ir::ValueId v) const {
    const ir::Value& value = g_.value(v);
    if (value.kind != ir::ValueKind::Result) return false;
    const ir::Node& n = g_.node(value.producer);
    return n.is(Op::DequantizeLinear) && converts_bytes(n, n.inputs[0]);
  }

  // One step of fp32 for each element, the same everywhere.
  static bool is_function(const ir::Node& n) { return n.is(Op::Relu, Op::Clip, Op::Abs, Op::Neg); }
  // Any function of integers of 8 bits is a table of 256.
  bool is_table(const ir::Node& n) const {
    return ops::op_def(n).scalar != nullptr && !n.inputs.empty() && !g_.is_constant(n.inputs[0]) &&
           std::all_of(n.inputs.begin() + 1, n.inputs.end(), [&](ir::ValueId v) {
             return !v.valid() || (g_.is_constant(v) && g_.value(v).type.elements() == 1);
           });
  }
  static bool is_beginning(const ir::Node& n) {
    return is_function(n) || n.is(Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Min) ||
           n.is(Op::MaxPool, Op::AveragePool, Op::GlobalAveragePool, Op::GlobalMaxPool);
  }

  // Functions of what the beginning makes of integers, up to the QuantizeLinear.
  void take_chain(const ir::Node& quantize) {
    std::vector<ir::NodeId> chain = {quantize.id};
    size_t arithmetic = 0;  // steps with a constant
    bool tables = false;
    for (ir::ValueId v = quantize.inputs[0]; !is_dequantized(v);) {
      const ir::Value& value = g_.value(v);
      if (value.kind != ir::ValueKind::Result || g_.use_count(v) != 1) return;
      const ir::Node& n = g_.node(value.producer);
      chain.push_back(n.id);
      if (is_sum(n) && arithmetic > 0 && !tables) break;
      if (!is_function(n) && !is_beginning(n)) {
        if (!is_table(n)) return;
        tables = true;
        v = n.inputs[0];
        continue;
      }
      const bool constant =
          n.inputs.size() == 2 && g_.is_constant(n.inputs[0]) != g_.is_constant(n.inputs[1]);
      v = n.inputs[constant && g_.is_constant(n.inputs[0]) ? 1 : 0];
      if (is_function(n)) continue;
      if (constant && !is_dequantized(v)) {
        ++arithmetic;
        continue;
      }
      const bool of_integers = std::ranges::all_of(
          n.inputs, [&](ir::ValueId in) { return !in.valid() || g_.is_constant(in) || is_dequantized(in); });
      if (!of_integers || arithmetic > 0 || tables) return;
      break;
    }
    add(std::move(chain));
  }

  void add(std::vector<ir::NodeId> nodes) {
    ExactChain chain{std::move(nodes), {}};
    for (ir::NodeId n : chain.nodes) {
      p_.constraints[n.index()].exact_chain = static_cast<uint32_t>(p_.exact_chains.size());
      for (ir::ValueId v : g_.node(n).inputs)
        if (v.valid() && is_dequantized(v)) chain.integers.push_back(g_.value(v).producer);
    }
    p_.exact_chains.push_back(std::move(chain));
  }

  // Of products of integers, as a number.
  bool is_sum(const ir::Node& n) const {
    const ir::Value& value = g_.value(n.inputs[0]);
    return n.is(Op::Cast) && value.kind == ir::ValueKind::Result &&
           g_.node(value.producer).is(Op::ConvInteger);
  }

  Placement& p_;
  const ir::Graph& g_;
};

bool in_region(const Placement& p, ir::NodeId n, const Region& region) {
  const NodeDecision& d = p.decisions[n.index()];
  return d.accelerator && d.region == region.id;
}

// A layer that takes one of the chain's nodes reads its integers themselves: they are converted in its
// region.
bool reads_integers(const Placement& p, const ExactChain& chain, const Region& region) {
  return std::ranges::all_of(chain.integers, [&](ir::NodeId n) { return in_region(p, n, region); });
}

// Integers become numbers here, and what is made of them elsewhere, where they arrive as fp16, is rounded.
bool leaves_as_numbers(const Placement& p, ir::NodeId n, const Region& region) {
  const ir::Node& node = p.graph.node(n);
  return node.is(Op::DequantizeLinear) &&
         std::ranges::any_of(p.graph.value(node.outputs[0]).users, [&](ir::NodeId user) {
           return !p.constraints[user.index()].rounded_by.empty() && !in_region(p, user, region);
         });
}

// A QuantizeLinear of numbers that are made elsewhere: there they are integers without being fp16 first.
bool arrives_as_numbers(const Placement& p, ir::NodeId n, const Region& region) {
  const ir::Node& node = p.graph.node(n);
  if (!node.is(Op::QuantizeLinear) || p.graph.is_constant(node.inputs[0])) return false;
  const ir::NodeId by = p.graph.value(node.inputs[0]).producer;
  return !by.valid() || !in_region(p, by, region);
}

bool is_rounded(const Placement& p, const Layer& layer, const Region& region) {
  return std::ranges::any_of(layer.nodes, [&](ir::NodeId n) {
    const NodeConstraints& c = p.constraints[n.index()];
    if (!c.accel_pattern.empty()) return false;
    const ExactChain* chain = exact_chain(p, n);
    if (chain != nullptr) return !reads_integers(p, *chain, region);
    return leaves_as_numbers(p, n, region) || arrives_as_numbers(p, n, region);
  });
}

std::string name_of(const ir::Node& rounder) {
  return fmt::format("'{}' ({})", printable(rounder.name), rounder.op->name);
}

// By which node a node's result is rounded; of integers that leave as numbers, what their reader makes of
// them.
std::string rounder_of(const Placement& p, ir::NodeId n) {
  const std::string& own = p.constraints[n.index()].rounded_by;
  if (!own.empty()) return own;
  for (ir::NodeId user : p.graph.value(p.graph.node(n).outputs[0]).users)
    if (const std::string& by = p.constraints[user.index()].rounded_by; !by.empty()) return by;
  return name_of(p.graph.node(n));
}

void give_back(Placement& p, const Layer& layer) {
  p.layers[p.layer_of[layer.anchor.index()]].nodes.clear();
  for (ir::NodeId n : layer.nodes) {
    p.layer_of[n.index()] = Placement::kNone;
    NodeDecision& d = p.decision(n);
    d.rule.clear();
    d.why = Why::Rounded;
    d.reason = rounded_reason(rounder_of(p, n));
  }
}

// Integers that are sums of products, as numbers.
bool reads_sums(const ir::Graph& g, const ir::Node& n) {
  if (!n.is(Op::Cast) || g.value(n.inputs[0]).kind != ir::ValueKind::Result) return false;
  return ops::traits(g.node(g.value(n.inputs[0]).producer)).sums_products;
}

// Numbers that come from sums of products, by value. Those of integers (integer-products makes them of
// floats) are exact, what follows them need not be.
std::vector<bool> sums_of_products(const Placement& p) {
  std::vector<bool> out(p.graph.value_slots(), false);
  for (ir::NodeId id : p.order) {
    const ir::Node& n = p.graph.node(id);
    const bool is_sum =
        reads_sums(p.graph, n) || ops::traits(n).sums_products ||
        std::ranges::any_of(n.inputs, [&](ir::ValueId v) { return v.valid() && out[v.index()]; });
    for (ir::ValueId v : n.outputs)
      if (v.valid()) out[v.index()] = is_sum && is_float(p.graph.value(v).type.elem);
  }
  return out;
}

// Rounds what is not exact to begin with.
bool tolerates(const Placement& p, const ir::Node& n, const std::vector<bool>& is_sum) {
  return n.is(Op::QuantizeLinear) && is_byte(p.graph.value(n.outputs[0]).type.elem) &&
         is_sum[n.inputs[0].index()] && exact_chain(p, n.id) == nullptr;
}

}  // namespace

const ExactChain* exact_chain(const Placement& p, ir::NodeId node) {
  const uint32_t at = p.constraints[node.index()].exact_chain;
  return at == UINT32_MAX ? nullptr : &p.exact_chains[at];
}

std::string rounded_reason(const std::string& rounder) {
  return fmt::format(
      "It is rounded to integers next, by {}: an error of fp16 would become one of a whole unit.", rounder);
}

void find_roundings(Placement& p) {
  ExactChains(p).find();
  const std::vector<bool> is_sum = sums_of_products(p);
  std::vector<ir::NodeId> next(p.graph.node_slots());  // the node that rounds a result, by the node it is of
  for (auto it = p.order.rbegin(); it != p.order.rend(); ++it) {
    const ir::Node& node = p.graph.node(*it);
    if (tolerates(p, node, is_sum)) continue;
    for (ir::ValueId out : node.outputs) {
      if (!out.valid() || is_integer(p.graph.value(out).type.elem)) continue;
      for (ir::NodeId user : p.graph.value(out).users) {
        const ir::Node& reader = p.graph.node(user);
        if (exact_chain(p, user) != nullptr || tolerates(p, reader, is_sum)) continue;
        // Sums of products are where values come from; everything else hands on what it was given.
        if (ops::rounds_to_integers(p.graph, reader)) {
          next[node.id.index()] = user;
        } else if (!ops::traits(reader).sums_products && next[user.index()].valid()) {
          next[node.id.index()] = next[user.index()];
        }
      }
    }
    // What rounds must be given its operand as it is, too.
    if (ops::rounds_to_integers(p.graph, node)) next[node.id.index()] = node.id;
    if (const ExactChain* chain = exact_chain(p, node.id)) next[node.id.index()] = chain->nodes.front();
    if (!next[node.id.index()].valid()) continue;
    p.constraints[node.id.index()].rounded_by = name_of(p.graph.node(next[node.id.index()]));
  }
}

bool give_back_rounded(Placement& p, const Partition& formed) {
  bool any = false;
  for (const Region& region : formed.regions) {
    if (!p.parts[region.accelerator]->half()) continue;
    for (const Layer& layer : region.layers) {
      if (!is_rounded(p, layer, region)) continue;
      give_back(p, layer);
      any = true;
    }
  }
  if (any) drop_empty_layers(p);
  return any;
}

}  // namespace mrvlc::partition

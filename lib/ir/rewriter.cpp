// New nodes with their lineage, uses replaced while outputs keep their names, unused constants let go.
#include "mrvlc/ir/rewriter.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "mrvlc/ir/lineage.h"

namespace mrvlc::ir {

NodeId Rewriter::create(const OpSchema& op, std::vector<ValueId> inputs, std::vector<Attr> attrs,
                        std::vector<TensorType> types, std::span<const NodeId> from, std::string name) {
  assert(!from.empty() && "a new node names the nodes it comes from");
  Lineage lineage;
  lineage.from.assign(from.begin(), from.end());
  lineage.pass = pass_;  // its sources follow, once the pass is done: most of a merged chain do not live on
  const Node& last = graph_.node(from.back());
  if (name.empty()) name = last.name;
  // A copy: add_node() may move the nodes.
  int64_t position = last.position;
  NodeId id = graph_.add_node(op, std::move(name), std::move(inputs), std::move(attrs), std::move(types), {},
                              std::move(lineage));
  graph_.nodes_[id.index()].position = position;
  made_.push_back(id);
  changed_ = true;
  return id;
}

void Rewriter::place_at(NodeId node, NodeId at) {
  graph_.nodes_[node.index()].position = graph_.node(at).position;
}

// In a chain that is merged node by node, each result comes from all before it: written down for each, the
// sources would grow with the square of the chain. So nodes that did not outlive their pass have none of
// their own.
void Rewriter::settle_sources() {
  for (NodeId id : made_) {
    if (graph_.node(id).erased) continue;
    Lineage& lineage = graph_.lineage_[id.index()];
    lineage.sources = sources_of(graph_, lineage.from);
  }
  made_.clear();
}

ValueId Rewriter::constant(Tensor tensor, std::span<const NodeId> from, std::string name) {
  // Folded constants get a name of their own: the folded value may still be read under its old one.
  ValueId id = graph_.add_constant({}, std::move(tensor));
  Value& v = graph_.values_[id.index()];
  if (!name.empty()) v.name += "." + name;
  v.made_from.assign(from.begin(), from.end());
  changed_ = true;
  return id;
}

void Rewriter::release_if_unused(ValueId constant) {
  Value& v = graph_.values_[constant.index()];
  if (v.kind != ValueKind::Constant || v.released || graph_.use_count(constant) != 0) return;
  v.tensor.reset();
  v.released = true;
}

Tensor Rewriter::take(ValueId constant) {
  Value& v = graph_.values_[constant.index()];
  assert(v.kind == ValueKind::Constant && graph_.use_count(constant) == 1);
  Tensor taken = v.constant();  // shares its bytes, until the value lets them go
  v.tensor.reset();
  return taken;
}

void Rewriter::discard(ValueId constant) {
  Value& v = graph_.values_[constant.index()];
  assert(v.kind == ValueKind::Constant);
  v.tensor.reset();
  v.released = true;
}

void Rewriter::replace_all_uses(ValueId old, ValueId now) {
  if (old == now) return;
  assert(graph_.value(old).type == graph_.value(now).type);
  while (!graph_.value(old).users.empty()) {
    NodeId user = graph_.value(old).users.back();
    size_t input = graph_.value(old).user_inputs.back();
    graph_.drop_use(user, input);
    graph_.nodes_[user.index()].inputs[input] = now;
    graph_.add_use(user, input);
  }
  changed_ = true;
  Value& from = graph_.values_[old.index()];
  Value& to = graph_.values_[now.index()];
  // The interface keeps its names: an output that is another output, an input or a constant stays a node of
  // its own (its producer is kept by the caller), and an input that is an output too stays both.
  if (graph_.is_output(old) && from.kind == ValueKind::Result && to.kind == ValueKind::Result &&
      !graph_.is_output(now)) {
    std::swap(from.name, to.name);
    std::replace(graph_.outputs_.begin(), graph_.outputs_.end(), old, now);
    std::swap(from.output_uses, to.output_uses);
  }
  release_if_unused(old);
}

void Rewriter::set_input(NodeId node, size_t i, ValueId value) {
  ValueId old = graph_.node(node).inputs[i];
  if (old == value) return;
  graph_.drop_use(node, i);
  graph_.nodes_[node.index()].inputs[i] = value;
  graph_.add_use(node, i);
  if (old.valid()) release_if_unused(old);
  changed_ = true;
}

void Rewriter::set_type(ValueId value, TensorType type) {
  Value& v = graph_.values_[value.index()];
  if (v.type == type) return;
  v.type = std::move(type);
  changed_ = true;
}

void Rewriter::erase(NodeId node, Because because) {
  Node& n = graph_.nodes_[node.index()];
  assert(!n.erased);
  for ([[maybe_unused]] ValueId out : n.outputs) assert(graph_.use_count(out) == 0);
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    graph_.drop_use(node, i);
    if (n.inputs[i].valid()) release_if_unused(n.inputs[i]);
  }
  n.inputs.clear();
  n.use_at.clear();
  n.erased = true;
  Lineage& lineage = graph_.lineage_[node.index()];
  lineage.erased_because = because.text;
  lineage.folded = because.folded;
  if (!lineage.from.empty()) std::vector<SourceId>().swap(lineage.sources);  // they follow from `from`
  changed_ = true;
}

}  // namespace mrvlc::ir

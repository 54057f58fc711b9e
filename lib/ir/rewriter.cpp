#include "mrvlc/ir/rewriter.h"

#include <algorithm>
#include <cassert>

namespace mrvlc::ir {

NodeId Rewriter::create(const OpSchema& op, std::vector<ValueId> inputs, std::vector<Attr> attrs,
                        std::vector<TensorType> types, std::span<const NodeId> from, std::string name) {
  assert(!from.empty() && "a new node names the nodes it comes from");
  Lineage lineage;
  lineage.from.assign(from.begin(), from.end());
  lineage.pass = pass_;
  for (NodeId f : from) {
    const auto& sources = graph_.lineage(f).sources;
    lineage.sources.insert(lineage.sources.end(), sources.begin(), sources.end());
  }
  const Node& last = graph_.node(from.back());
  if (name.empty()) name = last.name;
  int64_t position = last.position;
  NodeId id = graph_.add_node(op, std::move(name), std::move(inputs), std::move(attrs), std::move(types), {},
                              std::move(lineage));
  graph_.nodes_[id.index()].position = position;
  changed_ = true;
  return id;
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

void Rewriter::drop_use(ValueId value, NodeId user) {
  if (!value.valid()) return;
  auto& users = graph_.values_[value.index()].users;
  auto it = std::find(users.begin(), users.end(), user);
  assert(it != users.end());
  users.erase(it);
}

void Rewriter::replace_all_uses(ValueId old, ValueId now) {
  if (old == now) return;
  Value& from = graph_.values_[old.index()];
  Value& to = graph_.values_[now.index()];
  assert(from.type == to.type);
  for (NodeId user : from.users) {
    for (ValueId& in : graph_.nodes_[user.index()].inputs) {
      if (in == old) in = now;
    }
    to.users.push_back(user);
  }
  from.users.clear();
  bool was_output = graph_.is_output(old);
  bool now_fixed = to.kind != ValueKind::Result || graph_.is_output(now);
  if (was_output && now_fixed) {
    // The interface keeps its names: an output that is another output, an input or a constant stays a node of its own
    // (its producer is kept by the caller).
    changed_ = true;
    return;
  }
  if (was_output) {
    std::swap(from.name, to.name);
    std::replace(graph_.outputs_.begin(), graph_.outputs_.end(), old, now);
  }
  changed_ = true;
}

void Rewriter::set_input(NodeId node, size_t i, ValueId value) {
  ValueId& in = graph_.nodes_[node.index()].inputs[i];
  if (in == value) return;
  drop_use(in, node);
  in = value;
  if (value.valid()) graph_.values_[value.index()].users.push_back(node);
  changed_ = true;
}

void Rewriter::set_type(ValueId value, TensorType type) {
  Value& v = graph_.values_[value.index()];
  if (v.type == type) return;
  v.type = std::move(type);
  changed_ = true;
}

void Rewriter::erase(NodeId node, std::string_view because) {
  Node& n = graph_.nodes_[node.index()];
  assert(!n.erased);
  for ([[maybe_unused]] ValueId out : n.outputs) assert(graph_.use_count(out) == 0);
  for (ValueId in : n.inputs) drop_use(in, node);
  n.inputs.clear();
  n.erased = true;
  graph_.lineage_[node.index()].erased_because = because;
  changed_ = true;
}

}  // namespace mrvlc::ir

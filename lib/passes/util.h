// Small questions and steps that several passes share.
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "mrvlc/ir/rewriter.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/passes/pass.h"

namespace mrvlc::passes {

using ir::Attr;
using ir::Because;
using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Rewriter;
using ir::ValueId;

// The node that produces `value` when it is a live node of that operator, else nullptr.
const Node* producer(const Graph& graph, ValueId value);
const Node* producer_of(const Graph& graph, ValueId value, Op op);
// One use in all, by a node: nobody else notices when the value disappears.
bool single_use(const Graph& graph, ValueId value);
inline ValueId input_or_none(const Node& n, size_t i) {
  return i < n.inputs.size() ? n.inputs[i] : ValueId();
}
inline const TensorType& type_of(const Graph& graph, ValueId value) {
  return graph.value(value).type;
}
// The number that every element of a float or integer constant has; nullopt: not a constant, empty, not
// uniform, or of more than 65536 elements.
std::optional<double> uniform_constant(const Graph& graph, ValueId value);
// The value that every element of a constant of Bool has; nullopt: not a constant, empty, or not uniform.
std::optional<bool> uniform_condition(const Graph& graph, ValueId value);
// Exact small integers of a constant; nullopt when it is not known.
std::optional<std::vector<int64_t>> constant_ints(const Graph& graph, ValueId value);
Tensor ints_tensor(const std::vector<int64_t>& values);
Tensor scalar_tensor(ElementType elem, double value);

using AttrList = std::initializer_list<std::pair<std::string_view, Attr>>;
// A node with one result; attributes not listed have their defaults. `name` empty: that of the last of
// `from`.
ValueId make(Rewriter& rw, Op op, std::vector<ValueId> inputs, TensorType type,
             std::initializer_list<NodeId> from, AttrList attrs = {}, std::string name = {});
// All uses of the single used output of `node` read `now` instead and the node is erased. When the output is
// part of the model's interface and `now` cannot take its name over, an Identity of `now` stays in its place.
// Returns whether the graph changed. Does nothing when the types differ.
bool bypass(Rewriter& rw, NodeId node, ValueId now, Because because);
// Erases the producer of `value` if nothing reads any of its outputs any more.
void erase_if_unused(Rewriter& rw, NodeId node, Because because);
// Nodes a constant was made from, `node` first, at most 64 of them: chains of folding do not grow without
// bound.
std::vector<NodeId> origins(const Graph& graph, std::initializer_list<NodeId> nodes,
                            std::initializer_list<ValueId> constants);

// A QuantizeLinear or DequantizeLinear with constant parameters, scales of float32 and no blocks; `node`
// invalid: none.
struct QuantizeStep {
  NodeId node;
  ValueId data, scale, zero;

  explicit operator bool() const { return node.valid(); }
};

// `one_scale`: of one scale for all elements.
QuantizeStep quantize_step(const Graph& graph, const Node* node, bool one_scale);

// Whether the context reserves one of these nodes; an invalid id is none.
bool reserves(const PassContext& context, const Graph& graph, std::initializer_list<NodeId> nodes);

// No shape is known at run time only, and none depends on an operand that is no constant.
bool is_static(const Graph& graph, const Node& node);

// An anchor says of a node, by its operator if that is enough, whether a rewrite may begin there.
template <Op... kinds>
bool is_any(const Node& n) {
  return n.is(kinds...);
}

// Whether any live node is one. Most passes find none in most graphs, and need no order then.
template <class Anchor>
bool has_anchor(const Graph& graph, const Anchor& anchor) {
  for (size_t i = 0; i < graph.node_slots(); ++i) {
    const Node& n = graph.node(NodeId(i));
    if (!n.erased && anchor(n)) return true;
  }
  return false;
}

// Offers every anchor, producers first, to the rewrites in turn until one of them applies: for rewrites that
// are right whatever the dimensions that are dynamic. Nodes made on the way are not offered again: one call
// is linear, and the pipelines come back. Where there is no anchor, rewriting others must not make one.
template <class Anchor, class... Rewrites>
bool rewrite_all_nodes(Graph& graph, std::string_view pass, Anchor anchor, Rewrites... rewrites) {
  if (!has_anchor(graph, anchor)) return false;
  Rewriter rw(graph, pass);
  bool changed = false;
  for (NodeId id : graph.topological_order()) {
    if (graph.node(id).erased || !anchor(graph.node(id))) continue;
    auto apply = [&](auto rewrite) { return !graph.node(id).erased && rewrite(rw, id); };
    if ((apply(rewrites) || ...)) changed = true;
  }
  return changed;
}

// The same for static nodes alone.
template <class Anchor, class... Rewrites>
bool rewrite_nodes(Graph& graph, std::string_view pass, Anchor anchor, Rewrites... rewrites) {
  auto if_static = [](auto rewrite) {
    return [rewrite](Rewriter& rw, NodeId id) {
      return is_static(rw.graph(), rw.graph().node(id)) && rewrite(rw, id);
    };
  };
  return rewrite_all_nodes(graph, pass, anchor, if_static(rewrites)...);
}

}  // namespace mrvlc::passes

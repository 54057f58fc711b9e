// The only way to change a graph. Every new node names the nodes it comes from, so lineage (and with it the
// ID map) cannot be forgotten; every erased one says why.
#pragma once
#include <span>

#include "mrvlc/ir/because.h"
#include "mrvlc/ir/graph.h"

namespace mrvlc::ir {

class Rewriter {
 public:
  Rewriter(Graph& graph, std::string_view pass) : graph_(graph), pass_(pass) {}
  ~Rewriter() { settle_sources(); }
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  const Graph& graph() const { return graph_; }
  // `from` must not be empty. The node takes its place in program order, and its name when `name` is empty,
  // from the last.
  NodeId create(const OpSchema& op, std::vector<ValueId> inputs, std::vector<Attr> attrs,
                std::vector<TensorType> types, std::span<const NodeId> from, std::string name = {});
  // The node takes the place of `at` in program order, behind those that have it.
  void place_at(NodeId node, NodeId at);
  ValueId output(NodeId node, size_t i = 0) const { return graph_.node(node).outputs[i]; }
  // A constant made from nodes (folding), or from none when it only restates a fact of an attribute.
  ValueId constant(Tensor tensor, std::span<const NodeId> from, std::string name = {});
  // The bytes of a constant with one use, to be changed without a copy. The use must read something else
  // next: the value is empty.
  Tensor take(ValueId constant);
  // The bytes of a constant are given back although nodes read it: they are code by now, and nobody asks for
  // more than its type again.
  void discard(ValueId constant);
  // Every use, graph outputs included, reads `now` instead. Types must be equal. When `old` is a graph output
  // that is no longer read, `now` takes over its name so that the model's interface keeps it (unless `now` is
  // an input or an output).
  void replace_all_uses(ValueId old, ValueId now);
  void set_input(NodeId node, size_t i, ValueId value);
  // Changes the type of a value (layout and precision passes); the verifier checks the graph afterwards.
  void set_type(ValueId value, TensorType type);
  // Outputs must be unused. `because` ends up in the ID map as the reason.
  void erase(NodeId node, Because because);
  // Constants give their bytes back as soon as the last use goes away (by erase, set_input or
  // replace_all_uses), so create the new reader before the old one is erased. This does the same for one that
  // never had a use.
  void release_if_unused(ValueId constant);
  // Gives the nodes made so far the sources of what they come from; the end of a rewriter does it.
  void settle_sources();
  bool changed() const { return changed_; }

 private:
  Graph& graph_;
  std::string pass_;
  std::vector<NodeId> made_;  // whose sources are not settled
  bool changed_ = false;
};

}  // namespace mrvlc::ir

// Copies a part of a graph.
#include "mrvlc/ir/part.h"

#include <map>
#include <utility>

namespace mrvlc::ir {
namespace {

class Extraction {
 public:
  explicit Extraction(const Graph& graph) : from_(graph), part_(graph.new_body()) { part_.name = graph.name; }

  void input(ValueId v) { values_.emplace(v, part_.add_input(from_.value(v).name, from_.value(v).type)); }
  void output(ValueId v) { part_.add_output(values_.at(v)); }

  void node(NodeId id) {
    const Node& n = from_.node(id);
    std::vector<ValueId> inputs;
    for (ValueId v : n.inputs) inputs.push_back(v.valid() ? operand(v) : ValueId());
    std::vector<TensorType> types;
    std::vector<std::string> names;
    for (ValueId v : n.outputs) {
      types.push_back(from_.value(v).type);
      names.push_back(from_.value(v).name);
    }
    Lineage lineage = from_.lineage(id);
    lineage.from.clear();  // ids of another graph
    const NodeId copy = part_.add_node(*n.op, n.name, std::move(inputs), n.attrs, std::move(types),
                                       std::move(names), lineage);
    part_.exprs.push_back(from_.expr_id(id));
    for (size_t i = 0; i < n.outputs.size(); ++i) values_.emplace(n.outputs[i], part_.node(copy).outputs[i]);
  }

  Graph finish() { return std::move(part_); }

 private:
  ValueId operand(ValueId v) {
    const auto found = values_.find(v);
    if (found != values_.end()) return found->second;
    // All that is no constant is an input, or made before.
    return values_[v] = part_.add_constant(from_.value(v).name, from_.value(v).constant());
  }

  const Graph& from_;
  Graph part_;
  std::map<ValueId, ValueId> values_;  // of the graph, to those of the part
};

}  // namespace

Graph part_of(const Graph& graph, const std::vector<NodeId>& nodes, const std::vector<ValueId>& inputs,
              const std::vector<ValueId>& outputs) {
  Extraction part(graph);
  for (ValueId v : inputs) part.input(v);
  for (NodeId id : nodes) part.node(id);
  for (ValueId v : outputs) part.output(v);
  return part.finish();
}

}  // namespace mrvlc::ir

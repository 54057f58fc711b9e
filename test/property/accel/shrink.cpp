// A failing network made smaller: nodes are left out one after the other, from the last to the first and
// again, as long as what is left still fails.
#include <map>

#include "check.h"

namespace mrvlc::accel_random {
namespace {

// The graph of the nodes marked `keep`. What they read from others becomes an input, what only others read an
// output.
ir::Graph part(const ir::Graph& g, const std::vector<bool>& keep) {
  ir::Graph out;
  out.name = g.name;
  std::map<ir::ValueId, ir::ValueId> to;
  auto mapped = [&](ir::ValueId v) {
    if (!v.valid()) return v;
    auto it = to.find(v);
    if (it != to.end()) return it->second;
    const ir::Value& value = g.value(v);
    bool constant = value.kind == ir::ValueKind::Constant;
    ir::ValueId now =
        constant ? out.add_constant(value.name, value.constant()) : out.add_input(value.name, value.type);
    return to[v] = now;
  };
  for (ir::NodeId id : g.topological_order()) {
    if (!keep[id.index()]) continue;
    const ir::Node& n = g.node(id);
    std::vector<ir::ValueId> inputs;
    for (ir::ValueId v : n.inputs) inputs.push_back(mapped(v));
    std::vector<TensorType> types;
    std::vector<std::string> names;
    for (ir::ValueId v : n.outputs) {
      types.push_back(g.value(v).type);
      names.push_back(g.value(v).name);
    }
    ir::SourceId source =
        out.add_source({std::to_string(id.index()), n.name, std::string(n.op->name), "", {}});
    ir::NodeId made =
        out.add_node(*n.op, n.name, inputs, n.attrs, types, names, {{source}, {}, "import", ""});
    for (size_t i = 0; i < n.outputs.size(); ++i) to[n.outputs[i]] = out.node(made).outputs[i];
  }
  for (ir::NodeId id : g.topological_order()) {
    if (!keep[id.index()]) continue;
    for (ir::ValueId v : g.node(id).outputs)
      if (out.use_count(to[v]) == 0 || g.is_output(v)) out.add_output(to[v]);
  }
  return out;
}

}  // namespace

ir::Graph shrink(const ir::Graph& graph, const Setup& setup, uint64_t seed) {
  std::vector<bool> keep(graph.node_slots(), true);
  std::vector<ir::NodeId> order = graph.topological_order();
  size_t left = order.size();
  for (bool smaller = true; smaller && left > 1;) {
    smaller = false;
    for (size_t i = order.size(); i-- > 0 && left > 1;) {
      size_t node = order[i].index();
      if (!keep[node]) continue;
      keep[node] = false;
      bool fails = !check(part(graph, keep), setup, seed).failure.empty();
      keep[node] = !fails;
      smaller = smaller || fails;
      left -= fails ? 1 : 0;
    }
  }
  return part(graph, keep);
}

}  // namespace mrvlc::accel_random

#include "grown.h"

#include <algorithm>

#include "../graphs/coarse.h"
#include "../graphs/grow.h"
#include "blocks.h"

namespace mrvlc::rule_trials {
namespace {

using graphs::Grower;

constexpr double kReordered = 1e-5;

std::vector<const ops::OpDef*> with_layers(bool products) {
  std::vector<const ops::OpDef*> out;
  for (const ops::OpDef* op : graphs::growable()) {
    const bool product = std::ranges::any_of(
        kLayerKinds, [&](LayerKind kind) { return multiplies(kind) && op->accel.has(kind); });
    if (!op->accel.empty() && product == products) out.push_back(op);
  }
  return out;
}

// Control flow needs bodies, which trial_of does not make.
std::vector<const ops::OpDef*> without_bodies() {
  std::vector<const ops::OpDef*> out = graphs::growable();
  std::erase_if(out, [](const ops::OpDef* op) {
    return std::ranges::any_of(op->attrs,
                               [](const ir::AttrSpec& a) { return a.kind == ir::AttrKind::Graph; });
  });
  return out;
}

ir::NodeId add_node(ir::Graph& graph, const graphs::Model& model, const graphs::Node& node,
                    const std::vector<ir::ValueId>& ids) {
  std::vector<ir::ValueId> inputs;
  for (int v : node.inputs) inputs.push_back(v < 0 ? ir::ValueId() : ids[static_cast<size_t>(v)]);
  std::vector<TensorType> types;
  std::vector<std::string> names;
  for (int v : node.outputs) {
    types.push_back(model.values[static_cast<size_t>(v)].data.type());
    names.push_back(model.values[static_cast<size_t>(v)].name);
  }
  const std::string number = std::to_string(graph.node_slots());
  const std::string op(node.op->name);
  const ir::SourceId source =
      graph.add_source({"main/" + number, "n" + number, op, std::string(node.op->domain), names});
  return graph.add_node(*node.op, "n" + number, std::move(inputs), node.attrs, std::move(types), names,
                        {{source}, {}, "import", ""});
}

}  // namespace

graphs::Model random_model(uint64_t seed) {
  static const auto products = with_layers(true), others = with_layers(false), all = without_bodies();
  Grower g(seed);
  g.coarse = true;
  const int64_t wanted = g.dice.pick(1, 8);
  for (int attempt = 0; attempt < 40 && static_cast<int64_t>(g.model.nodes.size()) < wanted; ++attempt) {
    const int64_t lot = g.dice.pick(0, 99);
    if (g.dice.chance(attempt == 0 ? 60 : 25)) {  // values to go on with that are no constants
      add_block(g);
      continue;
    }
    graphs::propose(g, *g.dice.of(lot < 30 ? products : lot < 90 ? others : all));
  }
  if (g.model.nodes.empty()) g.add("Relu", {g.make(ElementType::F32, {2, 3})});
  g.finish();
  return std::move(g.model);
}

Trial trial_of(const graphs::Model& model) {
  Trial t;
  t.graph.name = "net";
  std::vector<ir::ValueId> ids(model.values.size());
  for (int v : model.inputs) {
    const graphs::Value& value = model.values[static_cast<size_t>(v)];
    ids[static_cast<size_t>(v)] = t.graph.add_input(value.name, value.data.type());
    t.inputs.push_back(value.data);
  }
  for (size_t v = 0; v < model.values.size(); ++v) {
    const graphs::Value& value = model.values[v];
    if (value.kind == graphs::Kind::Constant) ids[v] = t.graph.add_constant(value.name, value.data);
  }
  for (const graphs::Node& node : model.nodes) {
    const ir::NodeId id = add_node(t.graph, model, node, ids);
    for (size_t i = 0; i < node.outputs.size(); ++i)
      ids[static_cast<size_t>(node.outputs[i])] = t.graph.node(id).outputs[i];
  }
  for (int v : model.outputs) {
    t.graph.add_output(ids[static_cast<size_t>(v)]);
    t.expected.push_back(model.values[static_cast<size_t>(v)].data);
  }
  t.tolerances = graphs::fp16_tolerances(model);
  // The passes move factors, and so the last bits, where nothing is rounded to fp16.
  for (auto& tolerance : t.tolerances)
    if (tolerance) tolerance = std::max(*tolerance, kReordered);
  return t;
}

}  // namespace mrvlc::rule_trials

// placement.json: where every ONNX node runs, why, and what it multiplies.
#include <algorithm>

#include "compiled_model.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::driver {
namespace {

Json trial_json(const partition::RuleTrial& t) {
  return {{"rule", idmap::json_text(t.rule)},           {"accepted", t.accepted},
          {"condition", idmap::json_text(t.condition)}, {"actual", idmap::json_text(t.actual)},
          {"limit", idmap::json_text(t.limit)},         {"reason", idmap::json_text(t.reason)}};
}

// The decision on the main node of each source; null: its nodes are gone, or in bodies of control flow.
std::vector<const partition::NodeDecision*> main_decisions(const CompiledModel& m) {
  std::vector<const partition::NodeDecision*> out(m.model.graph.sources().size());
  for (const auto& d : m.partition.decisions) {
    for (ir::SourceId s : m.model.graph.lineage(d.node).sources) {
      const partition::NodeDecision*& best = out[s.index()];
      // What a reader asks for is why it is on the CPU, if any part is.
      if (best == nullptr || (best->accelerator && !d.accelerator)) best = &d;
    }
  }
  return out;
}

// Also an operator of another domain by that name, which was taken apart.
bool multiplies(const std::string& op_type) {
  const ops::OpDef* op = ops::find_op("", op_type);
  return op != nullptr && op->macs != nullptr;
}

// The source that stands for an expression: the one of its operator, else the first that multiplies.
ir::SourceId main_source(const ir::Graph& graph, const ir::Node& node) {
  const auto& sources = graph.lineage(node.id).sources;
  auto of = [&](auto holds) {
    return std::ranges::find_if(sources,
                                [&](ir::SourceId s) { return holds(graph.sources()[s.index()].op_type); });
  };
  auto found = of([&](const std::string& op) { return op == node.op->name; });
  if (found == sources.end()) found = of(multiplies);
  return found == sources.end() ? sources.front() : *found;
}

// Each expression counts for one source alone, so that sources add up to the model.
void add_macs(const ir::Graph& graph, int64_t rounds, std::vector<int64_t>& out) {
  for (ir::NodeId id : graph.topological_order()) {
    const ir::Node& node = graph.node(id);
    const auto bodies = ir::bodies_of(node);
    for (const ir::Graph* body : bodies)
      add_macs(*body, saturating_mul(rounds, ops::body_rounds(graph, node)), out);
    int64_t& mine = out[main_source(graph, node).index()];
    if (bodies.empty()) mine = saturating_add(mine, saturating_mul(rounds, ops::macs(graph, node)));
  }
}

const char* where(const std::string& fate) {
  for (const char* place : {"accelerator", "cpu", "both"}) {
    if (fate == place) return place;
  }
  return "folded";
}

Json node_json(const Json& source, const partition::NodeDecision* decision, int64_t macs) {
  Json entry = {{"id", source.at("id")},           {"name", source.at("name")},
                {"op_type", source.at("op_type")}, {"where", where(source.at("fate").get<std::string>())},
                {"outputs", source.at("outputs")}, {"macs", macs}};
  if (decision != nullptr) {
    entry["expr_id"] = decision->node.index();
    if (decision->accelerator) entry["region"] = decision->region;
    entry["rule"] = decision->rule;
  }
  entry["reason"] = source.at("reason");
  if (decision == nullptr) return entry;
  Json tried = Json::array();
  for (const auto& t : decision->trials) tried.push_back(trial_json(t));
  entry["tried"] = std::move(tried);
  return entry;
}

}  // namespace

Json placement_json(const CompiledModel& m, const Json& map) {
  const auto decisions = main_decisions(m);
  std::vector<int64_t> macs(decisions.size());
  add_macs(m.model.graph, 1, macs);
  Json nodes = Json::array();
  for (size_t i = 0; i < decisions.size(); ++i)
    nodes.push_back(node_json(map.at("sources")[i], decisions[i], macs[i]));
  return {{"schema", "mrvlc-placement-1"},
          {"target", m.has_accelerator ? m.machine.name : "host"},
          {"nodes", std::move(nodes)}};
}

}  // namespace mrvlc::driver

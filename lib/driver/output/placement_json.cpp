// placement.json: where every ONNX node runs, why, and what it multiplies.
#include <algorithm>
#include <unordered_map>

#include "model/placement_table.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/saturating.h"
#include "output/placed.h"
#include "placement/constraints.h"

namespace mrvlc::driver {
namespace {

// Nodes share their trials: those of many have their text made once.
class RuleTrialTexts {
 public:
  void write(JsonWriter& out, const std::shared_ptr<const partition::RuleTrial>& t) {
    if (t.use_count() < kShared) return json::write(out, *t);
    std::string& text = texts_[t.get()];
    if (text.empty()) text = JsonWriter::text(out.depth(), [&](JsonWriter& o) { json::write(o, *t); });
    out.verbatim(text);
  }

 private:
  static constexpr long kShared = 16;  // so often that texts are small beside the nodes
  std::unordered_map<const partition::RuleTrial*, std::string> texts_;  // looked up only
};

PlacementConstraint reported(const Constraint& c) {
  PlacementConstraint out{c.nodes, c.from, c.to};
  if (c.on != Constraint::Target::Any) out.on = c.on == Constraint::Target::Cpu ? "cpu" : "accelerator";
  if (c.before || c.after) out.border = c.before && c.after ? "both" : c.before ? "before" : "after";
  if (c.together) out.together = true;
  out.max_layers = c.max_layers;
  out.max_regions = c.max_regions;
  return out;
}

struct SharedTrial {
  const std::shared_ptr<const partition::RuleTrial>& trial;
  RuleTrialTexts& texts;
  void write_to(JsonWriter& out) const { texts.write(out, trial); }
};
using Entry = PlacementEntryOf<SharedTrial>;

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

// Of the graph, or of a body in it.
uint32_t expr_of(const CompiledModel& m, const partition::NodeDecision& decision) {
  for (const partition::BodyPartition& body : m.partition.bodies) {
    const auto& of_body = body.partition.decisions;
    const auto holds = [&](const partition::NodeDecision& d) { return &d == &decision; };
    if (std::ranges::any_of(of_body, holds)) return body.graph->expr_id(decision.node);
  }
  return m.model.graph.expr_id(decision.node);
}

void add_decision(const CompiledModel& m, const partition::NodeDecision& decision, RuleTrialTexts& texts,
                  Entry& out) {
  out.expr_id = expr_of(m, decision);
  out.target = "host";
  if (decision.accelerator) {
    out.region = decision.region;
    out.target = m.accelerators[m.regions[decision.region].accelerator].name;
  }
  if (decision.call != partition::NodeDecision::kNoCall) {
    out.target = m.partition.calls[decision.call].target;
    out.call = m.partition.calls[decision.call].function;
  }
  out.rule = decision.rule.str();
  out.code = word(decision.why);
  out.tried.emplace();
  for (const auto& trial : decision.trials) out.tried->push_back({trial, texts});
  if (decision.costs != nullptr) out.costs = *decision.costs;
}

Entry entry_of(const CompiledModel& m, const PlacedNodes& nodes, size_t i, RuleTrialTexts& texts) {
  const ir::Source& source = nodes.source(i);
  Entry out{source.id, source.name, source.op_type, nodes.where(i), source.outputs, nodes.macs(i)};
  if (const auto* decision = nodes.decision(i)) add_decision(m, *decision, texts, out);
  out.reason = nodes.reason(i);
  return out;
}

}  // namespace

PlacedNodes::PlacedNodes(const CompiledModel& model, const idmap::SourceOutcomes& outcomes)
    : m_(model), outcomes_(outcomes), macs_(model.model.graph.sources().size()) {
  add_macs(model.model.graph, 1, macs_);
}

const char* PlacedNodes::where(size_t i) const {
  using Place = idmap::SourceOutcomes::Place;
  const Place place = outcomes_.place(ir::SourceId(i));
  return idmap::name(place == Place::Removed ? Place::Folded : place);
}

bool PlacedNodes::on_cpu(size_t i) const {
  using Place = idmap::SourceOutcomes::Place;
  const Place place = outcomes_.place(ir::SourceId(i));
  const partition::NodeDecision* why = decision(i);
  const bool library = why != nullptr && why->call != partition::NodeDecision::kNoCall;
  return !library && (place == Place::Cpu || place == Place::Both);
}

void write_placement(JsonWriter& out, const CompiledModel& m, const PlacedNodes& nodes) {
  RuleTrialTexts texts;
  PlacementTableOf<json::Stream<Entry>> table;
  table.model.sha256 = m.model.sha256;
  table.target = m.has_accelerator ? m.machine().name : "host";
  for (const Constraint& c : m.constrained.asked) table.constraints.push_back(reported(c));
  table.nodes.each = [&](const auto& add) {
    for (size_t i = 0; i < nodes.size(); ++i) add(entry_of(m, nodes, i, texts));
  };
  table.precisions = idmap::kept_precisions(m.model.graph, m.partition);
  table.ranges = stored_ranges(m.accuracy);
  json::write(out, table);
}

}  // namespace mrvlc::driver

// placement.json: where every ONNX node runs, why, and what it multiplies.
#include <algorithm>
#include <unordered_map>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/saturating.h"
#include "output/placed.h"
#include "placement/constraints.h"

namespace mrvlc::driver {
namespace {

void write_text(JsonWriter& out, std::string_view name, std::string_view text) {
  out.key(name);
  idmap::write_text(out, text);
}

void write_trial(JsonWriter& out, const partition::RuleTrial& t) {
  out.object();
  write_text(out, "rule", t.rule);
  out.member("accepted", t.accepted);
  write_text(out, "condition", t.condition);
  write_text(out, "actual", t.actual);
  write_text(out, "limit", t.limit);
  write_text(out, "reason", t.reason);
  out.end();
}

// Nodes share their trials: those of many have their text made once.
class RuleTrialTexts {
 public:
  void write(JsonWriter& out, const std::shared_ptr<const partition::RuleTrial>& t) {
    if (t.use_count() < kShared) return write_trial(out, *t);
    std::string& text = texts_[t.get()];
    if (text.empty()) text = JsonWriter::text(out.depth(), [&](JsonWriter& o) { write_trial(o, *t); });
    out.verbatim(text);
  }

 private:
  static constexpr long kShared = 16;  // so often that texts are small beside the nodes
  std::unordered_map<const partition::RuleTrial*, std::string> texts_;  // looked up only
};

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

void write_decision(JsonWriter& out, const CompiledModel& m, const partition::NodeDecision& decision) {
  out.member("expr_id", expr_of(m, decision));
  if (decision.accelerator) out.member("region", decision.region);
  if (decision.call != partition::NodeDecision::kNoCall) {
    const partition::Call& call = m.partition.calls[decision.call];
    write_text(out, "target", call.target);
    write_text(out, "call", call.function);
  } else {
    write_text(out, "target",
               decision.accelerator ? m.accelerators[m.regions[decision.region].accelerator].name : "host");
  }
  out.member("rule", decision.rule);
  out.member("code", word(decision.why));
}

void write_node(JsonWriter& out, const CompiledModel& m, const PlacedNodes& nodes, size_t i,
                RuleTrialTexts& trials) {
  const ir::Source& source = nodes.source(i);
  const partition::NodeDecision* decision = nodes.decision(i);
  out.object();
  out.member("id", source.id);
  write_text(out, "name", source.name);
  write_text(out, "op_type", source.op_type);
  out.member("where", nodes.where(i));
  out.key("outputs").array();
  for (const std::string& o : source.outputs) idmap::write_text(out, o);
  out.end();
  out.member("macs", nodes.macs(i));
  if (decision != nullptr) write_decision(out, m, *decision);
  out.member("reason", nodes.reason(i));
  if (decision != nullptr) {
    out.key("tried").array();
    for (const auto& t : decision->trials) trials.write(out, t);
    out.end();
  }
  out.end();
}

}  // namespace

PlacedNodes::PlacedNodes(const CompiledModel& model, const idmap::Fates& fates)
    : m_(model), fates_(fates), macs_(model.model.graph.sources().size()) {
  add_macs(model.model.graph, 1, macs_);
}

const char* PlacedNodes::where(size_t i) const {
  using Place = idmap::Fates::Place;
  const Place place = fates_.place(ir::SourceId(i));
  return idmap::name(place == Place::Removed ? Place::Folded : place);
}

bool PlacedNodes::on_cpu(size_t i) const {
  using Place = idmap::Fates::Place;
  const Place place = fates_.place(ir::SourceId(i));
  const partition::NodeDecision* why = decision(i);
  const bool library = why != nullptr && why->call != partition::NodeDecision::kNoCall;
  return !library && (place == Place::Cpu || place == Place::Both);
}

void write_placement(JsonWriter& out, const CompiledModel& m, const PlacedNodes& nodes) {
  out.object();
  out.member("schema", "mrvlc-placement-1");
  out.key("model").object();
  out.member("sha256", m.model.sha256);
  out.end();
  out.member("target", m.has_accelerator ? m.machine().name : "host");
  write_constraints(out, m.constrained.asked);
  out.key("nodes").array();
  RuleTrialTexts trials;
  for (size_t i = 0; i < nodes.size(); ++i) write_node(out, m, nodes, i, trials);
  out.end();
  idmap::write_precisions(out, m.model.graph, m.partition);
  write_ranges(out, m.accuracy);
  out.end();
}

}  // namespace mrvlc::driver

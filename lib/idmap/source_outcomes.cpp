// Where each ONNX node ended (accelerator, CPU, both, folded, removed), from decisions, lineage and bodies.
#include "mrvlc/idmap/source_outcomes.h"

#include <set>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/ir/lineage.h"
#include "mrvlc/ir/pass_names.h"

namespace mrvlc::idmap {
namespace {

// By expression: it has code of its own, or is part of a layer or function that has.
class WithCode {
 public:
  explicit WithCode(const Compiled& c) {
    for (const auto& [graph, region] : all_regions(c.graph, c.partition)) {
      if (region->id >= c.regions.size()) continue;  // not compiled yet
      std::set<uint32_t> with_instructions;
      for (const auto& range : c.regions[region->id].instructions) {
        insert(ir::expr_id(*graph, range.expr));
        with_instructions.insert(range.layer);
      }
      for (uint32_t l : with_instructions) {
        if (l >= region->layers.size()) continue;
        for (ir::NodeId n : region->layers[l].nodes) insert(ir::expr_id(*graph, n));
      }
    }
    for (const auto& f : c.host.functions) {
      insert(f.expr);
      for (ir::ExprId e : f.fused) insert(e);
    }
  }
  bool contains(ir::ExprId expr) const { return expr.index() < exprs_.size() && exprs_[expr.index()]; }

 private:
  void insert(ir::ExprId expr) {
    if (expr.index() >= exprs_.size()) exprs_.resize(expr.index() + 1);
    exprs_[expr.index()] = true;
  }
  std::vector<bool> exprs_;
};

bool is_conversion(const ir::Lineage& lineage) {
  return lineage.pass == ir::kWidenF16;
}

}  // namespace

SourceOutcomes::SourceOutcomes(const Compiled& c) : outcomes_(c.graph.sources().size()) {
  in_body_.reason = "It is in a body of control flow, which runs on the CPU as a whole.";
  const WithCode with_code(c);
  const auto note_decisions = [&](const ir::Graph& graph, const partition::Partition& partition) {
    // Conversions beside an operator last: what a reader asks for is where, and why there, the operator is.
    for (const bool conversions : {false, true}) {
      for (const auto& d : partition.decisions) {
        if (is_conversion(graph.lineage(d.node)) == conversions)
          note_live(graph.lineage(d.node), d, with_code.contains(ir::expr_id(graph, d.node)));
      }
    }
  };
  note_decisions(c.graph, c.partition);
  note_erased(c.graph);
  ir::for_each_body(c.graph, [&](const ir::Graph& body) {
    note_erased(body);
    if (const auto* placed = partition_of(c.partition, body)) return note_decisions(body, *placed);
    // These nodes are on the CPU with their control flow.
    for (ir::NodeId id : body.topological_order())
      note_live(body.lineage(id), in_body_, with_code.contains(ir::expr_id(body, id)));
  });
}

void SourceOutcomes::note_live(const ir::Lineage& lineage, const partition::NodeDecision& decision,
                               bool code) {
  for (ir::SourceId s : lineage.sources) {
    Outcome& f = outcomes_[s.index()];
    (decision.accelerator ? f.accelerator : f.cpu) = true;
    f.code = f.code || code;
    // What a reader asks for is why it is on the CPU, if any part is.
    const bool decides = !decision.accelerator && !is_conversion(lineage);
    auto replaces = [&](const auto* d) { return d == nullptr || (d->accelerator && decides); };
    if (replaces(f.main)) f.main = &decision;
    if (&decision != &in_body_ && replaces(f.decision)) f.decision = &decision;
  }
}

void SourceOutcomes::note_erased(const ir::Graph& graph) {
  const std::vector<ir::Gone> gone = ir::gone_sources(graph);
  for (size_t s = 0; s < gone.size(); ++s) {
    if (gone[s].newest.valid()) outcomes_[s].gone = &graph.lineage(gone[s].newest);
    outcomes_[s].folded = outcomes_[s].folded || gone[s].folded;
  }
}

SourceOutcomes::Place SourceOutcomes::place(ir::SourceId source) const {
  const Outcome& f = outcomes_[source.index()];
  if (f.main == nullptr) return f.folded ? Place::Folded : Place::Removed;
  return f.accelerator && f.cpu ? Place::Both : f.accelerator ? Place::Accelerator : Place::Cpu;
}

bool SourceOutcomes::is_alias(ir::SourceId source) const {
  const Outcome& f = outcomes_[source.index()];
  return f.main != nullptr && !f.code;
}

std::string SourceOutcomes::reason(ir::SourceId source) const {
  const Outcome& f = outcomes_[source.index()];
  if (f.main != nullptr) {
    if (!is_alias(source)) return json_text(f.main->reason);
    return json_text("needs no code: its result is the same bytes as its operand (" + f.main->reason.str() +
                     ")");
  }
  if (f.gone != nullptr) return json_text(f.gone->erased_because);
  return "not compiled: control does not reach it, or it cannot run with the shapes of the model";
}

const partition::NodeDecision* SourceOutcomes::decision(ir::SourceId source) const {
  return outcomes_[source.index()].decision;
}

const char* name(SourceOutcomes::Place place) {
  constexpr const char* kNames[] = {"accelerator", "cpu", "both", "folded", "removed"};
  return kNames[static_cast<size_t>(place)];
}

}  // namespace mrvlc::idmap

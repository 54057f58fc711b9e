// Rules, constraints, and the passes.
#include "accuracy/known.h"
#include "inputs/rule_files.h"
#include "mrvlc/driver/place.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/passes/fences.h"
#include "stages/hashes.h"
#include "stages/integers_left.h"
#include "stages/passes_of.h"
#include "stages/stages.h"
#include "stages/targets_of.h"

namespace mrvlc::driver {

passes::RunOptions pass_options(Session& session, const ImportedModel& m, Said& said) {
  passes::RunOptions o;
  o.times = &session.pass_times;
  o.log = m.options.log;
  if (m.has_accelerator) limit_passes(o.context, m.backend->pass_limits());
  o.after = [&dump = m.options.dump_ir, &said](std::string_view pass, const ir::Graph& graph) {
    if (dump == pass) said.texts.push_back(ir::print(graph));
  };
  return o;
}

Status run_pipeline(SimplifiedModel& m, std::span<const std::string_view> pipeline,
                    const passes::RunOptions& run) {
  MRVLC_TRY(run_passes(m.model.graph, pipeline, run, m.libraries,
                       {m.accelerator(), m.turns, m.source_matches, m.pins}));
  if (m.pins != nullptr) m.pins->borders = passes::take_fences(m.model.graph);
  return {};
}

namespace {

// For the host alone too: a mistake in a file is one there as well.
Status read_rules(SimplifiedModel& m) {
  for (uint32_t i = 0; i < m.backend->parts().size(); ++i) {
    const backend::Backend& part = m.backend->part(i);
    MRVLC_ASSIGN(auto rules, partition::sound_rules(builtin_rules(m.options, part), m.inputs.rule_files,
                                                    part.layer_words()));
    m.turns.push_back({std::move(rules), m.has_accelerator ? m.opened[i].behind : 0});
  }
  return {};
}

// Before the passes: these respect them.
Status read_constraints(SimplifiedModel& m, const PlacementAsked& asked, Said& said) {
  if (!m.inputs.placement.empty() && !asked.constraints) MRVLC_TRY(take_hashes(m));
  MRVLC_ASSIGN(m.constrained, constrain(m, asked, said.diagnostics));
  if (m.constrained.resolved.empty()) return {};
  MRVLC_ASSIGN(partition::Pins pins, partition::Pins::resolve(m.model.graph, m.constrained.resolved));
  m.pins = std::make_shared<partition::Pins>(std::move(pins));
  return {};
}

Status simplify(Session& session, SimplifiedModel& m, const PlacementAsked& asked, Said& said) {
  passes::RunOptions run = pass_options(session, m, said);
  if (m.has_accelerator) {
    const KnownOf known = [&](const auto& g) { return knowledge(g, m.options, m.inputs.calibration); };
    MRVLC_ASSIGN(m.source_matches, match_beforehand(m.model.graph, m.turns, *m.backend, run, known));
  }
  MRVLC_TRY(read_constraints(m, asked, said));
  m.stays = run.context.stays;
  if ((m.has_accelerator || !m.libraries.rules.empty()) && is_quantized(m.model.graph))
    m.unplaced = m.model.graph;
  if (m.has_accelerator) raise_fences(m.model.graph, m.pins.get(), nullptr);
  auto pipeline = m.has_accelerator ? pipeline_for(*m.backend) : host_pipeline_for(m.libraries);
  MRVLC_TRY(check_dump_ir(m.options, pipeline));
  return run_pipeline(m, pipeline, run);
}

}  // namespace

std::optional<SimplifiedModel> simplify_model(Session& session, ImportedModel imported,
                                              const PlacementAsked& asked, Said& said) {
  SimplifiedModel m{std::move(imported), {}, {}, {}, {}, {}, {}};
  if (!session.phase("rules", said, [&] { return read_rules(m); }) ||
      !session.phase("passes", said, [&] { return simplify(session, m, asked, said); }))
    return std::nullopt;
  return m;
}

std::optional<SimplifiedModel> simplified_model(Session& session, const CompileOptions& options,
                                                const PlacementAsked& asked, Said& said) {
  auto opened = open_targets(session, options, said);
  auto imported = opened ? import_model(session, *std::move(opened), said) : std::nullopt;
  return imported ? simplify_model(session, *std::move(imported), asked, said) : std::nullopt;
}

}  // namespace mrvlc::driver

// Which text belongs to which stage; schedules of primitives that come as text.
#include "stage_texts.h"

#include <algorithm>

#include "text/primitives_text.h"
#include "text/schedule_text.h"

namespace mrvlc::accel {
namespace {

constexpr std::string_view kStageNames[] = {"primitives", "tiling", "residency", "tile-program"};

}  // namespace

std::vector<std::string_view> stage_names() {
  return {std::begin(kStageNames), std::end(kStageNames)};
}

std::optional<Stage> stage_named(std::string_view name) {
  const auto* at = std::ranges::find(kStageNames, name);
  if (at == std::end(kStageNames)) return std::nullopt;
  return static_cast<Stage>(at - std::begin(kStageNames));
}

std::string stage_text(Stage stage, const Scheduled& s, uint32_t tiles, const Names& names) {
  switch (stage) {
    case Stage::Primitives:
      return primitives_text(s.program, names);
    case Stage::Tiling:
      return tiling_text(s.program, s.cuts, tiles, names);
    case Stage::Residency:
      return residency_text(s.program, s.residences, names);
    case Stage::TileProgram:
      return tile_program_text(s.program, s.tiles, names);
  }
  return "";
}

StageTexts::StageTexts(const ir::Graph& graph, const Program& lowered, const Options& options)
    : options_(options) {
  if (options.texts.empty()) return;
  names_ = names_of(graph, lowered);
  primitives_ = primitives_text(lowered, names_);
}

std::vector<std::string> StageTexts::run(const Scheduled& scheduled) const {
  std::vector<std::string> out;
  for (Stage s : options_.texts)
    out.push_back(s == Stage::Primitives ? primitives_ : stage_text(s, scheduled, options_.tiles, names_));
  return out;
}

Result<std::string> stage_from_primitives(std::string_view text, const target::Machine& machine,
                                          const Options& options, Stage stage) {
  MRVLC_ASSIGN(NamedProgram read, read_primitives(text));
  if (stage == Stage::Primitives) return primitives_text(read.program, read.names);
  auto name = [&](Diag diag, ir::NodeId node) { return at_node(std::move(diag), read.names.expr(node), ""); };
  MRVLC_ASSIGN(Scheduled scheduled, schedule(name, std::move(read.program), machine, options));
  return stage_text(stage, scheduled, options.tiles, read.names);
}

}  // namespace mrvlc::accel

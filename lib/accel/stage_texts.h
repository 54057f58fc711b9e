// The texts of the stages from what the stages made.
#pragma once
#include "mrvlc/accel/stages.h"
#include "schedule.h"
#include "text/names.h"

namespace mrvlc::accel {

std::string stage_text(Stage stage, const Scheduled& scheduled, uint32_t tiles, const Names& names);

// The texts that options ask for: of the primitives before scheduling takes them, of the rest after it.
class StageTexts {
 public:
  StageTexts(const ir::Graph& graph, const Program& lowered, const Options& options);
  std::vector<std::string> run(const Scheduled& scheduled) const;

 private:
  const Options& options_;
  Names names_;
  std::string primitives_;
};

}  // namespace mrvlc::accel

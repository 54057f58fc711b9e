// Texts of the accelerator's stages, from a graph or from the text of primitives.
#pragma once
#include <string>
#include <vector>

#include "mrvlc/ir/graph.h"
#include "mrvlc/support/result.h"

namespace mrvlc::opt {

struct StageArguments {
  std::string stage;  // one of accel::stage_names()
  uint32_t tiles = 8;
  std::string target = "cn10ka";
  std::vector<std::string> cpu;  // partition::Options
};

// Of each region of the graph, as the passes left it.
Result<std::string> stages_of(ir::Graph& graph, const StageArguments& args);
Result<std::string> stage_of_primitives(const std::string& text, const StageArguments& args);

}  // namespace mrvlc::opt

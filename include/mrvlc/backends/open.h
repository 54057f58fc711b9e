// The back ends there are, opened by the names of targets.
#pragma once
#include "mrvlc/backend/backend.h"
#include "mrvlc/backends/default_target.h"
#include "mrvlc/isa/header.h"
#include "mrvlc/target/find.h"

namespace mrvlc::backends {

struct Settings {
  uint32_t tiles = 0;  // 0: the most that the machine has
  // How many schedules are tried and estimated before the best is taken: 1 few, 2 many. Any gives the same
  // results.
  uint32_t effort = 1;
  bool pin_weights = false;              // weights stay on chip from one inference to the next
  bool silicon_id = false;               // binaries name the architecture of the silicon
  std::vector<std::string> stages = {};  // whose texts are wanted in RegionCode::texts, see stage_names()
};

using Opened = std::unique_ptr<backend::Backend>;

// MRV0004: the target does not take a setting; else what is wrong with its text.
Result<Opened> open(std::string_view name, const target::TargetText& text, const Settings& settings);
// Of a machine that was read before.
Result<Opened> open(target::Machine machine, const Settings& settings);
// Found as --target finds it.
Result<Opened> find(std::string_view name, const std::vector<std::filesystem::path>& search,
                    const Settings& settings);
// The built-in one, for who asks without a target, and for tests.
Result<Opened> open_default(const Settings& settings);

// Stages that have a text, in order (docs/stages.md).
std::vector<std::string_view> stage_names();

// Of any binary that one of them made.
Result<std::string> disassembly(std::string_view binary, const std::vector<backend::CodeRange>& ranges);
using isa::Header;
using isa::read_header;

}  // namespace mrvlc::backends

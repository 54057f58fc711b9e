// What a target's back end is to know of the options of a compile.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mrvlc/target/machine.h"

namespace mrvlc::backends {

struct Settings {
  uint32_t tiles = 0;  // 0: the most that the machine has
  // How many schedules are tried and estimated before the best is taken: 1 few, 2 many. Any gives the same
  // results.
  uint32_t effort = 1;
  target::Column column = target::Column::Default;  // of the machine's fields: what schedules are chosen for
  bool pin_weights = false;                         // weights stay on chip from one inference to the next
  bool silicon_id = false;                          // binaries name the architecture of the silicon
  // Of a package that declares options: keys and values, checked, where they are not the defaults.
  std::vector<std::pair<std::string, std::string>> options = {};
  std::vector<std::string> stages = {};  // whose texts are wanted in RegionCode::texts, see stage_names()
};

}  // namespace mrvlc::backends

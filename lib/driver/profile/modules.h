// What a program takes by modules of the exported program, as far as the model says which node is of which
// (`sources[].location` of idmap.json).
#pragma once
#include "model/placement_table.h"
#include "mrvlc/report/report.h"
#include "profile/measured.h"

namespace mrvlc::driver {

struct ModuleUse {
  std::string name;        // "layer1.0.conv1"; empty: the outermost one
  bool known = true;       // false: of what no module is known
  std::string class_name;  // of the module; empty: not known, or several are in one row
  uint64_t nodes = 0;      // of ONNX
  uint64_t macs = 0;
  uint64_t cycles = 0;                  // of the accelerator
  double host_seconds = 0;              // expected, of the nodes that report.json lists
  std::optional<double> measured = {};  // milliseconds of the steps on the host
};

struct ModuleTables {
  const idmap::Map& map;  // of the folder
  const PlacementTable& placement;
  const Report& report;
};
// Those with most cycles first, then those that take the host longest. A layer, or a function of C, that
// computes nodes of several modules counts for the first. `depth`: parts of a name; 0: all.
std::vector<ModuleUse> module_uses(const ModuleTables& tables, const std::vector<report::Region>& regions,
                                   const std::optional<Measured>& measured, uint32_t depth);
std::string modules_text(const std::vector<ModuleUse>& uses);
Json modules_json(const std::vector<ModuleUse>& uses);

}  // namespace mrvlc::driver

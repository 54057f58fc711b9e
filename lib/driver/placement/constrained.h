// All constraints of a compile, those that only a trial placement can tell among them.
#pragma once
#include "constraints.h"

namespace mrvlc::driver {

struct ImportedModel;
struct PlacementAsked;

struct Constrained {
  std::vector<Constraint> asked;            // as the user says them, for placement.json
  std::vector<Constraint> resolved;         // with ids in the place of rules
  std::optional<AssignedNodes> unbordered;  // what comes about without borders, where there are some
  PlacementFile file;                       // of --placement
  bool edited = false;                      // it says another placement than comes about without it
};

// Those of the options and of --placement, or those that are asked for in their place. Trials are placed with
// the choice that is asked for. MRV1070 when the file was written for another model.
Result<Constrained> constrain(const ImportedModel& imported, const PlacementAsked& asked,
                              Diagnostics& diagnostics);

}  // namespace mrvlc::driver

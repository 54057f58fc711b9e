// All constraints of a compile, those that only a trial placement can tell among them.
#pragma once
#include "placement/constraints.h"

namespace mrvlc::driver {

struct ImportedModel;
struct PlacementAsked;

struct Constrained {
  std::vector<Constraint> asked;     // as the user says them, for placement.json
  std::vector<Constraint> resolved;  // with ids in the place of rules
  std::optional<Placed> unbordered;  // what comes about without borders, where there are some
};

// Those of the options and of --placement, or those that are asked for in their place. Trials are placed with
// the choice that is asked for.
Result<Constrained> constrain(const ImportedModel& imported, const PlacementAsked& asked);

}  // namespace mrvlc::driver

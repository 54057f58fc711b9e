// The decisions of placement, for the log.
#pragma once
#include "model/compiled_model.h"
#include "mrvlc/support/log.h"

namespace mrvlc::driver {

// Regions, each node with the reason, and at the last level each rule that was tried on it.
void tell_placement(const PlacedModel& m, const Log& log);

}  // namespace mrvlc::driver

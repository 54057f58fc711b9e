// A placed model once more, for who tries several ways.
#pragma once
#include "model/compiled_model.h"

namespace mrvlc::driver {

// With a partition of the copy's own bodies.
PlacedModel copy_of(const PlacedModel& placed);

}  // namespace mrvlc::driver

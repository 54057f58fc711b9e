// Primitives that make parts of one tensor, and how they are cut: whether the tensor may stay on chip.
#pragma once
#include <vector>

#include "plan/cut.h"

namespace mrvlc::accel {

using TouchedByTile = std::vector<std::vector<Touch>>;

// Buffers of which two tiles make the same bytes, as far as rectangles tell.
std::vector<uint32_t> colliding(const TouchedByTile& touched);

// Whether tiles of one make what other tiles of the other one make.
bool collide(const TouchedByTile& a, const TouchedByTile& b, uint32_t buffer);

// Whether some tile makes parts with both that no window of `most` bytes holds.
bool far_apart(const TouchedByTile& a, const TouchedByTile& b, uint32_t buffer, int64_t most);

}  // namespace mrvlc::accel

// A tensor lies in each tile as one window, the hull of what the tile reads and writes of it. Where readers
// are cut otherwise than what makes the tensor, the hull is much more than both: then these readers get a
// window of their own, a second buffer, to which the makers send every part.
#pragma once
#include <optional>
#include <vector>

#include "plan/cut.h"

namespace mrvlc::accel {

// nullopt: one window is enough everywhere. The new buffers are `copy_of` old ones. DDR must have been
// planned before: both have the same range of it.
std::optional<Program> with_second_windows(const Program& program, const std::vector<Cut>& cuts,
                                           uint32_t tiles);

}  // namespace mrvlc::accel

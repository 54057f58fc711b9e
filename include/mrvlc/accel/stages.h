// What the stages of the back end pass on, as text (docs/stages.md).
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "mrvlc/accel/accel.h"

namespace mrvlc::accel {

// In order.
std::vector<std::string_view> stage_names();
std::optional<Stage> stage_named(std::string_view name);

// The text of a stage from that of primitives: they are scheduled for the machine. Errors name a line of the
// text (MRV0802) or, what does not fit, the expression.
Result<std::string> stage_from_primitives(std::string_view text, const target::Machine& machine,
                                          const Options& options, Stage stage);

}  // namespace mrvlc::accel

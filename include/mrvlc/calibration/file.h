// The calibration file; docs/calibration.md.
#pragma once
#include "mrvlc/calibration/draw.h"
#include "mrvlc/calibration/observe.h"

namespace mrvlc::calibration {

inline constexpr uint64_t kMaxFileBytes = uint64_t{256} << 20;

std::string to_json(const Calibration& calibration);
// Every field is checked: what comes back is what to_json could have been given. Or what is wrong (MRV0905);
// `shown` is the file's name.
Result<Calibration> parse(std::string_view text, const std::string& shown);

// Inputs as the data had them, where they held any finite number that the graph's input can hold.
Distributions distributions_of(const ir::Graph& graph, const Calibration& calibration);

}  // namespace mrvlc::calibration

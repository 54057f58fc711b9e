// Which activations are stored as fp32 (docs/arithmetic.md, "Wide values"), from the layers alone.
#pragma once
#include <functional>
#include <set>

#include "constants.h"

namespace mrvlc::prove {

// `folded`: how many operators behind the anchor of a product layer go into its weights and bias.
std::set<std::string> wide_values(const RegionHints& region, Constants& constants,
                                  const std::function<size_t(const Layer&)>& folded);

}  // namespace mrvlc::prove

// What of a layer is measured, and what of it is taken.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "inputs/tuning_file.h"

namespace mrvlc::driver {

// Layers of one text.
struct LayerKind {
  int64_t count = 0;
  chost::Variant expected;            // of the first
  std::vector<chost::Variant> legal;  // of all of them
};
using LayerKinds = std::map<std::string, LayerKind, std::less<>>;
LayerKinds kinds_of(const std::vector<chost::LayerChoice>& choices);

// First the kernels, with their usual blocks, what is expected in front; then the other sizes of the blocks
// of the one that was fastest.
std::vector<chost::Variant> kernels_to_measure(const LayerKind& kind);
std::vector<chost::Variant> blocks_to_measure(const LayerKind& kind, const TunedLayer& measured);

// A variant must be faster than what is expected by this share, or its gain is taken for chance.
inline constexpr double kLeastGain = 0.03;
// The fastest that was measured, or what is expected unless it gains `least`.
std::string fastest(const TunedLayer& layer, double least = kLeastGain);

// Notes a time of a variant: the least of all is kept.
void note_time(TunedLayer& layer, chost::Variant variant, double ns);

}  // namespace mrvlc::driver

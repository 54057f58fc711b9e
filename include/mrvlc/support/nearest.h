// The name that was probably meant, for "did you mean".
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace mrvlc {

// The name that the fewest letters changed, added, left out or swapped with their neighbour make of `word`,
// when that is at most a third of its letters; of equals the first. Empty: none is near. Case counts half.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names);

// "; did you mean 'Conv'?", or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> names);

}  // namespace mrvlc

// How much a binary may ask of the simulator. Larger ones are refused when they are loaded, so whoever makes
// binaries keeps within these.
#pragma once
#include <cstdint>

namespace mrvlc::cost {

inline constexpr uint64_t kMaxDdrBytes = uint64_t{1} << 30;  // inputs, outputs and scratch together
inline constexpr uint64_t kMaxElements = uint64_t{1} << 26;  // that one PE instruction visits
inline constexpr uint32_t kMaxWindowSize = 1u << 24;         // a size, stride or dilation of a window
// Multiply-adds of one instruction; without aliasing a tile's memory allows 2^29.
inline constexpr uint64_t kMaxMacs = uint64_t{1} << 32;

}  // namespace mrvlc::cost

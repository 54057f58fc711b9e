// The generator behind the random operators: Philox 4x32-10 (J. Salmon, M. Moraes, R. Dror, D. Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", 2011). Counter based: element i of a result is a function of
// the key and i alone. docs/random.md says how the key and the numbers are made.
#pragma once
#include <array>

#include "common/emit_util.h"

namespace mrvlc::ops {

inline constexpr std::string_view kStream = "stream";

struct RandomKey {
  uint32_t low = 0, high = 0;
};
// From the attributes `seed` and `stream`.
RandomKey random_key(const ir::OpSchema& op, const std::vector<ir::Attr>& attrs);

// Four words for each value of the counter.
std::array<uint32_t, 4> philox(RandomKey key, uint64_t counter);
// In [0, 1), multiples of 2^-24: word i of the stream; of 2^-53: words 2i and 2i + 1.
double uniform24(RandomKey key, uint64_t i);
double uniform53(RandomKey key, uint64_t i);
// Two independent normal numbers by Box and Muller's method, from the four words of counter `pair`.
std::array<double, 2> normal_pair(RandomKey key, uint64_t pair);

// for (ptrdiff_t i = 0; i < n; ++i) { const double u = ...; the same numbers. The caller closes the block.
void open_uniform24(EmitContext& context, RandomKey key, std::string_view n);
void open_uniform53(EmitContext& context, RandomKey key, std::string_view n);
// for (ptrdiff_t i = 0; i < n; i += 2) { const double z0 = ..., z1 = ...;
void open_normals(EmitContext& context, RandomKey key, std::string_view n);

}  // namespace mrvlc::ops

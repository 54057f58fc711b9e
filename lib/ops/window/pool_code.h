// What the C of pools is written from, and the loops that its parts share.
#pragma once
#include <string>
#include <string_view>

#include "window/pool.h"

namespace mrvlc::ops {

struct PoolCode {
  EmitContext& context;
  const PoolParams& p;
  std::string type;
  size_t last;       // the innermost spatial dimension
  int64_t norm = 0;  // p of a p-norm
};

// (v0 * n1 + v1) * n2 + v2 ... over dimensions [0, count), "0" without any.
std::string nested_index(std::string_view var, const Shape& sizes, size_t count);
// Loops over the kernel of the outer dimensions, which skip what lies outside the input.
void open_outer_taps(PoolCode& code);
void close_blocks(EmitContext& context, size_t count);

// Large windows, in pool_rows.cpp: whole rows of the input are reduced over the outer dimensions, then along
// the row. A window of 13 x 13 takes 26 steps, not 169.
bool suits_rows(const PoolCode& code);
// Leaves the maxima or sums of an output row in `row`. init: what they begin with.
void reduce_rows(PoolCode& code, const std::string& init);

}  // namespace mrvlc::ops

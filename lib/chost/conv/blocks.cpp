// Sizes that keep what is read again in the caches it is read from.
#include "conv/blocks.h"

#include <algorithm>

#include "choice/choice.h"

namespace mrvlc::chost {

// Up to 320 x 176 gathered elements stay in the second-level cache, and a panel of six channels in the first.
// Blocks are equally wide, so that no pass over the weights serves a few pixels only; an odd number of cache
// lines from row to row spreads the rows of a panel over the sets of the first-level cache.
Blocking choose_blocking(const ConvPlan& plan, Blocks blocks) {
  constexpr int64_t kDepth = 320, kColumns = 176;
  int64_t depth = std::max<int64_t>(1, plan.channels * static_cast<int64_t>(plan.taps.size()));
  Blocking b;
  b.block_k = ceil_div(depth, ceil_div(depth, kDepth));
  int64_t pixels = std::max<int64_t>(plan.out[0] * plan.out[1], 1);
  int64_t panels = ceil_div(ceil_div(pixels, ceil_div(pixels, scaled(kColumns, blocks))), 16);
  b.columns = 16 * (panels + (panels % 2 == 0 ? 1 : 0));
  return b;
}

Strip choose_strip(const ConvPlan& plan, Blocks blocks) {
  constexpr int64_t kVector = 8, kFloats = 8192;
  Strip s{plan.taps[0].dx, plan.taps[0].dy};
  int64_t right = s.left, bottom = s.top, tap_rows = 1;
  for (size_t t = 1; t < plan.taps.size(); ++t) {
    const Tap& tap = plan.taps[t];
    s.left = std::min(s.left, tap.dx);
    right = std::max(right, tap.dx);
    s.top = std::min(s.top, tap.dy);
    bottom = std::max(bottom, tap.dy);
    if (tap.dy != plan.taps[t - 1].dy) ++tap_rows;
  }
  s.pitch = plan.out[1] + (right - s.left) / plan.stride[1] + kVector;
  int64_t columns = choose_blocking(plan, blocks).columns;
  int64_t rows = std::min(plan.out[0], ceil_div(columns, std::max<int64_t>(plan.out[1], 1)) + 1);
  int64_t line = plan.stride[1] * s.pitch, all = (rows - 1) * plan.stride[0] + bottom - s.top + 1;
  s.shared = all <= rows * tap_rows && all * line <= kFloats;
  s.floats = (s.shared ? all : rows) * line;
  return s;
}

int64_t gather_bytes(const ConvPlan& plan, Blocks blocks) {
  constexpr int64_t kVector = 8;  // the last row is written in whole vectors
  return choose_blocking(plan, blocks).bytes() +
         4 * (kVector + (plan.direct ? 0 : choose_strip(plan, blocks).floats));
}

partition::RowsPlan rows_plan(const ConvSizes& sizes, Blocks blocks) {
  return partition::rows_plan(sizes, scaled(partition::kRowsPieces, blocks));
}

}  // namespace mrvlc::chost

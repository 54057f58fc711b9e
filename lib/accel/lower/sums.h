// Reductions in an order that no memory size changes (docs/arithmetic.md, "Reductions"): one dimension after
// the other, the last first, and long dimensions in parts.
#pragma once
#include "lower/lowering.h"

namespace mrvlc::accel {

// Of x - less (where there is one) along `axes` (rising), then fma(alpha, v, beta).
struct Reduction {
  isa::ReduceOp op = isa::ReduceOp::Sum;
  std::vector<int64_t> axes;
  float alpha = 1, beta = 0;
  bool parts = true;                        // of long dimensions; false: they are known to fit
  std::optional<View> less = std::nullopt;  // fp32; 1 along the axes
};
// One instruction reduces the whole block: no order to keep, or a single dimension, and no parts.
bool at_once(const Dims& dims, const Reduction& r);
// `out` has one element along the axes.
Status reduce_to(Lowering& lowering, View x, Reduction r, const View& out, ir::NodeId expr);

}  // namespace mrvlc::accel

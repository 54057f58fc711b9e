// Scales of the values that become integers.
#pragma once
#include "observe.h"
#include "ranges.h"

namespace mrvlc::quantize {

struct ChosenRange {
  Affine affine;
  RangeMethod method = RangeMethod::MinMax;
  double seen_min = 0, seen_max = 0;
};

// By group of the plan. `expected`: outputs in floats, by sample.
Result<std::vector<ChosenRange>> choose_ranges(const ir::Graph& graph, const Plan& plan,
                                               const std::vector<Sample>& samples,
                                               const std::vector<std::vector<Tensor>>& expected,
                                               const Options& options);

}  // namespace mrvlc::quantize

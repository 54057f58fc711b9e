// Which runs of operations are worked through in stripes, and in how many.
#pragma once
#include <functional>

#include "mrvlc/support/result.h"
#include "plan/stripe.h"

namespace mrvlc::accel {

struct Striping {
  std::vector<Run> runs;         // in order, apart
  std::vector<int64_t> stripes;  // of each; 1: as a whole
};

// Tries the runs in stripes, one after the other, then longer ones and some joined, as long as that helps.
// `better` makes and times a schedule, and says whether it is the fastest so far; `primitives` is how many
// there are.
Status search_stripes(std::vector<Run> runs, size_t primitives,
                      const std::function<Result<bool>(const Striping&)>& better);

}  // namespace mrvlc::accel

// Which runs of operations are worked through in stripes, and in how many.
#pragma once
#include <functional>

#include "mrvlc/support/result.h"
#include "plan/stripe.h"

namespace mrvlc::accel {

struct Striping {
  std::vector<Run> runs;    // in order, apart
  std::vector<Grid> grids;  // of each
};

// Tries the runs in stripes, one after the other, then longer ones and some joined, as long as that helps.
// `choices` says in which grids a run may be tried; `better` makes and times a schedule, and says whether it
// is the fastest so far; `primitives` is how many there are.
struct StripeTrials {
  std::function<std::vector<Grid>(const Run&)> choices;
  std::function<Result<bool>(const Striping&)> better;
};
Status search_stripes(std::vector<Run> runs, size_t primitives, const StripeTrials& trials);

}  // namespace mrvlc::accel

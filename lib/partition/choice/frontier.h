// The best choice by the costs that add up, node by node: what the rest of the graph can tell of a choice for
// the nodes so far is how the values are handed that it still reads. So a narrow graph is searched as a
// whole.
#pragma once
#include "choice/whole.h"

namespace mrvlc::partition {

struct Bound {
  double least = 0;              // no choice takes less
  std::optional<Choice> choice;  // of the least by costs that add up, where one is below `most`
};
// `most`: seconds of a choice that is known; what cannot be less is not looked at.
Bound search_frontier(const Placement& placement, const Offers& offers, const Tariff& tariff, double most);

// The least of all choices by what they take as a whole, where that takes no more than a number of steps.
struct Least {
  bool all = false;  // whether all were looked at
  double seconds = 0;
  Choice choice;  // no other than the one that is known where none is better
};
Least search_all(const Placement& placement, const Offers& offers, const Tariff& tariff, Whole& whole,
                 const Choice& known, double seconds);

}  // namespace mrvlc::partition

// Placement one after the other in a given order, and a local search over orders.
#pragma once
#include "problem.h"

namespace mrvlc::alloc {

// The best layout of several orders and rules of fit; stops at the first that reaches `goal`.
Layout greedy(const Problem& problem, int64_t goal, Budget& budget);

// Changes the order of placement a little again and again, keeps what is no worse; until `goal` is reached or
// `budget` is spent. `best` is the start and takes the result.
void improve(const Problem& problem, int64_t goal, Layout& best, Budget& budget);

}  // namespace mrvlc::alloc

// Placement one after the other in a given order, and a local search over orders.
#pragma once
#include "problem.h"

namespace mrvlc::alloc {

// The best layout of several orders and rules of fit; stops at the first that reaches `goal`.
Layout greedy(const Problem& problem, int64_t goal, Budget& budget);

// Squeaky wheel optimisation [Joslin, Clements, JAIR 1999]: what reached above `goal` moves to the front of
// the order, again and again, until all is under it or `step_limit` steps are done. `best` is the start and
// takes the result.
void improve(const Problem& problem, int64_t goal, uint64_t step_limit, Layout& best, Budget& budget);

}  // namespace mrvlc::alloc

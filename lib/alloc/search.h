// Exact search for a layout within a capacity: branch and bound over what lies next on what is placed
// already.
//
// Only layouts in which every box rests on another or on the floor matter, so a layout is an order of
// placement. A node takes a box and either places it under all others that meet it, or postpones it: some
// other goes under it. No two leaves are the same layout. What follows from either is inferred for every
// section (state.h). The box taken is the lowest that can be placed; among equals, rules that count how often
// a section failed [Boussemart et al., Boosting systematic search by weighting constraints, ECAI 2004].
// Restarts change the rule. States that failed are remembered, and parts of the time that nothing unplaced
// connects are solved apart.
//
// Related: Moffitt, MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning,
// ASPLOS 2023 (canonical layouts, sections, inference on them); Maas et al., TelaMalloc, ASPLOS 2023; Le Pape
// et al., Time-versus-capacity compromises in project scheduling, 1994 (place or postpone).
#pragma once
#include "problem.h"

namespace mrvlc::alloc {

enum class Answer : uint8_t { Found, None, Unknown };

struct SearchResult {
  Answer answer = Answer::Unknown;
  Layout layout;       // when found
  uint64_t nodes = 0;  // placements tried
};

// None: there is no layout of at most `capacity` (states are told apart by 64 bits, so this may in theory be
// wrong; a layout found never is). Unknown: `step_limit` more steps, or the budget, were spent first.
SearchResult search(const Problem& problem, int64_t capacity, uint64_t step_limit, Budget& budget);

}  // namespace mrvlc::alloc

// The problem in its smallest form: time cut into the sections that matter, sizes in units of their greatest
// common divisor, one Problem for each part of the time that shares no item with the rest.
#pragma once
#include <cstdint>
#include <vector>

#include "mrvlc/alloc/alloc.h"

namespace mrvlc::alloc {

// A section is a maximal set of items alive at one time; moments whose items are all alive in another section
// constrain nothing. An item covers consecutive sections, and two items meet in time iff they share one.
struct Box {
  uint32_t begin = 0, end = 0;  // sections [begin, end)
  int64_t size = 0;             // units
  int64_t fixed = -1;           // offset that only the search respects; -1: free
};

struct Problem {
  std::vector<Box> boxes;       // by begin, then by end, then largest first
  std::vector<uint32_t> items;  // of the caller, one for each box
  uint32_t sections = 0;
  std::vector<int64_t> load;  // of each section: sum of the sizes
  int64_t lower_bound = 0;    // greatest load
};

struct Instance {
  int64_t unit = 1;  // bytes
  std::vector<Problem> parts;
  int64_t lower_bound = 0;  // units
};

// Load and lower bound from the boxes.
void add_up(Problem& problem);

Instance normalise(const std::vector<Item>& items, int64_t alignment);

// Effort, shared by all that work on one call.
struct Budget {
  uint64_t steps = 0, limit = 0;
  bool spent() const { return steps >= limit; }
  uint64_t left() const { return spent() ? 0 : limit - steps; }
};

// Offsets of the boxes of a problem, in units, and the top of the highest.
struct Layout {
  std::vector<int64_t> offsets;
  int64_t peak = INT64_MAX;
};

}  // namespace mrvlc::alloc

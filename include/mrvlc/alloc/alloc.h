// Offline storage allocation: offsets for buffers whose live ranges are known, so that no two that live at
// the same time overlap and the highest byte used is as low as it can be. The problem is NP-hard (Garey,
// Johnson, Computers and Intractability, SR2); see docs/decisions/0004-memory-planner.md for the method.
// Everything here is deterministic: effort is counted in steps of the search, never in time.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace mrvlc::alloc {

// Alive in [begin, end) of any unit of time. An item with an empty live range or without size gets offset 0.
// The sum of all sizes, rounded up to the alignment, must be below 2^62; a negative size counts as 0.
struct Item {
  int64_t begin = 0, end = 0;
  int64_t size = 0;
};

struct Options {
  int64_t alignment = 1;         // of every offset; sizes count rounded up to it
  uint64_t effort = 20'000'000;  // steps; one is about 0.1 us, and about one look at one item
};

struct Placement {
  std::vector<int64_t> offsets;  // of each item, multiples of the alignment
  int64_t peak = 0;              // least size of an arena that holds all
  int64_t lower_bound = 0;       // greatest sum of the sizes alive at one time
  bool proven = false;           // no placement has a lower peak
  uint64_t nodes = 0;            // placements tried by the exact search
  uint64_t steps = 0;            // effort used
};

// The least peak found within the effort; exact (`proven`) in most cases, always valid.
Placement minimise_peak(const std::vector<Item>& items, const Options& options = {});

// A placement whose peak is at most `capacity`; nullopt when there is none or none was found within the
// effort. Stops at the first that fits, so a wide capacity costs little.
std::optional<Placement> place_within(const std::vector<Item>& items, int64_t capacity,
                                      const Options& options = {});

// The time of the greatest load: what stands in the way of a smaller arena.
struct Peak {
  int64_t time = 0, bytes = 0;  // the first such time, and the sum of the rounded sizes
  std::vector<uint32_t> items;  // alive then, largest first
};
Peak peak_load(const std::vector<Item>& items, int64_t alignment = 1);

// Places one item after the other, each at the lowest offset that is free for its whole live range. For
// schedulers that ask "does this fit as well?" very often: a question costs one pass over the items placed so
// far.
class FirstFit {
 public:
  explicit FirstFit(int64_t capacity, int64_t alignment = 1) : capacity_(capacity), alignment_(alignment) {}
  std::optional<int64_t> find(const Item& item) const;  // where it would go; nullopt when it does not fit
  std::optional<int64_t> place(const Item& item);       // find, and keep it there
  // Keeps an item at a given offset, whether or not that is free.
  void keep(const Item& item, int64_t offset);
  // Frees what was kept with exactly this live range, size and offset; false when there is none.
  bool remove(const Item& item, int64_t offset);
  int64_t peak() const;  // highest byte in use at any time
  size_t size() const { return placed_.size(); }

 private:
  struct Interval {
    int64_t offset, top, begin, end;
  };
  int64_t capacity_, alignment_;
  std::vector<Interval> placed_;  // by offset
};

}  // namespace mrvlc::alloc

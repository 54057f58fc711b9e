// What is taken of on-chip memory over time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mrvlc::accel {

// Steps in groups, so that a question looks at few items.
class Occupancy {
 public:
  Occupancy(size_t steps, int64_t capacity) : groups_(steps / kGroup + 1), capacity_(capacity) {}

  // Bytes [begin, end) are taken in steps [first, last].
  void keep(int64_t first, int64_t last, int64_t begin, int64_t end);
  // The lowest (or highest) address with room for `bytes` in steps [first, last]; -1: none.
  int64_t hole(int64_t first, int64_t last, int64_t bytes, bool from_top);

 private:
  static constexpr int64_t kGroup = 32;
  struct Range {
    int64_t first, last, begin, end;
  };
  std::vector<std::vector<Range>> groups_;
  int64_t capacity_;
  std::vector<std::pair<int64_t, int64_t>> busy_;
};

}  // namespace mrvlc::accel

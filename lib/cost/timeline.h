// A shared path (an OCM port, a tile's link) over simulated time: how much of its rate is already given away,
// as steps. Whoever starts first is served first; later ones take what is left, so that the rate is never
// exceeded at any instant.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mrvlc::cost {

class Timeline {
 public:
  explicit Timeline(double capacity) : capacity_(capacity) {}  // bytes a cycle

  // Moves `bytes` from `start` on, as evenly over `cycles` as the capacity left allows; when the last one has
  // passed. `now` never decreases from call to call; start >= now.
  uint64_t reserve(uint64_t now, uint64_t start, uint64_t bytes, uint64_t cycles);

 private:
  struct Step {
    double begin = 0, used = 0;  // until the next step begins; the last one has no end
  };
  size_t split(double at);
  double capacity_;
  std::vector<Step> steps_ = {{0, 0}};
};

}  // namespace mrvlc::cost

// Sets that are joined and never come apart (Tarjan, "Efficiency of a good but not linear set union algorithm",
// 1975, with paths halved).
#pragma once
#include <cstddef>
#include <numeric>
#include <vector>

namespace mrvlc::quantize {

class DisjointSets {
 public:
  explicit DisjointSets(size_t n) : towards_(n) { std::iota(towards_.begin(), towards_.end(), size_t{0}); }

  // The same element for all of a set.
  size_t leader(size_t i) {
    while (towards_[i] != i) i = towards_[i] = towards_[towards_[i]];
    return i;
  }
  void join(size_t a, size_t b) { towards_[leader(a)] = leader(b); }

 private:
  std::vector<size_t> towards_;
};

}  // namespace mrvlc::quantize

// A set of 64-bit keys of bounded size: when it is full, a new key takes the place of an old one.
#pragma once
#include <cstdint>
#include <vector>

namespace mrvlc::alloc {

constexpr uint64_t mix(uint64_t x) {  // splitmix64 [Steele et al., OOPSLA 2014]
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class FailedStates {
 public:
  bool contains(uint64_t key) const { return slots_[key & (slots_.size() - 1)] == key; }

  void insert(uint64_t key) {
    if (++inserted_ > slots_.size() / 2 && slots_.size() < kMaxSlots) grow();
    slots_[key & (slots_.size() - 1)] = key;
  }

 private:
  static constexpr size_t kMaxSlots = size_t{1} << 21;

  void grow() {
    std::vector<uint64_t> old(slots_.size() * 4, 0);
    old.swap(slots_);
    for (uint64_t key : old)
      if (key != 0) slots_[key & (slots_.size() - 1)] = key;
  }

  std::vector<uint64_t> slots_ = std::vector<uint64_t>(512, 0);  // 0: free
  size_t inserted_ = 0;
};

}  // namespace mrvlc::alloc

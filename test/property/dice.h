// Random choices that are the same with every compiler and library: a case is its seed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "../splitmix.h"

namespace mrvlc::random {

class Dice : public SplitMix {
 public:
  // The states of neighbouring seeds are far apart, so that no case is another one's shifted by a number.
  explicit Dice(uint64_t seed) : SplitMix(SplitMix(seed).next()) {}

  // Both ends included.
  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return pick(0, 99) < percent; }
  // In [low, high).
  double real(double low, double high) {
    return low + (high - low) * (static_cast<double>(next() >> 11) * 0x1p-53);
  }
  template <class T>
  T of(std::initializer_list<T> list) {
    return list.begin()[pick(0, static_cast<int64_t>(list.size()) - 1)];
  }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<size_t>(pick(0, static_cast<int64_t>(list.size()) - 1))];
  }
  // Sizes of every magnitude up to `high`, small ones as often as large ones; every fourth is a multiple of
  // 16 or one beside it, where blocks of channels begin and end.
  int64_t size(int64_t low, int64_t high) {
    int64_t top = low;
    while (top < high && chance(84)) top = top * 2 + 1;
    int64_t n = pick(low, top < high ? top : high);
    if (high >= 32 && chance(25)) n = pick(1, high / 16) * 16 + pick(-1, 1);
    return n < low ? low : n > high ? high : n;
  }
};

}  // namespace mrvlc::random

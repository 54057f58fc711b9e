// Numbers by seed, the same everywhere.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>

#include "../splitmix.h"

namespace mrvlc::fuzz {

class Random : public random::SplitMix {
 public:
  using SplitMix::SplitMix;
  // In [0, n); n > 0.
  uint64_t below(uint64_t n) { return next() % n; }
  int pick(int n) { return static_cast<int>(below(static_cast<uint64_t>(n))); }
  bool one_in(uint64_t n) { return below(n) == 0; }
  template <class T>
  T of(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }

  int64_t integer();    // mostly small, at times where arithmetic overflows
  int64_t dimension();  // mostly small and valid
  double real();        // with NaN, infinities, denormals
  std::string hostile_name();
};

}  // namespace mrvlc::fuzz

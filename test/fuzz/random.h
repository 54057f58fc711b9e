// Numbers by seed, the same everywhere: splitmix64 (Steele, Lea, Flood 2014).
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>

namespace mrvlc::fuzz {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
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

 private:
  uint64_t state_;
};

}  // namespace mrvlc::fuzz

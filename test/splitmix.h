// Numbers that are the same with every compiler and library: splitmix64 (Steele, Lea, Flood 2014).
#pragma once
#include <cstdint>

namespace mrvlc::random {

class SplitMix {
 public:
  explicit SplitMix(uint64_t state) : state_(state) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }

 private:
  uint64_t state_;
};

}  // namespace mrvlc::random

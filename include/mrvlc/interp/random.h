// mulberry32 by Tommy Ettinger (public domain): 32 bits of state, one 32-bit number a call.
#pragma once
#include <cstdint>

namespace mrvlc::interp {

class Mulberry32 {
 public:
  explicit Mulberry32(uint32_t seed) : state_(seed) {}
  uint32_t next() {
    state_ += 0x6d2b79f5u;
    uint32_t t = (state_ ^ state_ >> 15) * (state_ | 1u);
    t ^= t + (t ^ t >> 7) * (t | 61u);
    return t ^ t >> 14;
  }
  double uniform() { return static_cast<double>(next()) * 0x1p-32; }  // in [0, 1)

 private:
  uint32_t state_;
};

}  // namespace mrvlc::interp

// Integers modulo a random prime of 61 bits: what values are while a program is executed on symbols.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace mrvlc::prove {

__extension__ using Wide = unsigned __int128;

class Field {
 public:
  // Prime and keys follow from the seed, any text.
  explicit Field(std::string_view seed);

  uint64_t prime() const { return p_; }
  uint64_t add(uint64_t a, uint64_t b) const {
    const uint64_t s = a + b;
    return s >= p_ ? s - p_ : s;
  }
  uint64_t neg(uint64_t a) const { return a == 0 ? 0 : p_ - a; }
  uint64_t mul(uint64_t a, uint64_t b) const { return divide(static_cast<Wide>(a) * b); }
  // Of a sum of at most 63 products.
  uint64_t reduce(Wide x) const {
    auto hi = static_cast<uint64_t>(x >> 64);
    for (const uint64_t some : {8 * p_, 4 * p_, 2 * p_, p_}) hi -= some & if_true(hi >= some);
    return divide(static_cast<Wide>(hi) << 64 | static_cast<uint64_t>(x));
  }
  uint64_t power(uint64_t base, uint64_t exponent) const;
  uint64_t inverse(uint64_t a) const { return power(a, p_ - 2); }

  // The exact number; infinities and NaN are symbols of their own.
  uint64_t of(float value) const;
  uint64_t of_half(uint16_t bits) const { return halves_[bits]; }

  // A keyed hash as a random element.
  uint64_t hash(uint64_t tag, uint64_t a, uint64_t b = 0, uint64_t c = 0) const;
  uint64_t alpha() const { return alpha_; }  // names the order of product sums

 private:
  // All bits, or none: values are random, and a branch on them is mispredicted every other time.
  static uint64_t if_true(bool condition) { return ~static_cast<uint64_t>(condition) + 1; }
  // x < p * 2^64; Moeller and Granlund 2011, "Improved division by invariant integers", algorithm 4.
  uint64_t divide(Wide x) const {
    x <<= 3;
    const auto u1 = static_cast<uint64_t>(x >> 64), u0 = static_cast<uint64_t>(x);
    const Wide q = static_cast<Wide>(reciprocal_) * u1 + x;
    const auto q1 = static_cast<uint64_t>(q >> 64) + 1;
    uint64_t r = u0 - q1 * d_;
    r += d_ & if_true(r > static_cast<uint64_t>(q));
    if (r >= d_) r -= d_;
    return r >> 3;
  }
  uint64_t random(std::string_view seed, std::string_view what, uint64_t count) const;
  bool is_prime(uint64_t n);
  void set_prime(uint64_t p);

  uint64_t p_ = 0, d_ = 0, reciprocal_ = 0, alpha_ = 0;
  std::array<uint64_t, 6> keys_{};
  std::array<uint64_t, 300> powers_{};  // 2^(i - 150)
  std::array<uint64_t, 65536> halves_{};
};

}  // namespace mrvlc::prove

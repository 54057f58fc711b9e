// The prime, the keys, and numbers as elements.
#include "field.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <string>

#include "mrvlc/support/hash.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::prove {
namespace {

constexpr int kBias = 150;  // powers_[kBias] = 1

uint64_t mixed(uint64_t a, uint64_t b) {
  const Wide t = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(t) ^ static_cast<uint64_t>(t >> 64);
}

}  // namespace

uint64_t Field::random(std::string_view seed, std::string_view what, uint64_t count) const {
  const std::string text = std::string(seed) + "/" + std::string(what) + "/" + std::to_string(count);
  const auto digest = sha256(std::as_bytes(std::span(text.data(), text.size())));
  uint64_t out = 0;
  std::memcpy(&out, digest.data(), sizeof out);
  return out;
}

void Field::set_prime(uint64_t p) {
  p_ = p;
  d_ = p << 3;
  reciprocal_ = static_cast<uint64_t>(~Wide{0} / d_ - (Wide{1} << 64));
}

uint64_t Field::power(uint64_t base, uint64_t exponent) const {
  uint64_t out = 1;
  for (; exponent != 0; exponent >>= 1, base = mul(base, base))
    if ((exponent & 1) != 0) out = mul(out, base);
  return out;
}

// Miller and Rabin with the bases that decide for all numbers of 64 bits.
bool Field::is_prime(uint64_t n) {
  for (uint64_t small : {3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37})
    if (n % small == 0) return false;
  set_prime(n);
  const int twos = std::countr_zero(n - 1);
  for (uint64_t base : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}) {
    uint64_t x = power(base, (n - 1) >> twos);
    bool passes = x == 1 || x == n - 1;
    for (int i = 1; i < twos && !passes; ++i) {
      x = mul(x, x);
      passes = x == n - 1;
    }
    if (!passes) return false;
  }
  return true;
}

Field::Field(std::string_view seed) {
  // 2^61 - 1 is left out: a factor of 2^61 is 1 there.
  constexpr uint64_t kTop = (uint64_t{1} << 61) - 1;
  for (uint64_t i = 0;; ++i) {
    const uint64_t n = (random(seed, "prime", i) >> 4 | uint64_t{1} << 60 | 1) & kTop;
    if (n != kTop && is_prime(n)) break;
  }
  alpha_ = random(seed, "alpha", 0) % (p_ - 2) + 2;
  for (size_t i = 0; i < keys_.size(); ++i) keys_[i] = random(seed, "key", i);
  const uint64_t half = (p_ + 1) / 2;
  powers_[kBias] = 1;
  for (size_t i = kBias; i + 1 < powers_.size(); ++i) powers_[i + 1] = add(powers_[i], powers_[i]);
  for (size_t i = kBias; i > 0; --i) powers_[i - 1] = mul(powers_[i], half);
  for (uint32_t i = 0; i < halves_.size(); ++i) halves_[i] = of(half_to_float(static_cast<uint16_t>(i)));
}

uint64_t Field::of(float value) const {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t exponent = bits >> 23 & 0xffu;
  uint64_t mantissa = bits & 0x7fffffu;
  if (exponent == 255) return hash(1, std::isnan(value) ? 0x7fc00000u : bits);
  if (exponent != 0) mantissa |= 0x800000u;
  // Subnormals have the exponent of 1.
  const uint32_t power = (exponent == 0 ? 1 : exponent) + kBias - 150;
  const uint64_t magnitude = mul(mantissa, powers_[power]), negative = if_true((bits >> 31) != 0);
  const uint64_t out = (magnitude ^ negative) + ((p_ + 1) & negative);
  return out == p_ ? 0 : out;
}

uint64_t Field::hash(uint64_t tag, uint64_t a, uint64_t b, uint64_t c) const {
  uint64_t h = mixed(a ^ keys_[0], tag ^ keys_[1]);
  h = mixed(h ^ keys_[2], b ^ keys_[3]);
  h = mixed(h ^ keys_[4], c ^ keys_[5]);
  h = mixed(h ^ keys_[1], keys_[2] | 1);
  const uint64_t low = h & ((uint64_t{1} << 61) - 1);
  return low >= p_ ? low - p_ : low;
}

}  // namespace mrvlc::prove

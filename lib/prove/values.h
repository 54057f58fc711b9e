// What an element is during a proof: a number, or a symbol that names how it is computed. Two equal symbols
// are computed alike; different ones collide with the probability of docs/prove.md.
#pragma once
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "extremes.h"
#include "field.h"

namespace mrvlc::prove {

// Bit 63: a number, its fp32 in the low bits. Else an element of the field; bit 62: it is a number of fp16,
// bit 61: a small integer, whose sums are exact.
using Val = uint64_t;
inline constexpr Val kNumber = Val{1} << 63, kHalf = Val{1} << 62, kInteger = Val{1} << 61,
                     kElement = kInteger - 1;

inline constexpr float kInfinity = std::bit_cast<float>(0x7f800000u);

inline Val number(float v) {
  return kNumber | std::bit_cast<uint32_t>(v == 0 ? 0.0f : v);  // -0 is 0: the sign of zero is not claimed
}
inline bool is_number(Val v) {
  return (v & kNumber) != 0;
}
inline float number_of(Val v) {
  return std::bit_cast<float>(static_cast<uint32_t>(v));
}

enum class Type : uint8_t { F16 = 0, F32 = 1, I8 = 2, I32 = 3, U8 = 4 };
inline uint32_t size_of(Type t) {
  return t == Type::F16 ? 2 : t == Type::F32 || t == Type::I32 ? 4 : 1;
}
inline bool is_byte(Type t) {
  return t == Type::I8 || t == Type::U8;
}

// Integers stand for (q - zero) * scale.
struct Quantum {
  int16_t zero = 0;
  float scale = 0;
  bool operator==(const Quantum&) const = default;
};

struct Table {
  std::vector<float> lines;  // c0, c1 of each of 2048 segments
  bool of_function = true;   // of the model; else only its bytes are known
};

class Values {
 public:
  // `real`: claim B. Sums, products and quotients are those of the field, nothing is rounded.
  explicit Values(const Field& field, bool real = false) : f_(field), real_(real) {}
  bool is_real() const { return real_; }
  // Without integers, bounds of what is clipped are not asked for again.
  void forget_clips() { keeps_clips_ = false; }
  const Field& field() const { return f_; }

  uint64_t element(Val v) const { return is_number(v) ? f_.of(number_of(v)) : v & kElement; }
  bool same(Val a, Val b) const { return element(a) == element(b); }

  // Each rounds to fp32 once.
  Val add(Val a, Val b);
  Val sub(Val a, Val b) { return add(a, neg(b)); }
  Val mul(Val a, Val b);
  Val div(Val a, Val b);
  Val fma(Val a, Val b, Val c);
  Val neg(Val a);
  Val abs(Val a);
  Val sqrt(Val a);
  Val floor(Val a);
  Val max(Val a, Val b) { return extreme(a, b, true); }
  Val min(Val a, Val b) { return extreme(a, b, false); }
  // Of all of them at once.
  Val extreme_of(const std::vector<Val>& all, bool greatest);
  // `keep`: it can be stored as an integer, which rounds the bounds.
  Val clip(Val a, float low, float high, bool keep = true);
  Val leaky(Val a, float slope);
  Val prelu(Val a, Val slope);
  Val compare(uint32_t op, Val a, Val b);  // Equal, Less, Greater by the number of the instruction
  Val select(Val a, Val b, float other);

  Val half(Val a);  // rounded to fp16
  // A value of 8 bits, itself the integer, as the number it stands for, and back.
  Val read(Val q, Quantum of);
  Val store(Val v, Quantum as, Type type);
  // fp32 of an exact sum modulo 2^32, an element of the field; `number`: what it is, where it is known.
  Val from_sum(uint64_t sum);

  // Tables by the name of their function; of claim A those with the same lines are one.
  uint32_t register_table(const std::string& name, std::vector<float> lines, bool of_function = true);
  std::optional<uint32_t> find_table(const std::vector<float>& lines) const;
  const Table& table(uint32_t id) const { return tables_[id]; }
  Val look_up(uint32_t table, Val x);
  uint32_t register_bytes(const std::string& bytes);  // a table of 256
  Val look_up_byte(uint32_t table, Val q, Type type);
  // A symbol that nothing else is equal to.
  Val symbol(uint64_t tag, uint64_t a, uint64_t b = 0) const { return f_.hash(0x1000 + tag, a, b); }

 private:
  struct Clip {
    Val of;
    float low, high;
  };
  struct Read {
    Val q;
    Quantum quantum;
  };
  Val add_real(Val a, Val b) const;
  Val extreme(Val a, Val b, bool greatest);
  uint32_t terms(Val v) const;
  Val pair(uint64_t tag, Val a, Val b) const { return f_.hash(tag, element(a), element(b)); }

  const Field& f_;
  bool real_ = false, keeps_clips_ = true;
  Extremes greatest_, least_;
  std::unordered_map<uint64_t, Clip> clips_;  // of what is not rounded to fp16
  std::unordered_map<uint64_t, Read> reads_;
  std::unordered_map<uint64_t, uint32_t> terms_;  // of sums of integers, from two on
  std::vector<Table> tables_;
  std::map<std::string, uint32_t> names_;
  std::map<std::string, uint32_t> bytes_;
};

}  // namespace mrvlc::prove

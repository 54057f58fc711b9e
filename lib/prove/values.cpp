// The laws of values: what is equal bit for bit has one symbol.
#include "values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mrvlc/tensor/float16.h"

namespace mrvlc::prove {
namespace {

// How a value is computed.
enum Tag : uint64_t {
  kAdd = 16,
  kMul,
  kDiv,
  kFma,
  kNeg,
  kAbs,
  kSqrt,
  kFloor,
  kMax,
  kMin,
  kClip,
  kLeaky,
  kPrelu,
  kSelect,
  kRound,
  kReadInt,
  kStoreInt,
  kSaturate,
  kFromSum,
  kTable,
  kByteTable,
  kCompare
};

// Differences of 8 bits of which a sum is an integer that fp32 holds.
constexpr uint32_t kExactTerms = (1u << 24) / 255;

bool is(Val v, float n) {
  return is_number(v) && number_of(v) == n;
}
bool is_infinite(Val v) {
  return is_number(v) && std::isinf(number_of(v));
}
bool both_numbers(Val a, Val b) {
  return is_number(a) && is_number(b);
}
uint64_t bits(float v) {
  return std::bit_cast<uint32_t>(v == 0 ? 0.0f : v);
}
bool fits_half(float v) {
  return half_to_float(float_to_half(v)) == v;
}
bool is_half(Val v) {
  return is_number(v) ? fits_half(number_of(v)) : (v & kHalf) != 0;
}
Val marked(uint64_t element, bool half) {
  return element | (half ? kHalf : 0);
}

uint64_t bits(Quantum q) {
  return bits(q.scale) << 16 | static_cast<uint16_t>(q.zero);
}

float lowest(Type t) {
  return t == Type::I8 ? -128.0f : 0.0f;
}
float highest(Type t) {
  return t == Type::I8 ? 127.0f : 255.0f;
}

// Of a number that may be infinite; NaN gives the lowest.
float stored(float v, Quantum as, Type type) {
  if (std::isnan(v)) return lowest(type);
  const float steps = v / as.scale;
  if (std::isinf(steps)) return steps < 0 ? lowest(type) : highest(type);
  const double whole = std::nearbyint(static_cast<double>(steps)) + as.zero;
  return static_cast<float>(
      std::clamp(whole, static_cast<double>(lowest(type)), static_cast<double>(highest(type))));
}

bool alike(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

// A real number beside an infinity does not show.
Val Values::add_real(Val a, Val b) const {
  const bool of_a = is_infinite(a), of_b = is_infinite(b);
  if (of_a || of_b) return of_a && of_b ? number(number_of(a) + number_of(b)) : of_a ? a : b;
  return f_.add(element(a), element(b));
}

Val Values::add(Val a, Val b) {
  if (real_) return add_real(a, b);
  if (both_numbers(a, b)) return number(number_of(a) + number_of(b));
  if (is(a, 0)) return b;
  if (is(b, 0)) return a;
  // Integers of 8 bits, and sums of few of them.
  if (const uint32_t n = terms(a) + terms(b); (a & b & kInteger) != 0 && n <= kExactTerms) {
    const Val sum = f_.add(element(a), element(b));
    terms_[sum] = n;
    return sum | kInteger;
  }
  const uint64_t x = element(a), y = element(b);
  return f_.hash(kAdd, std::min(x, y), std::max(x, y));
}

uint32_t Values::terms(Val v) const {
  const auto known = terms_.find(v & kElement);
  return known == terms_.end() ? 1 : known->second;
}

Val Values::mul(Val a, Val b) {
  if (real_) return f_.mul(element(a), element(b));
  if (both_numbers(a, b)) return number(number_of(a) * number_of(b));
  if (is(a, 1)) return b;
  if (is(b, 1)) return a;
  if (is(a, -1)) return neg(b);
  if (is(b, -1)) return neg(a);
  const uint64_t x = element(a), y = element(b);
  return f_.hash(kMul, std::min(x, y), std::max(x, y));
}

Val Values::div(Val a, Val b) {
  if (real_) return f_.mul(element(a), f_.inverse(element(b)));
  if (both_numbers(a, b)) return number(number_of(a) / number_of(b));
  return is(b, 1) ? a : pair(kDiv, a, b);
}

Val Values::fma(Val a, Val b, Val c) {
  if (real_) return add_real(f_.mul(element(a), element(b)), c);
  if (both_numbers(a, b) && is_number(c)) return number(std::fma(number_of(a), number_of(b), number_of(c)));
  if (is(c, 0)) return mul(a, b);
  if (is(a, 1)) return add(b, c);
  if (is(b, 1)) return add(a, c);
  if (is(a, -1)) return add(neg(b), c);
  if (is(b, -1)) return add(neg(a), c);
  const uint64_t x = element(a), y = element(b);
  return f_.hash(kFma, std::min(x, y), std::max(x, y), element(c));
}

Val Values::neg(Val a) {
  if (is_number(a)) return number(-number_of(a));
  if (real_) return f_.neg(element(a));
  return marked(f_.neg(a & kElement), is_half(a));
}

Val Values::abs(Val a) {
  if (real_) return f_.hash(kAbs, std::min(element(a), f_.neg(element(a))));
  if (is_number(a)) return number(std::fabs(number_of(a)));
  // |-a| = |a|
  const uint64_t x = a & kElement;
  return marked(f_.hash(kAbs, std::min(x, f_.neg(x))), is_half(a));
}

Val Values::sqrt(Val a) {
  if (is_number(a) && !real_) return number(std::sqrt(number_of(a)));
  return f_.hash(kSqrt, element(a));
}

Val Values::floor(Val a) {
  return is_number(a) ? number(std::floor(number_of(a))) : f_.hash(kFloor, a & kElement);
}

// A set: the order and how often a member is there do not matter.
Val Values::extreme(Val a, Val b, bool greatest) {
  if (both_numbers(a, b)) {
    const float x = number_of(a), y = number_of(b);
    if (std::isnan(x) || std::isnan(y)) return number(std::numeric_limits<float>::quiet_NaN());
    return greatest == (x > y) ? a : b;
  }
  if (is_number(a)) return greatest ? clip(b, number_of(a), kInfinity) : clip(b, -kInfinity, number_of(a));
  if (is_number(b)) return greatest ? clip(a, number_of(b), kInfinity) : clip(a, -kInfinity, number_of(b));
  if (same(a, b)) return a;
  return extreme_of({a, b}, greatest);
}

Val Values::extreme_of(const std::vector<Val>& values, bool greatest) {
  std::vector<uint64_t> all;
  Val bound = number(greatest ? -kInfinity : kInfinity);
  bool half = true, bounded = false;
  for (Val v : values) {
    if (is_number(v)) {
      bound = extreme(bound, v, greatest);
      bounded = true;
      continue;
    }
    half = half && is_half(v);
    if (const auto* members = (greatest ? greatest_ : least_).find(v & kElement))
      all.insert(all.end(), members->begin(), members->end());
    else
      all.push_back(v & kElement);
  }
  if (all.empty()) return bound;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  uint64_t h = all.size();
  for (uint64_t m : all) h = f_.hash(greatest ? kMax : kMin, h, m);
  if (all.size() == 1)
    h = all[0];
  else
    (greatest ? greatest_ : least_).add(h, std::move(all));
  const Val v = marked(h, half);
  if (!bounded) return v;
  return greatest ? clip(v, number_of(bound), kInfinity) : clip(v, -kInfinity, number_of(bound));
}

Val Values::clip(Val a, float low, float high, bool keep) {
  if (is_number(a)) {
    float v = number_of(a);
    if (std::isnan(v)) return a;
    v = v < low ? low : v;
    return number(v > high ? high : v);
  }
  if (low == -kInfinity && high == kInfinity) return a;
  if (real_) {
    // Monotone: the bounds of a greatest are those of its members.
    if (const auto* members = greatest_.find(a & kElement)) {
      const std::vector<uint64_t> all = *members;
      Val v = clip(all[0], low, high);
      for (size_t i = 1; i < all.size(); ++i) v = max(v, clip(all[i], low, high));
      return v;
    }
    if (const auto inner = clips_.find(a & kElement);
        inner != clips_.end() && low <= inner->second.high && high >= inner->second.low)
      return clip(inner->second.of, std::max(low, inner->second.low), std::min(high, inner->second.high));
  }
  const bool half = is_half(a) && fits_half(low) && fits_half(high);
  const uint64_t out = f_.hash(kClip, a & kElement, bits(low), bits(high));
  if (keep && keeps_clips_ && !half) clips_.emplace(out, Clip{a, low, high});
  return marked(out, half);
}

Val Values::leaky(Val a, float slope) {
  if (is_number(a)) return number(number_of(a) < 0 ? slope * number_of(a) : number_of(a));
  return f_.hash(kLeaky, a & kElement, bits(slope));
}

Val Values::prelu(Val a, Val slope) {
  if (is_number(slope)) return leaky(a, number_of(slope));
  return pair(kPrelu, a, slope);
}

Val Values::compare(uint32_t op, Val a, Val b) {
  if (!both_numbers(a, b)) return f_.hash(kCompare, op, element(a), element(b)) | kHalf;
  const float x = number_of(a), y = number_of(b);
  return number((op == 15 ? x == y : op == 16 ? x < y : x > y) ? 1.0f : 0.0f);
}

Val Values::select(Val a, Val b, float other) {
  if (is_number(a)) return number_of(a) != 0 ? b : number(other);
  return f_.hash(kSelect, element(a), element(b), bits(other));
}

Val Values::half(Val a) {
  if (real_) return a;
  if (is_number(a)) return number(half_to_float(float_to_half(number_of(a))));
  if ((a & kHalf) != 0) return a;
  return f_.hash(kRound, a & kElement) | kHalf;
}

Val Values::read(Val q, Quantum of) {
  if (real_) {
    const uint64_t v = f_.mul(f_.add(element(q), f_.neg(f_.of(of.zero))), f_.of(of.scale));
    if (!is_number(q)) reads_.emplace(v, Read{q, of});
    return v;
  }
  if (is_number(q)) return number((number_of(q) - static_cast<float>(of.zero)) * of.scale);
  if (of.scale == 1) {
    const uint64_t v = f_.add(element(q), f_.neg(f_.of(of.zero)));
    reads_.emplace(v, Read{q, of});
    return v | kInteger;
  }
  const uint64_t out = f_.hash(kReadInt, q & kElement, bits(of));
  reads_.emplace(out, Read{q, of});
  return out;
}

// Rounding is monotone: it goes to a clipped value and to its bounds. Storing what was read gives the
// integer.
Val Values::store(Val v, Quantum as, Type type) {
  if (is_number(v)) return number(stored(number_of(v), as, type));
  if (real_) {
    if (const auto* members = greatest_.find(v & kElement)) {
      const std::vector<uint64_t> all = *members;
      Val out = store(all[0], as, type);
      for (size_t i = 1; i < all.size(); ++i) out = max(out, store(all[i], as, type));
      return out;
    }
  }
  float low = lowest(type), high = highest(type);
  if (const auto clipped = clips_.find(v & kElement); clipped != clips_.end()) {
    low = stored(clipped->second.low, as, type);
    high = stored(clipped->second.high, as, type);
    v = clipped->second.of;
  }
  uint64_t steps = 0;
  const auto known = reads_.find(element(v));
  if (known != reads_.end() && known->second.quantum == as) {
    if (low == lowest(type) && high == highest(type)) return known->second.q;
    steps = element(known->second.q);
  } else {
    steps = real_
                ? f_.add(f_.hash(kStoreInt, f_.mul(element(v), f_.inverse(f_.of(as.scale)))), f_.of(as.zero))
                : f_.hash(kStoreInt, element(v), bits(as));
  }
  return f_.hash(kSaturate, steps, bits(low), bits(high));
}

Val Values::from_sum(uint64_t sum) {
  if (real_) return sum;
  return f_.hash(kFromSum, sum);
}

uint32_t Values::register_table(const std::string& name, std::vector<float> lines, bool of_function) {
  if (const auto named = names_.find(name); named != names_.end()) return named->second;
  const auto same = real_ ? std::nullopt : find_table(lines);
  const auto id = same ? *same : static_cast<uint32_t>(tables_.size());
  if (!same) tables_.push_back({std::move(lines), false});
  tables_[id].of_function = tables_[id].of_function || of_function;
  names_.emplace(name, id);
  return id;
}

std::optional<uint32_t> Values::find_table(const std::vector<float>& lines) const {
  for (uint32_t t = 0; t < tables_.size(); ++t)
    if (std::equal(lines.begin(), lines.end(), tables_[t].lines.begin(), tables_[t].lines.end(), alike))
      return t;
  return std::nullopt;
}

Val Values::look_up(uint32_t table, Val x) {
  if (!is_number(x)) return f_.hash(kTable, table, x & kElement);
  const float v = number_of(x);
  const uint16_t h = std::isnan(v) ? uint16_t{0x7e00} : float_to_half(v);
  const std::vector<float>& lines = tables_[table].lines;
  const float c0 = lines[2 * static_cast<size_t>(h >> 5)], c1 = lines[2 * static_cast<size_t>(h >> 5) + 1];
  return number(c1 == 0 && !std::isnan(v) ? c0 : std::fma(c1, v, c0));
}

uint32_t Values::register_bytes(const std::string& bytes) {
  return bytes_.emplace(bytes, static_cast<uint32_t>(bytes_.size())).first->second;
}

Val Values::look_up_byte(uint32_t table, Val q, Type type) {
  if (!is_number(q)) return f_.hash(kByteTable, table, q & kElement, static_cast<uint64_t>(type));
  for (const auto& [bytes, id] : bytes_) {
    if (id != table) continue;
    const auto at = static_cast<uint8_t>(static_cast<int>(number_of(q)));
    const auto out = static_cast<uint8_t>(bytes[at]);
    return number(type == Type::I8 ? static_cast<float>(static_cast<int8_t>(out)) : static_cast<float>(out));
  }
  return f_.hash(kByteTable, table, element(q));
}

}  // namespace mrvlc::prove

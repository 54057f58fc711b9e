// Functions of numbers: rounding, extremes, powers of two, fixed point.
#include <algorithm>
#include <cmath>

#include "measure.h"

namespace mrvlc::rules {
namespace {

constexpr double kBeyond = 0x1p63;  // the first that int64_t does not hold

Datum rounded(const Datum& d, double (*round)(double)) {
  if (const auto i = whole(d)) return *i;
  const auto value = real(d);
  const double out = value ? round(*value) : kBeyond;
  return out >= -kBeyond && out < kBeyond ? Datum(static_cast<int64_t>(out)) : Datum();
}

Datum floor_of(const Datum& a, const Datum&) {
  return rounded(a, [](double v) { return std::floor(v); });
}

// To nearest, ties to even, as QuantizeLinear does, whatever the rounding mode of the process.
Datum round_of(const Datum& a, const Datum&) {
  return rounded(a, [](double v) {
    const double below = std::floor(v), rest = v - below;
    const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0);
    return up ? below + 1 : below;
  });
}

Datum extreme(const Datum& a, const Datum& b, bool least) {
  const auto x = real(a), y = real(b);
  if (!x || !y || std::isnan(*x) || std::isnan(*y)) return {};
  const auto i = whole(a), k = whole(b);
  if (i && k) return least ? std::min(*i, *k) : std::max(*i, *k);
  return least ? std::min(*x, *y) : std::max(*x, *y);
}

Datum min_of(const Datum& a, const Datum& b) {
  return extreme(a, b, true);
}
Datum max_of(const Datum& a, const Datum& b) {
  return extreme(a, b, false);
}

Datum pow2_of(const Datum& a, const Datum&) {
  const auto exponent = whole(a);
  return exponent && *exponent >= 0 && *exponent <= 62 ? Datum(int64_t{1} << *exponent) : Datum();
}

Datum q31_of(const Datum& a, const Datum&) {
  const auto number = real(a);
  const auto fixed = number ? fixed_point(*number) : std::nullopt;
  return fixed ? Datum(fixed->q31) : Datum();
}
Datum q31_shift_of(const Datum& a, const Datum&) {
  const auto number = real(a);
  const auto fixed = number ? fixed_point(*number) : std::nullopt;
  return fixed ? Datum(fixed->shift) : Datum();
}

constexpr NumberFunction kFunctions[] = {
    {"floor", 1, true, floor_of}, {"max", 2, false, max_of}, {"min", 2, false, min_of},
    {"pow2", 1, true, pow2_of},   {kQ31, 1, true, q31_of},   {kQ31Shift, 1, true, q31_shift_of},
    {"round", 1, true, round_of},
};

}  // namespace

std::span<const NumberFunction> number_functions() {
  return kFunctions;
}

const NumberFunction* find_number_function(std::string_view name) {
  const auto* it = std::ranges::find(kFunctions, name, &NumberFunction::name);
  return it == std::end(kFunctions) ? nullptr : it;
}

std::optional<double> real(const Datum& d) {
  if (auto* i = std::get_if<int64_t>(&d)) return static_cast<double>(*i);
  if (auto* f = std::get_if<double>(&d)) return *f;
  if (auto* v = std::get_if<std::vector<int64_t>>(&d)) {
    if (v->size() == 1) return static_cast<double>(v->front());
  }
  if (auto* v = std::get_if<std::vector<double>>(&d)) {
    if (v->size() == 1) return v->front();
  }
  return std::nullopt;
}

std::optional<int64_t> whole(const Datum& d) {
  if (auto* i = std::get_if<int64_t>(&d)) return *i;
  auto* v = std::get_if<std::vector<int64_t>>(&d);
  return v != nullptr && v->size() == 1 ? std::optional(v->front()) : std::nullopt;
}

std::optional<FixedPoint> fixed_point(double number) {
  if (!(number >= 0) || std::isinf(number)) return std::nullopt;
  int exponent = 0;
  const double fraction = std::frexp(number, &exponent);  // in [0.5, 1)
  auto q = static_cast<int64_t>(std::llround(fraction * 0x1p31));
  if (q == int64_t{1} << 31) {
    q /= 2;
    ++exponent;
  }
  if (exponent > 30) return std::nullopt;
  if (exponent < -31) return FixedPoint();  // times 32 bits it is less than a half
  return FixedPoint{q, exponent};
}

}  // namespace mrvlc::rules

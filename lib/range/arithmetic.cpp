// Operators of several operands that broadcast, element by element.
#include "mrvlc/ops/op_kind.h"
#include "transfer.h"

namespace mrvlc::range {
namespace {

constexpr int64_t kNone = -1;

// The dimension of the result along which operand `i` is told apart; kNone: there is none.
int64_t own_axis(const Operands& o, size_t i) {
  const int64_t shift = o.result().rank() - o.type(i).rank();
  if (const Tensor* t = o.constant(i)) {
    const Shape& shape = t->shape();
    const auto wide = [](int64_t d) { return d > 1; };
    if (std::ranges::count_if(shape, wide) != 1) return kNone;
    return std::ranges::find_if(shape, wide) - shape.begin() + shift;
  }
  return o.range(i).by_channel() ? o.range(i).axis + shift : kNone;
}

// The operands' intervals, side by side: each has one, or `n` of them along `axis` of the result.
struct Lanes {
  int64_t axis = 0;
  size_t n = 1;
  std::vector<std::vector<Interval>> operands;
};

Lanes lanes(const Operands& o) {
  Lanes out;
  int64_t axis = kNone;
  for (const bool constants : {false, true})  // what is computed decides before constants
    for (size_t i = 0; i < o.size() && o.sized() && axis == kNone; ++i)
      if (o.has(i) && (o.constant(i) != nullptr) == constants) axis = own_axis(o, i);
  for (size_t i = 0; i < o.size(); ++i) {
    const int64_t shift = o.has(i) ? o.result().rank() - o.type(i).rank() : 0;
    out.operands.push_back(axis == kNone ? std::vector{o.hull(i)} : o.along(i, axis - shift));
    out.n = std::max(out.n, out.operands.back().size());
  }
  out.axis = std::max<int64_t>(axis, 0);
  return out;
}

// f of all operands, one after the other.
template <class F>
Outcome folded(const Operands& o, F f, bool exact) {
  const Lanes l = lanes(o);
  Range out(std::vector<Interval>(l.n), l.axis);
  for (size_t k = 0; k < l.n; ++k) {
    Interval sum = at(l.operands[0], k);
    for (size_t i = 1; i < l.operands.size(); ++i) sum = f(sum, at(l.operands[i], k));
    out.channels[k] = sum;
  }
  return {std::move(out), exact};
}

Interval larger(const Interval& a, const Interval& b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}
Interval smaller(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high)};
}
Interval sum_of(const Interval& a, const Interval& b) {
  return a + b;
}
Interval product_of(const Interval& a, const Interval& b) {
  return a * b;
}
Interval quotient_of(const Interval& a, const Interval& b) {
  if (b.contains(0) || !a.bounded() || !b.bounded()) return kUnknown;
  const auto [low, high] = std::minmax({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high});
  return {low, high};
}

Outcome add(const Operands& o) {
  return folded(o, sum_of, false);
}
Outcome subtract(const Operands& o) {
  return folded(
      o, [](const Interval& a, const Interval& b) { return a - b; }, false);
}
Outcome multiply(const Operands& o) {
  if (o.same(0, 1) && o.constant(0) == nullptr) return {each(o.range(0), square)};
  return folded(o, product_of, false);
}
Outcome divide(const Operands& o) {
  return folded(o, quotient_of, false);
}
Outcome maximum(const Operands& o) {
  return folded(o, larger, true);
}
Outcome minimum(const Operands& o) {
  return folded(o, smaller, true);
}

// Any number of additions, each off by its own result.
Outcome sum(const Operands& o) {
  const Lanes l = lanes(o);
  const auto terms = static_cast<double>(l.operands.size());
  const bool mean = o.node().is(Op::Mean);
  Range out(std::vector<Interval>(l.n), l.axis);
  for (size_t k = 0; k < l.n; ++k) {
    Interval exact = point(0);
    double magnitude = 0;
    bool nonnegative = true;
    for (const auto& operand : l.operands) {
      const Interval& i = at(operand, k);
      exact = exact + i, magnitude += i.max_abs(), nonnegative = nonnegative && i.low >= 0;
    }
    out.channels[k] = summed(exact, terms, magnitude, nonnegative);
    if (mean) out.channels[k] = {out.channels[k].low / terms, out.channels[k].high / terms};
  }
  return {std::move(out)};
}

Outcome clip(const Operands& o) {
  const Interval low = o.has(1) ? o.hull(1) : kUnknown, high = o.has(2) ? o.hull(2) : kUnknown;
  return {each(o.range(0),
               [&](Interval i) {
                 if (o.has(1)) i = larger(i, low);
                 if (o.has(2)) i = smaller(i, high);
                 return i;
               }),
          true};
}

Outcome prelu(const Operands& o) {
  const Lanes l = lanes(o);
  Range out(std::vector<Interval>(l.n), l.axis);
  for (size_t k = 0; k < l.n; ++k) {
    const Interval &x = at(l.operands[0], k), &slope = at(l.operands[1], k);
    if (x.low >= 0) {
      out.channels[k] = x;
    } else {
      const Interval below = Interval{x.low, std::min(x.high, 0.0)} * slope;
      out.channels[k] = x.high <= 0 ? below : hull(below, {0, x.high});
    }
  }
  return {std::move(out)};
}

Interval power(const Interval& x, double exponent) {
  if (!x.bounded()) return kUnknown;
  const bool whole = exponent == std::floor(exponent) && std::fabs(exponent) < 0x1p31;
  const bool even = whole && std::fmod(exponent, 2) == 0;
  if (exponent < 0 ? x.low <= 0 : x.low < 0 && !whole) return kUnknown;
  double low = std::pow(x.low, exponent), high = std::pow(x.high, exponent);
  if (low > high) std::swap(low, high);
  return {even && x.low < 0 && x.high > 0 ? 0.0 : low, high};
}

Outcome pow_of(const Operands& o) {
  const Tensor* exponent = o.constant(1);
  if (exponent == nullptr || exponent->elements() != 1) return {kUnknown};
  const double e = exponent->as_double(0);
  return {each(o.range(0), [&](const Interval& x) { return power(x, e); })};
}

Outcome where(const Operands& o) {
  return {hull(o.hull(1), o.hull(2)), true};
}

}  // namespace

void add_arithmetic(Table& t) {
  t[Op::Add] = add;
  t[Op::Sub] = subtract;
  t[Op::Mul] = multiply;
  t[Op::Div] = divide;
  t[Op::Max] = maximum;
  t[Op::Min] = minimum;
  t[Op::Sum] = t[Op::Mean] = sum;
  t[Op::Clip] = clip;
  t[Op::PRelu] = prelu;
  t[Op::Pow] = pow_of;
  t[Op::Where] = where;
}

}  // namespace mrvlc::range

// Scales and ranges, against what is computed element by element.
#include "ranges.h"

#include <cmath>

#include "build.h"

namespace mrvlc::quantize {
namespace {

using quantize_test::Numbers;

double square_of(const Tensor& t, const Affine& a) {
  double sum = 0;
  for (double x : t.to_doubles()) sum += (x - rounded(a, x)) * (x - rounded(a, x));
  return sum;
}

Histogram of(const std::vector<Tensor>& tensors) {
  Histogram h;
  for (const Tensor& t : tensors) h.add(t);
  return h;
}

}  // namespace

TEST_CASE("zero is always a number, and the ends are reached", "[quantize]") {
  for (ElementType type : {ElementType::I8, ElementType::U8, ElementType::I16}) {
    for (const auto& [low, high] : {std::pair{0.0, 6.0}, {-1.0, 3.0}, {2.0, 5.0}, {-7.0, -1.0}}) {
      const Affine a = affine_for(low, high, type);
      CHECK(rounded(a, 0) == 0);
      const double top = std::max(high, 0.0), bottom = std::min(low, 0.0);
      CHECK(rounded(a, top) == Approx(top).margin(static_cast<double>(a.scale)));
      CHECK(rounded(a, bottom) == Approx(bottom).margin(static_cast<double>(a.scale)));
    }
  }
  const Affine bytes = affine_for(0, 255, ElementType::I8);
  CHECK(bytes.scale == 1);
  CHECK(bytes.zero == -128);
  for (double none : {0.0, 1e-30}) CHECK(affine_for(0, none, ElementType::I8).scale == 1);
}

TEST_CASE("a histogram counts every finite element once, whatever came first", "[quantize]") {
  Numbers numbers(1);
  const Tensor small = numbers.floats({500}, 1e-3), large = numbers.floats({300}, 1e5);
  Tensor odd = numbers.floats({4});
  odd.set_double(0, INFINITY);
  odd.set_double(1, NAN);
  for (const auto& order : {std::vector{small, large, odd}, std::vector{large, odd, small}}) {
    const Histogram h = of(order);
    CHECK(h.total() == 802);
    int64_t sum = 0;
    for (size_t i = 0; i < h.bins(); ++i) {
      sum += h.count(i);
      CHECK(h.left(i) <= h.right(i));
    }
    CHECK(sum == 802);
    CHECK(h.bins() <= 4096);
    CHECK(std::fabs(h.min()) > 1e4);
  }
}

TEST_CASE("the error that a histogram tells is that of its elements", "[quantize]") {
  Numbers numbers(2);
  const Tensor t = numbers.floats({4000});
  const Histogram h = of({t});
  for (double high : {0.5, 2.0, 6.0}) {
    const Affine a = affine_for(-high, high, ElementType::I8);
    CHECK(squared_error(h, a) == Approx(square_of(t, a)).epsilon(0.05));
  }
}

TEST_CASE("one value far out is cut where the others gain", "[quantize]") {
  Numbers numbers(3);
  Tensor t = numbers.floats({40000});
  t.set_double(7, 400);
  const Histogram h = of({t});
  const auto reach = [&](RangeMethod m) { return rounded(affine_by(m, h, ElementType::I8), 1e9); };
  CHECK(reach(RangeMethod::MinMax) == Approx(400).epsilon(0.01));
  CHECK(reach(RangeMethod::Percentile) < 6);
  CHECK(reach(RangeMethod::Entropy) < 200);
  for (RangeMethod m : {RangeMethod::Percentile, RangeMethod::Entropy}) CHECK(reach(m) > 2);
  const Affine mse = affine_by(RangeMethod::Mse, h, ElementType::I8),
               whole = affine_by(RangeMethod::MinMax, h, ElementType::I8);
  CHECK(square_of(t, mse) <= square_of(t, whole));
}

TEST_CASE("a thin tail is not thrown away with the empty bins in it", "[quantize]") {
  Numbers numbers(4);
  Tensor t = numbers.floats({20000});
  for (int64_t i = 0; i < t.elements(); ++i) {
    const double x = std::fabs(t.as_double(i));
    t.set_double(i, i % 100 == 0 ? 2 + 10 * x : x);  // one of a hundred
  }
  const Histogram h = of({t});
  const Affine entropy = affine_by(RangeMethod::Entropy, h, ElementType::I8);
  CHECK(rounded(entropy, 1e9) > 12);
}

}  // namespace mrvlc::quantize

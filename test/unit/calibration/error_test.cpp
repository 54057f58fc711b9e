// Errors of values against those expected.
#include "mrvlc/calibration/error.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace mrvlc;

namespace {

Tensor floats(Shape shape, const std::vector<float>& values) {
  return Tensor::of(ElementType::F32, std::move(shape), values);
}

}  // namespace

TEST_CASE("errors are relative to 1 + the expected value") {
  CHECK(calibration::float_error(floats({2}, {1, 4}), floats({2}, {1, 3})) == Approx(0.25));
  CHECK(calibration::difference(floats({2}, {1, 4}), floats({2}, {1, 3})) == 1);
  CHECK(std::isinf(calibration::float_error(floats({1}, {INFINITY}), floats({1}, {3}))));
  CHECK(calibration::float_error(floats({1}, {3}), floats({1}, {NAN})) == 0);
}

// A NonMaxSuppression on rounded scores finds other boxes, and another number of them.
TEST_CASE("values of another shape are infinitely wrong") {
  for (const Shape& other : {Shape{1}, Shape{3}, Shape{1, 2}, Shape{0}}) {
    const Tensor a(TensorType{ElementType::F32, other}), b = floats({2}, {1, 2});
    CHECK(std::isinf(calibration::float_error(a, b)));
    CHECK(std::isinf(calibration::float_error(b, a)));
    CHECK(std::isinf(calibration::difference(a, b)));
  }
}

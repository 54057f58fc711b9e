#include <catch2/catch.hpp>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

using Doubles = std::vector<double>;

Case resize(Shape shape, std::string mode, std::string coordinates) {
  Case c = Case("Resize")
               .set("mode", text(std::move(mode)))
               .set("coordinate_transformation_mode", text(std::move(coordinates)));
  return c.unknown(random_tensor(ElementType::F32, std::move(shape), 1));
}
Case scaled(Case c, Doubles scales) {
  auto n = static_cast<int64_t>(scales.size());
  return c.absent().in(floats({n}, std::move(scales)));
}
Case sized(Case c, std::vector<int64_t> sizes) {
  return c.absent().absent().in(ints(std::move(sizes)));
}

Case line(Doubles values, std::string mode, std::string coordinates) {
  Case c = Case("Resize")
               .set("mode", text(std::move(mode)))
               .set("coordinate_transformation_mode", text(std::move(coordinates)));
  auto n = static_cast<int64_t>(values.size());
  return c.in(floats({n}, std::move(values)));
}

}  // namespace

// Expected values: ONNX's own examples of Resize, one dimension of them.
TEST_CASE("Resize reproduces ONNX's examples") {
  REQUIRE(scaled(line({1, 2}, "nearest", "half_pixel"), {2}).value().to_doubles() == Doubles{1, 1, 2, 2});
  REQUIRE(scaled(line({1, 2}, "linear", "half_pixel"), {2}).value().to_doubles() ==
          Doubles{1, 1.25, 1.75, 2});
  REQUIRE(greatest_error(scaled(line({1, 2}, "linear", "align_corners"), {2}).value(),
                         {1, 4.0 / 3, 5.0 / 3, 2}) < 1e-6);
  REQUIRE(greatest_error(scaled(line({1, 2, 3, 4}, "linear", "align_corners"), {0.6}).value(),
                         {1, 1 + 3 / 1.4}) < 1e-6);
  REQUIRE(scaled(line({1, 2, 3, 4}, "linear", "half_pixel"), {0.6}).value().to_doubles().size() == 2);
  REQUIRE(greatest_error(scaled(line({1, 2, 3, 4}, "linear", "half_pixel"), {0.6}).value(), {4.0 / 3, 3.0}) <
          1e-6);
  REQUIRE(greatest_error(scaled(line({1, 2, 3, 4}, "cubic", "half_pixel"), {0.8}).value(),
                         {1.094238, 2.404297, 3.705566}) < 1e-5);
  REQUIRE(scaled(line({1, 2, 3, 4}, "cubic", "asymmetric"), {2}).value().to_doubles()[2] == 2);
  REQUIRE(scaled(line({1, 2, 3, 4}, "nearest", "asymmetric").set("nearest_mode", text("floor")), {0.6})
              .value()
              .to_doubles() == Doubles{1, 2});
  REQUIRE(sized(line({1, 2, 3, 4}, "nearest", "half_pixel"), {2}).value().to_doubles() == Doubles{1, 3});
}

TEST_CASE("Resize keeps the aspect ratio when asked") {
  auto shape = [](std::string policy) {
    Case c = resize({1, 1, 2, 4}, "nearest", "half_pixel")
                 .set("keep_aspect_ratio_policy", text(std::move(policy)));
    return sized(c.set("axes", list({2, 3})), {7, 8}).value().shape();
  };
  REQUIRE(shape("stretch") == Shape{1, 1, 7, 8});
  REQUIRE(shape("not_larger") == Shape{1, 1, 4, 8});
  REQUIRE(shape("not_smaller") == Shape{1, 1, 7, 14});
}

TEST_CASE("Resize extrapolates outside the region of interest") {
  Case c = line({1, 2, 3}, "linear", "tf_crop_and_resize").set("extrapolation_value", ir::Attr(9.0f));
  c.in(floats({2}, {-0.5, 1})).absent().in(ints({4}));
  REQUIRE(c.value().to_doubles() == Doubles{9, 1, 2, 3});
}

TEST_CASE("cubic weights sum to one inside and can exclude the outside") {
  Tensor ones = floats({1, 1, 3, 3}, Doubles(9, 1));
  for (int64_t exclude : {0, 1}) {
    Case c = Case("Resize").set("mode", text("cubic")).set("exclude_outside", num(exclude)).in(ones).absent();
    Tensor y = c.in(floats({4}, {1, 1, 1.7, 2.3})).value();
    REQUIRE(greatest_error(y, Doubles(static_cast<size_t>(y.elements()), 1)) < 1e-6);
  }
}

TEST_CASE("cubic weights are those of the distances, of what lies inside alone when asked for") {
  // Keys' kernel (ONNX Resize-19), written out for -0.75.
  auto kernel = [](double d) {
    d = std::fabs(d);
    if (d <= 1) return (1.25 * d - 2.25) * d * d + 1;
    return d < 2 ? ((-0.75 * d + 3.75) * d - 6) * d + 3 : 0;
  };
  const Doubles in = {3, -1, 4, 1, -5, 9};
  for (int64_t exclude : {0, 1}) {
    Case c = Case("Resize")
                 .set("mode", text("cubic"))
                 .set("exclude_outside", num(exclude))
                 .in(floats({6}, in))
                 .absent();
    const Tensor y = c.in(floats({1}, {2})).value();
    Doubles expected;
    for (int64_t o = 0; o < 12; ++o) {
      const double at = (static_cast<double>(o) + 0.5) / 2 - 0.5;
      double sum = 0, weights = 0;
      for (int64_t i = -2; i < 8; ++i) {
        const bool inside = i >= 0 && i < 6;
        const double w = inside || exclude == 0 ? kernel(at - static_cast<double>(i)) : 0;
        sum += w * in[static_cast<size_t>(std::clamp<int64_t>(i, 0, 5))];
        weights += w;
      }
      expected.push_back(sum / weights);
    }
    REQUIRE(greatest_error(y, expected) < 1e-5);
  }
}

TEST_CASE("Upsample doubles") {
  Tensor x = floats({1, 1, 1, 2}, {1, 3});
  auto run = [&](std::string mode) {
    return Case("Upsample")
        .set("mode", text(std::move(mode)))
        .in(x)
        .in(floats({4}, {1, 1, 1, 2}))
        .value()
        .to_doubles();
  };
  REQUIRE(run("nearest") == Doubles{1, 1, 3, 3});
  REQUIRE(run("linear") == Doubles{1, 2, 3, 3});
}

TEST_CASE("generated code of Resize equals the reference") {
  std::vector<Case> cases;
  const char* coordinates[] = {"half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
                               "align_corners", "asymmetric",           "tf_half_pixel_for_nn"};
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinate : coordinates) {
      cases.push_back(scaled(resize({2, 3, 5, 7}, mode, coordinate), {1, 1, 2, 3}));
      cases.push_back(scaled(resize({2, 3, 5, 17}, mode, coordinate), {1, 1, 0.6, 0.7}));
      cases.push_back(sized(resize({1, 2, 4, 3, 5}, mode, coordinate), {1, 2, 5, 3, 4}));
      cases.push_back(sized(resize({2, 4, 3, 2}, mode, coordinate), {2, 6, 5, 2}));
    }
    Case crop =
        resize({1, 2, 4, 5}, mode, "tf_crop_and_resize").in(floats({8}, {0, 0, -0.2, 0.3, 1, 1, 0.8, 1.4}));
    cases.push_back(crop.absent().in(ints({1, 2, 6, 5})));
    cases.push_back(scaled(resize({2, 3, 4, 5}, mode, "half_pixel"), {1, 1, 1, 1}));
  }
  check_generated_code(cases);
}

}  // namespace mrvlc::ops::test

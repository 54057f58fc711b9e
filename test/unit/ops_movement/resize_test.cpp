#include <catch2/catch.hpp>

#include "../ops/case.h"
#include "mrvlc/ops/params.h"

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

// ONNX's formulas in whole numbers: twice the position of output o, over `den`.
struct TwicePosition {
  int64_t num = 0, den = 1;
};
TwicePosition twice_position(const std::string& mode, int64_t in, int64_t out, int64_t o) {
  const TwicePosition half{(2 * o + 1) * in - out, out};
  if (mode == "asymmetric") return {2 * o * in, out};
  if (mode == "tf_half_pixel_for_nn") return {(2 * o + 1) * in, out};
  if (mode == "align_corners") return out == 1 ? TwicePosition{} : TwicePosition{2 * o * (in - 1), out - 1};
  if (mode == "pytorch_half_pixel" && out == 1) return {};
  return half;  // half_pixel_symmetric too: the size is no rounded one
}
// Without division: the index is the last one for which the comparison holds.
int64_t exact_nearest(const std::string& rounding, TwicePosition p, int64_t in, int64_t& from) {
  auto at_most = [&](int64_t twice) { return p.num >= twice * p.den; };  // position >= twice / 2
  auto above = [&](int64_t twice) { return p.num > twice * p.den; };
  auto next = [&](int64_t i) {
    if (rounding == "floor") return at_most(2 * i);
    if (rounding == "ceil") return above(2 * i - 2);
    return rounding == "round_prefer_ceil" ? at_most(2 * i - 1) : above(2 * i - 1);
  };
  while (from + 1 < in && next(from + 1)) ++from;
  return from;
}

// All pairs up to 300 take half a minute: MRVLC_RESIZE_PAIRS=1. By default small ones, and every 16th.
TEST_CASE("nearest takes the pixel that exact arithmetic says") {
  const bool all = std::getenv("MRVLC_RESIZE_PAIRS") != nullptr;
  const char* coordinates[] = {"half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
                               "align_corners", "asymmetric",           "tf_half_pixel_for_nn"};
  int64_t wrong = 0;
  std::string first;
  for (const char* coordinate : coordinates) {
    for (const char* rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
      for (int64_t pair = 0; pair < 300 * 300; ++pair) {
        const int64_t in = pair / 300 + 1, out = pair % 300 + 1;
        if (in == out) continue;  // every pixel stands for itself, whatever the modes
        if (!all && pair % 16 != 0 && (in > 40 || out > 40)) continue;
        ResizeParams p;
        p.scale = {static_cast<double>(out) / static_cast<double>(in)};
        p.ratio = {{out, in}};
        p.output = {out};
        p.coordinate_mode = coordinate;
        p.nearest_mode = rounding;
        int64_t from = 0;
        for (int64_t o = 0; o < out; ++o) {
          const int64_t right = exact_nearest(rounding, twice_position(coordinate, in, out, o), in, from);
          if (p.nearest(0, o, in) == right) continue;
          if (wrong++ == 0)
            first = fmt::format("{} {} {} to {}: output {} takes {}, not {}", coordinate, rounding, in, out,
                                o, p.nearest(0, o, in), right);
        }
      }
    }
  }
  INFO(first);
  CHECK(wrong == 0);
}

TEST_CASE("a scale that is a ratio of sizes in float stands for the ratio") {
  // 1/7 in float is less than 1/7: 7 / (1/7) must not be 48.99.
  for (int64_t in = 1; in <= 300; ++in) {
    for (int64_t out : {int64_t{1}, in / 2, in / 3, in / 7, in - 1, in + 1, 2 * in, 3 * in, 7 * in / 5}) {
      if (out < 1) continue;
      const float scale = static_cast<float>(out) / static_cast<float>(in);
      Case by_scale = Case("Resize")
                          .set("coordinate_transformation_mode", text("asymmetric"))
                          .set("nearest_mode", text("floor"));
      by_scale.in(iota(ElementType::F32, {in})).absent().in(floats({1}, {static_cast<double>(scale)}));
      const auto p = resize_params(by_scale.context());
      REQUIRE(p.ok());
      if (p->output[0] != out) continue;  // scale * in in float is less than out
      CAPTURE(in, out);
      REQUIRE((p->ratio[0].out == out && p->ratio[0].in == in));
      for (int64_t o = 0; o < out; ++o) REQUIRE(p->nearest(0, o, in) == std::min(o * in / out, in - 1));
    }
  }
  // A scale that is no ratio of the sizes is what it is.
  Case other = Case("Resize").set("coordinate_transformation_mode", text("asymmetric"));
  other.in(iota(ElementType::F32, {10})).absent().in(floats({1}, {0.77}));
  CHECK(resize_params(other.context())->ratio[0].in == 0);
}

TEST_CASE("Upsample by a third and Resize of opset 10 take the exact pixel") {
  // Upsample by 7/3 as exporters write it; floor of o * 3 / 7.
  const double scale = static_cast<double>(7.0f / 3.0f);
  const Doubles up =
      Case("Upsample").in(iota(ElementType::F32, {30})).in(floats({1}, {scale})).value().to_doubles();
  for (size_t o = 0; o < up.size(); ++o) CHECK(up[o] == static_cast<double>(o * 3 / 7));
  const double down = static_cast<double>(1.0f / 7.0f);
  Case c = Case("Resize")
               .set("coordinate_transformation_mode", text("asymmetric"))
               .set("nearest_mode", text("ceil_when_shrinking"));
  c.in(iota(ElementType::F32, {49})).absent().in(floats({1}, {down}));
  CHECK(c.value().to_doubles() == Doubles{0, 7, 14, 21, 28, 35, 42});
}

TEST_CASE("Resize of integers truncates, and saturates") {
  auto resized = [](ElementType elem, const char* mode, Doubles in, Doubles scale) {
    const auto n = static_cast<int64_t>(in.size());
    Case c = Case("Resize").set("mode", text(mode)).in(Tensor::of(elem, {n}, in)).absent();
    return c.in(floats({1}, std::move(scale))).value().to_doubles();
  };
  // 1, 1.25, 1.75, 2 and so on.
  CHECK(resized(ElementType::U8, "linear", {1, 2}, {2}) == Doubles{1, 1, 1, 2});
  CHECK(resized(ElementType::I8, "linear", {-1, -2}, {2}) == Doubles{-1, -1, -1, -2});
  // What does not change stays: weights of a third and two thirds add up to less than 1.
  CHECK(resized(ElementType::U8, "linear", Doubles(10, 7), {3}) == Doubles(30, 7));
  CHECK(resized(ElementType::I32, "cubic", Doubles(10, -100001), {0.7}) == Doubles(7, -100001));
  // A cubic overshoots: 255 and 0 at most.
  for (double v : resized(ElementType::U8, "cubic", {0, 0, 255, 255}, {3})) CHECK((v >= 0 && v <= 255));
  CHECK(resized(ElementType::U8, "cubic", {0, 0, 255, 255}, {3})[8] == 255);
  Case refused = Case("Resize").set("mode", text("linear")).in(iota(ElementType::I64, {4})).absent();
  CHECK(refused.in(floats({1}, {2})).refusal() == "MRV0202");
}

TEST_CASE("generated code of Resize of integers equals the reference") {
  std::vector<Case> cases;
  for (ElementType elem : {ElementType::U8, ElementType::I8, ElementType::U16, ElementType::I32}) {
    for (const char* mode : {"linear", "cubic"}) {
      for (int64_t antialias : {0, 1}) {
        Case c = Case("Resize").set("mode", text(mode)).set("antialias", num(antialias));
        c.unknown(random_tensor(elem, {2, 3, 9, 7}, 5));
        cases.push_back(sized(c, {2, 3, 4, 5}));
        Case up = Case("Resize")
                      .set("mode", text(mode))
                      .set("coordinate_transformation_mode", text("align_corners"));
        cases.push_back(scaled(up.unknown(random_tensor(elem, {1, 2, 3, 5}, 6)), {1, 1, 2, 1}));
      }
    }
  }
  check_generated_code(cases);
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

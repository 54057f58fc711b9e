// C of the signal, geometry and indexing operators for shapes known at run time only.
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "../ops/dynamic_case.h"

namespace mrvlc::test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Tensor booleans(const std::vector<int64_t>& values) {
  return Tensor::of(E::Bool, {static_cast<int64_t>(values.size())}, values);
}

TEST_CASE("geometry on dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (std::string mode : {"nearest", "linear", "cubic"}) {
    cases.push_back({"GridSample",
                     {dynamic_type(E::F32, {-2, 2, -3, -4}), dynamic_type(E::F32, {-2, -3, 2, 2})},
                     {},
                     {{"mode", mode}}});
    for (Shape x : {Shape{2, 2, 3, 4}, {1, 2, 1, 1}, {0, 2, 3, 4}})
      cases.back().runs.push_back({sample(E::F32, x), sample(E::F32, {x[0], 3, 2, 2}, 4)});
    cases.back().runs.push_back({sample(E::F32, {2, 2, 3, 4}), sample(E::F32, {1, 3, 2, 2})});
  }
  cases.push_back({"AffineGrid", {dynamic_type(E::F32, {-2, 2, 3}), dynamic_type(E::I64, {4})}, {}});
  for (int64_t n : {1, 2, 3})
    cases.back().runs.push_back({sample(E::F32, {2, 2, 3}), i64({4}, {n, 1, 3, 4})});
  cases.back().runs.push_back({sample(E::F32, {2, 2, 3}), i64({4}, {2, 1, -3, 4})});
  cases.push_back(
      {"RoiAlign",
       {dynamic_type(E::F32, {-2, 2, -4, 5}), dynamic_type(E::F32, {-3, 4}), dynamic_type(E::I64, {-3})},
       {},
       {{"output_height", int64_t{2}}, {"output_width", int64_t{2}}, {"sampling_ratio", int64_t{2}}}});
  for (int64_t batch : {-3, -1, 0, 1, 2})
    cases.back().runs.push_back({sample(E::F32, {2, 2, 3, 5}), sample(E::F32, {2, 4}), i64({2}, {0, batch})});
  cases.push_back({"DeformConv",
                   {dynamic_type(E::F32, {-2, 2, -4, -5}),
                    dynamic_type(E::F32, {4, 1, 2, 2}),
                    dynamic_type(E::F32, {-2, 8, -4, -5}),
                    {},
                    dynamic_type(E::F32, {-2, 4, -4, -5})},
                   {},
                   {{"group", int64_t{2}}, {"strides", std::vector<int64_t>{1, 2}}}});
  for (Shape x : {Shape{2, 2, 4, 5}, {1, 2, 2, 2}, {0, 2, 3, 3}, {1, 2, 1, 3}}) {
    Shape y = {x[0], 8, x[2] - 1, (x[3] - 2) / 2 + 1}, z = {x[0], 4, y[2], y[3]};
    cases.back().runs.push_back(
        {sample(E::F32, x), sample(E::F32, {4, 1, 2, 2}), sample(E::F32, y, 3), sample(E::F32, z, 5)});
  }
  cases.back().runs.push_back({sample(E::F32, {1, 2, 3, 3}), sample(E::F32, {4, 1, 2, 2}),
                               sample(E::F32, {1, 8, 3, 1}), sample(E::F32, {1, 4, 2, 1})});
  for (E to : {E::I32, E::F32}) {
    cases.push_back({"BitCast",
                     {dynamic_type(E::F32, {-2, -3})},
                     {{sample(E::F32, {2, 3})}, {sample(E::F32, {0, 3})}},
                     {{"to", to}}});
  }
  cases.push_back({"Det", {dynamic_type(E::F64, {-2, -3, -3})}, {}});
  for (Shape x : {Shape{2, 3, 3}, {0, 2, 2}, {1, 2, 3}}) cases.back().runs.push_back({sample(E::F64, x)});
  cases.push_back({"Col2Im",
                   {dynamic_type(E::F32, {-2, -4, -9}), dynamic_type(E::I64, {2}), dynamic_type(E::I64, {2})},
                   {}});
  for (int64_t size : {-1, 1, 2, 3, 4, 5}) {
    for (Shape x : {Shape{2, 4, 4}, {1, 4, 1}, {1, 3, 4}})
      cases.back().runs.push_back({sample(E::F32, x), i64({2}, {size, 3}), i64({2}, {2, 2})});
  }
  cases.back().runs.push_back({sample(E::F32, {2, 4, 4}), i64({2}, {3, kMost}), i64({2}, {2, 2})});
  cases.back().runs.push_back({sample(E::F32, {2, 4, 4}), i64({2}, {3, 3}), i64({2}, {2, 0})});
  check_dynamic(cases);
}

TEST_CASE("transforms on dynamic shapes") {
  std::vector<DynamicCase> cases;
  TensorType x = dynamic_type(E::F64, {-2, -6, 1}), z = dynamic_type(E::F64, {-2, -6, 2}),
             n = dynamic_type(E::I64, {});
  auto add = [&](std::vector<DynamicOperand> operands, AttrList attrs) {
    cases.push_back({"DFT", std::move(operands), {}, attrs});
  };
  for (int64_t inverse : {0, 1}) {
    AttrList attrs{{"inverse", inverse}};
    add({z, {}, i64({}, {1})}, attrs);
    for (Shape shape : {Shape{2, 6, 2}, {1, 1, 2}, {2, 0, 2}})
      cases.back().runs.push_back({sample(E::F64, shape)});
    add({z, n, n}, attrs);
    for (int64_t axis : {-4, -3, -1, 0, 1, 2}) {
      for (int64_t length : {int64_t{-1}, int64_t{0}, int64_t{4}, int64_t{9}, kMost})
        cases.back().runs.push_back({sample(E::F64, {2, 5, 2}), i64({}, {length}), i64({}, {axis})});
    }
    attrs.push_back({"onesided", int64_t{1}});
    add({inverse != 0 ? z : x, {}, n}, attrs);
    for (int64_t axis : {-2, 0, 1})
      cases.back().runs.push_back({sample(E::F64, {2, 5, inverse + 1}), i64({}, {axis})});
  }
  cases.push_back({"STFT", {dynamic_type(E::F64, {-2, -20}), n, {}, n}, {}});  // as exporters write it
  for (int64_t length : {20, 8, 5})
    cases.back().runs.push_back({sample(E::F64, {2, length}), i64({}, {3}), i64({}, {5})});
  cases.push_back({"STFT", {dynamic_type(E::F64, {-2, -20, 1}), n, {}, n}, {}});
  for (int64_t step : {int64_t{0}, int64_t{1}, int64_t{7}, kMost}) {
    for (int64_t length : {int64_t{0}, int64_t{1}, int64_t{6}, int64_t{17}, kMost})
      cases.back().runs.push_back({sample(E::F64, {2, 16, 1}), i64({}, {step}), i64({}, {length})});
  }
  cases.push_back({"STFT",
                   {dynamic_type(E::F64, {1, -20, 2}), n, dynamic_type(E::F64, {-8})},
                   {},
                   {{"onesided", int64_t{0}}}});
  cases.back().runs.push_back({sample(E::F64, {1, 20, 2}), i64({}, {3}), sample(E::F64, {7})});
  for (const char* window : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
    cases.push_back({window, {n}, {}});
    for (int64_t size : {-1, 0, 1, 5, 24, 25}) cases.back().runs.push_back({i64({}, {size})});
  }
  TensorType number = dynamic_type(E::F32, {});
  cases.push_back({"MelWeightMatrix", {n, n, n, number, number}, {}});
  for (int64_t bins : {-1, 0, 4, 24})
    cases.back().runs.push_back(
        {i64({}, {bins}), i64({}, {32}), i64({}, {8192}), f32({}, {10}), f32({}, {4000})});
  check_dynamic(cases);
}

TEST_CASE("Einsum on dynamic shapes") {
  std::vector<DynamicCase> cases;
  auto add = [&](const std::string& equation, std::vector<DynamicOperand> operands) {
    cases.push_back({"Einsum", std::move(operands), {}, {{"equation", equation}}});
  };
  add("bij,bjk->bik", {dynamic_type(E::F32, {-2, -3, -4}), dynamic_type(E::F32, {-2, -4, 5})});
  for (Shape a : {Shape{2, 3, 4}, {1, 1, 2}, {2, 0, 4}})
    cases.back().runs.push_back({sample(E::F32, a), sample(E::F32, {a[0], a[2], 5})});
  cases.back().runs.push_back({sample(E::F32, {2, 3, 4}), sample(E::F32, {2, 3, 5})});
  add("...ii->...i", {dynamic_type(E::I32, {-2, -3, -3})});
  for (Shape a : {Shape{2, 3, 3}, {0, 1, 1}}) cases.back().runs.push_back({sample(E::I32, a)});
  add("...a,b...->ab", {dynamic_type(E::F64, {-3, -2}), dynamic_type(E::F64, {4, -3})});
  for (Shape a : {Shape{3, 2}, {1, 2}})
    cases.back().runs.push_back({sample(E::F64, a), sample(E::F64, {4, 3})});
  check_dynamic(cases);
}

TEST_CASE("movement on dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (int64_t batch : {0, 1}) {
    AttrList attrs{{"batch_axis", batch}, {"time_axis", 1 - batch}};
    cases.push_back(
        {"ReverseSequence", {dynamic_type(E::U8, {-3, -3, -2}), dynamic_type(E::I64, {-3})}, {}, attrs});
    for (int64_t length : {int64_t{-1}, int64_t{0}, int64_t{3}, int64_t{4}, kMost})
      cases.back().runs.push_back({sample(E::U8, {3, 3, 2}), i64({3}, {length, 1, 2})});
    cases.back().runs.push_back({sample(E::U8, {3, 3, 2}), i64({2}, {1, 2})});
  }
  for (std::string mode : {"linear", "circular"}) {
    cases.push_back(
        {"TensorScatter",
         {dynamic_type(E::F32, {-2, -4, 3}), dynamic_type(E::F32, {-2, -2, 3}), dynamic_type(E::I64, {-2})},
         {},
         {{"mode", mode}}});
    for (int64_t place : {int64_t{-1}, int64_t{0}, int64_t{2}, int64_t{3}, int64_t{4}, int64_t{5}, kMost})
      cases.back().runs.push_back(
          {sample(E::F32, {2, 4, 3}), sample(E::F32, {2, 2, 3}, 7), i64({2}, {place, 0})});
    cases.back().runs.push_back({sample(E::F32, {2, 1, 3}), sample(E::F32, {2, 2, 3}, 7), i64({2}, {0, 0})});
  }
  cases.push_back({"CenterCropPad",
                   {dynamic_type(E::I16, {-4, 3, -2}), dynamic_type(E::I64, {2})},
                   {},
                   {{"axes", std::vector<int64_t>{0, -1}}}});
  for (int64_t size : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{3}, int64_t{5}, kMost})
    cases.back().runs.push_back({sample(E::I16, {4, 3, 2}), i64({2}, {size, 3})});
  cases.push_back({"CumProd",
                   {dynamic_type(E::F64, {-2, -3, 2}), dynamic_type(E::I32, {})},
                   {},
                   {{"reverse", int64_t{1}}}});
  for (int64_t axis : {-4, -3, 0, 1, 2, 3})
    cases.back().runs.push_back({sample(E::F64, {2, 3, 2}), i32({}, {axis})});
  check_dynamic(cases);
}

TEST_CASE("results as long as what is found") {
  std::vector<DynamicCase> cases;
  for (int64_t axis : {0, 1, -1}) {
    cases.push_back(
        {"Compress", {dynamic_type(E::F32, {-3, 2}), dynamic_type(E::Bool, {-4})}, {}, {{"axis", axis}}});
    for (std::vector<int64_t> yes : {std::vector<int64_t>{}, {1}, {0, 0}, {0, 1, 1}, {1, 0, 0, 0}})
      cases.back().runs.push_back({sample(E::F32, {3, 2}), booleans(yes)});
  }
  cases.push_back({"Compress",
                   {dynamic_type(E::I8, {2, 2}), dynamic_type(E::Bool, {4})},
                   {{sample(E::I8, {2, 2}), booleans({0, 1, 0, 1})}}});
  for (E elem : {E::F32, E::F16, E::BF16, E::Bool, E::I64}) {
    cases.push_back({"NonZero", {dynamic_type(elem, {-3, 2, -2})}, {}});
    for (Shape shape : {Shape{3, 2, 2}, {0, 2, 1}}) cases.back().runs.push_back({sample(elem, shape)});
    cases.back().runs.push_back({Tensor::of<double>(elem, {1, 2, 2}, {0.0, -0.0, 1, 0})});
  }
  cases.push_back({"NonZero", {dynamic_type(E::F32, {})}, {{f32({}, {0})}, {f32({}, {2})}}});
  for (int64_t sorted : {0, 1}) {
    cases.push_back({"Unique", {dynamic_type(E::F32, {-4, -3})}, {}, {{"sorted", sorted}}, 4});
    cases.back().runs = {{f32({2, 3}, {2, 1, 2, -1, NAN, NAN})},
                         {f32({4, 2}, {3, 3, 3, 3, 3, 3, 3, 3})},
                         {sample(E::F32, {0, 3})},
                         {sample(E::F32, {4, 3})}};
    for (int64_t axis : {0, 1}) {
      cases.push_back(
          {"Unique", {dynamic_type(E::U64, {-4, 3})}, {}, {{"sorted", sorted}, {"axis", axis}}, 3});
      for (int64_t n : {0, 1, 4}) {
        Tensor x(TensorType{E::U64, {n, 3}});
        for (int64_t i = 0; i < x.elements(); ++i) x.set_int(i, i / 3 % 2 == 0 ? -(i % 2) : 5);
        cases.back().runs.push_back({x});
      }
    }
  }
  check_dynamic(cases);
}

TEST_CASE("NonMaxSuppression on dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (int64_t center : {0, 1}) {
    cases.push_back({"NonMaxSuppression",
                     {dynamic_type(E::F32, {-2, -6, 4}), dynamic_type(E::F32, {-2, 2, -6}),
                      dynamic_type(E::I64, {1}), f32({1}, {0.3}), f32({1}, {-1})},
                     {},
                     {{"center_point_box", center}}});
    for (int64_t most : {int64_t{-1}, int64_t{0}, int64_t{2}, kMost}) {
      for (int64_t count : {0, 1, 6}) {
        Tensor boxes = sample(E::F32, {2, count, 4});
        cases.back().runs.push_back({boxes, sample(E::F32, {2, 2, count}, 9), i64({1}, {most})});
      }
    }
    cases.back().runs.push_back({sample(E::F32, {2, 6, 4}), sample(E::F32, {2, 2, 5}), i64({1}, {2})});
  }
  check_dynamic(cases);
}

TEST_CASE("TopK of many elements on dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (E elem : {E::F32, E::I64}) {
    for (int64_t axis : {0, 1}) {
      cases.push_back({"TopK",
                       {dynamic_type(elem, {-300, -300}), dynamic_type(E::I64, {1})},
                       {},
                       {{"axis", axis}, {"largest", axis}},
                       2});
      for (int64_t n : {0, 1, 40, 300}) {
        for (int64_t k : {int64_t{0}, int64_t{1}, n - 1, n, n + 1}) {
          const Shape shape = axis == 0 ? Shape{n, 3} : Shape{3, n};
          cases.back().runs.push_back({sample(elem, shape, static_cast<uint32_t>(n)), i64({1}, {k})});
        }
      }
    }
  }
  check_dynamic(cases);
}

// Scores that are equal, at the threshold or no numbers; boxes that overlap, have no area, or no corners.
TEST_CASE("NonMaxSuppression of many boxes") {
  std::mt19937 random(7);
  auto drawn = [&](const Shape& shape, int values, bool special) {
    Tensor t(TensorType{E::F32, shape});
    for (int64_t i = 0; i < t.elements(); ++i) {
      const auto v = static_cast<int>(random() % 512);
      constexpr double kSpecial[] = {NAN, INFINITY, -INFINITY, -0.0};
      t.set_double(i, special && v < 4 ? kSpecial[v] : static_cast<double>(v % values - values / 3) / 8);
    }
    return t;
  };
  std::vector<DynamicCase> cases;
  for (int64_t center : {0, 1}) {
    for (bool has_score : {false, true}) {
      cases.push_back({"NonMaxSuppression",
                       {dynamic_type(E::F32, {-2, -300, 4}), dynamic_type(E::F32, {-2, 3, -300}),
                        dynamic_type(E::I64, {1}), dynamic_type(E::F32, {1})},
                       {},
                       {{"center_point_box", center}}});
      if (has_score) cases.back().operands.emplace_back(dynamic_type(E::F32, {}));
      for (int64_t count : {16, 127, 128, 300}) {
        for (int64_t most : {int64_t{17}, kMost}) {
          for (double iou : {0.0, 0.4, 1.0, -1.0}) {
            cases.back().runs.push_back({drawn({2, count, 4}, 40, count > 16),
                                         drawn({2, 3, count}, iou == 0 ? 512 : 9, true), i64({1}, {most}),
                                         f32({1}, {iou})});
            if (has_score) cases.back().runs.back().push_back(f32({}, {0.25}));
          }
        }
      }
    }
  }
  check_dynamic(cases);
}

// Sizes whose quotient is whole, or halves ties, are where rounding shows. The reference is checked against
// exact arithmetic in ops_movement.
TEST_CASE("nearest Resize on dynamic shapes takes the pixel that the reference takes") {
  constexpr std::pair<int64_t, int64_t> kPairs[] = {
      {49, 7},  {224, 16}, {20, 6}, {24, 28}, {28, 38}, {7, 49},   {30, 70}, {99, 11},
      {25, 15}, {1, 5},    {5, 1},  {13, 13}, {41, 9},  {300, 92}, {77, 33}, {10, 299}};
  std::vector<DynamicCase> cases;
  for (std::string where : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                            "asymmetric", "tf_half_pixel_for_nn"}) {
    for (std::string rounding :
         {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "ceil_when_shrinking"}) {
      AttrList attrs{{"coordinate_transformation_mode", where}, {"nearest_mode", rounding}};
      cases.push_back(
          {"Resize", {dynamic_type(E::I32, {-300}), {}, {}, dynamic_type(E::I64, {1})}, {}, attrs});
      DynamicCase by_scale{
          "Resize", {dynamic_type(E::I32, {-300}), {}, dynamic_type(E::F32, {1})}, {}, attrs};
      for (auto [in, out] : kPairs) {
        std::vector<int64_t> numbers(static_cast<size_t>(in));
        std::iota(numbers.begin(), numbers.end(), int64_t{0});
        const Tensor x = i32({in}, numbers);
        if (out <= kTestBound) cases.back().runs.push_back({x, i64({1}, {out})});
        const float scale = static_cast<float>(out) / static_cast<float>(in);
        if (out <= kTestBound) by_scale.runs.push_back({x, f32({1}, {static_cast<double>(scale)})});
      }
      by_scale.runs.push_back({i32({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), f32({1}, {0.77})});
      by_scale.runs.push_back({i32({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), f32({1}, {1.4})});
      cases.push_back(std::move(by_scale));
    }
  }
  for (std::string mode : {"linear", "cubic"}) {
    for (int64_t antialias : {0, 1}) {
      AttrList attrs{{"mode", mode}, {"antialias", antialias}};
      cases.push_back(
          {"Resize", {dynamic_type(E::U8, {2, -9, -8}), {}, {}, dynamic_type(E::I64, {3})}, {}, attrs});
      for (int64_t size : {1, 4, 9, 13}) {
        for (Shape shape : {Shape{2, 9, 8}, Shape{2, 3, 1}})
          cases.back().runs.push_back({sample(E::U8, shape), i64({3}, {2, size, 5})});
      }
    }
  }
  check_dynamic(cases);
}

TEST_CASE("Resize on dynamic shapes") {
  std::vector<DynamicCase> cases;
  for (std::string mode : {"nearest", "linear", "cubic"}) {
    for (std::string where : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                              "asymmetric", "tf_half_pixel_for_nn"}) {
      AttrList attrs{{"mode", mode}, {"coordinate_transformation_mode", where}};
      if (mode == "cubic") attrs.push_back({"antialias", int64_t{1}});
      cases.push_back(
          {"Resize", {dynamic_type(E::F32, {2, -3, -5}), {}, dynamic_type(E::F32, {3})}, {}, attrs});
      for (double s : {0.0, 0.4, 1.0, 1.6, 1e30}) {
        for (Shape x : {Shape{2, 3, 5}, {2, 1, 4}})
          cases.back().runs.push_back({sample(E::F32, x), f32({3}, {1, s, 0.6})});
      }
      cases.push_back(
          {"Resize", {dynamic_type(E::F32, {2, -3, -5}), {}, {}, dynamic_type(E::I64, {2})}, {}, attrs});
      cases.back().attrs.push_back({"axes", std::vector<int64_t>{2, 1}});
      for (int64_t size : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{7}, kMost})
        cases.back().runs.push_back({sample(E::F32, {2, 3, 5}), i64({2}, {size, 3})});
    }
    AttrList attrs{{"mode", mode},
                   {"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
                   {"extrapolation_value", 9.0f}};
    cases.push_back(
        {"Resize",
         {dynamic_type(E::F32, {-3, 5}), dynamic_type(E::F32, {4}), {}, dynamic_type(E::I64, {2})},
         {},
         attrs});
    cases.back().runs.push_back({sample(E::F32, {3, 5}), f32({4}, {0.2, -0.5, 0.8, 1.5}), i64({2}, {4, 6})});
    for (const char* policy : {"not_larger", "not_smaller"}) {
      cases.push_back({"Resize",
                       {dynamic_type(E::F32, {-3, 5}), {}, {}, dynamic_type(E::I64, {2})},
                       {},
                       {{"mode", mode}, {"keep_aspect_ratio_policy", std::string(policy)}}});
      cases.back().runs.push_back({sample(E::F32, {3, 5}), i64({2}, {7, 8})});
    }
  }
  for (std::string rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
    cases.push_back({"Resize",
                     {dynamic_type(E::U8, {-5}), {}, dynamic_type(E::F32, {1})},
                     {},
                     {{"nearest_mode", rounding}}});
    for (double s : {0.5, 0.7, 2.0, 3.0}) cases.back().runs.push_back({sample(E::U8, {5}), f32({1}, {s})});
  }
  cases.push_back({"Upsample",
                   {dynamic_type(E::F32, {-3, 4}), dynamic_type(E::F32, {2})},
                   {{sample(E::F32, {3, 4}), f32({2}, {2, 1.5})}}});
  check_dynamic(cases);
}

}  // namespace
}  // namespace mrvlc::test

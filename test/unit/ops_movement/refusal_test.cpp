#include <catch2/catch.hpp>

#include "../ops/case.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops::test {
namespace {

constexpr int64_t kHuge = INT64_MAX;

Tensor f32(Shape shape) {
  return Tensor(TensorType{ElementType::F32, std::move(shape)});
}
Case slice(std::vector<int64_t> start, std::vector<int64_t> end) {
  return Case("Slice").in(f32({2, 3})).in(ints(std::move(start))).in(ints(std::move(end)));
}
Case resize() {
  return Case("Resize").in(f32({2, 3}));
}

}  // namespace

TEST_CASE("values that decide about shapes may be known at run time only") {
  for (const char* name : {"Reshape", "Expand", "Tile", "Unsqueeze"}) {
    INFO(name);
    REQUIRE(Case(name).unknown(f32({2, 3})).unknown(ints({1, 1})).refusal().empty());
  }
  REQUIRE(Case("Pad").unknown(f32({2, 3})).unknown(ints({1, 1, 0, 0})).refusal().empty());
  REQUIRE(Case("ConstantOfShape").unknown(ints({2})).refusal().empty());
  REQUIRE(Case("Slice").in(f32({2})).unknown(ints({0})).in(ints({1})).refusal().empty());
}

TEST_CASE("axes and permutations are checked") {
  REQUIRE(Case("Transpose").set("perm", list({0, 0})).in(f32({2, 3})).refusal() == "MRV0208");
  REQUIRE(Case("Transpose").set("perm", list({0, 2})).in(f32({2, 3})).refusal() == "MRV0206");
  REQUIRE(Case("Transpose").set("perm", list({-2, -1})).in(f32({2, 3})).refusal() == "MRV0204");
  REQUIRE(Case("Transpose").set("perm", list({0})).in(f32({2, 3})).refusal() == "MRV0204");
  for (int64_t axis : {int64_t{2}, int64_t{-3}, kHuge, INT64_MIN}) {
    REQUIRE(Case("Concat").set("axis", num(axis)).in(f32({2, 3})).refusal() == "MRV0206");
    REQUIRE(Case("Split").set("axis", num(axis)).in(f32({2, 3})).refusal() == "MRV0206");
    REQUIRE(Case("Gather").set("axis", num(axis)).in(f32({2, 3})).in(ints({0})).refusal() == "MRV0206");
    REQUIRE(Case("Squeeze").in(f32({1, 3})).in(ints({axis})).refusal() == "MRV0206");
    REQUIRE(slice({0}, {1}).in(ints({axis})).refusal() == "MRV0206");
  }
  REQUIRE(Case("Squeeze").in(f32({2, 3})).in(ints({0})).refusal() == "MRV0208");
  REQUIRE(Case("Unsqueeze").in(f32({3})).in(ints({0, 0})).refusal() == "MRV0208");
  REQUIRE(Case("Flatten").set("axis", num(3)).in(f32({2, 3})).refusal() == "MRV0206");
}

TEST_CASE("shapes that cannot be") {
  REQUIRE(Case("Reshape").in(f32({2, 3})).in(ints({4, -1})).refusal() == "MRV0208");
  REQUIRE(Case("Reshape").in(f32({2, 3})).in(ints({-1, -1})).refusal() == "MRV0208");
  REQUIRE(Case("Reshape").in(f32({2, 3})).in(ints({-2, 3})).refusal() == "MRV0208");
  REQUIRE(Case("Reshape").in(f32({6})).in(ints({6, 0})).refusal() == "MRV0208");
  REQUIRE(Case("Reshape").in(f32({2, 3})).in(ints({kHuge, kHuge})).refusal() == "MRV0208");
  REQUIRE(Case("Concat").set("axis", num(0)).in(f32({2, 3})).in(f32({2, 4})).refusal() == "MRV0205");
  REQUIRE(Case("Split").in(f32({4})).in(ints({1, 2})).outputs(2).refusal() == "MRV0208");
  REQUIRE(Case("Split").in(f32({4})).in(ints({-1, 5})).outputs(2).refusal() == "MRV0208");
  REQUIRE(Case("Expand").in(f32({2, 3})).in(ints({4})).refusal() == "MRV0205");
  REQUIRE(Case("DepthToSpace").set("blocksize", num(0)).in(f32({1, 4, 2, 2})).refusal() == "MRV0204");
  REQUIRE(Case("DepthToSpace").set("blocksize", num(kHuge)).in(f32({1, 4, 2, 2})).refusal() == "MRV0204");
  REQUIRE(Case("SpaceToDepth").set("blocksize", num(3)).in(f32({1, 4, 2, 2})).refusal() == "MRV0204");
  REQUIRE(slice({0}, {1}).in(ints({0})).in(ints({0})).refusal() == "MRV0208");
  REQUIRE(slice({0, 1}, {1}).refusal() == "MRV0208");
  REQUIRE(Case("TopK").in(f32({3})).in(ints({4})).outputs(2).refusal() == "MRV0208");
  REQUIRE(Case("TopK").in(f32({3})).in(ints({-1})).outputs(2).refusal() == "MRV0208");
}

TEST_CASE("results that would fill the memory are refused before it is asked for") {
  int64_t big = int64_t{1} << 39;
  REQUIRE(Case("Expand").in(f32({1})).in(ints({kHuge})).refusal() == "MRV0209");
  REQUIRE(Case("Expand").in(f32({1, 1})).in(ints({big, big})).refusal() == "MRV0209");
  REQUIRE(Case("Tile").in(f32({2, 2})).in(ints({kHuge, 1})).refusal() == "MRV0209");
  REQUIRE(Case("Tile").in(f32({2, 2})).in(ints({-1, 1})).refusal() == "MRV0208");
  REQUIRE(Case("ConstantOfShape").in(ints({big, big, big})).refusal() == "MRV0209");
  REQUIRE(Case("ConstantOfShape").in(ints({-1})).refusal() == "MRV0208");
  REQUIRE(Case("Pad").in(f32({2})).in(ints({kHuge, kHuge})).refusal() == "MRV0209");
  REQUIRE(Case("Pad").in(f32({2})).in(ints({INT64_MIN, 0})).refusal() == "MRV0208");
  REQUIRE(Case("Pad").in(f32({2})).in(ints({-2, -1})).refusal() == "MRV0208");
  REQUIRE(Case("Pad").set("mode", text("reflect")).in(f32({0})).in(ints({1, 0})).refusal() == "MRV0208");
  auto number = [](double v) { return Tensor::of<double>(ElementType::F32, {}, {v}); };
  REQUIRE(Case("Range").in(number(0)).in(number(1e30)).in(number(1e-3)).refusal() == "MRV0209");
  REQUIRE(Case("Range").in(number(0)).in(number(1)).in(number(0)).refusal() == "MRV0208");
  REQUIRE(Case("OneHot").in(ints({0})).in(ints({kHuge})).in(floats({2}, {0, 1})).refusal() == "MRV0209");
}

TEST_CASE("Resize refuses what it does not understand") {
  Tensor scales = floats({2}, {1, 2});
  REQUIRE(resize().refusal() == "MRV0208");
  REQUIRE(resize().absent().in(scales).in(ints({2, 3})).refusal() == "MRV0208");
  REQUIRE(resize().absent().in(floats({1}, {2})).refusal() == "MRV0208");
  REQUIRE(resize().absent().in(floats({2}, {0, 1})).refusal() == "MRV0208");
  REQUIRE(resize().absent().in(floats({2}, {-1, 1})).refusal() == "MRV0208");
  REQUIRE(resize().absent().absent().in(ints({kHuge, 1})).refusal() == "MRV0209");
  REQUIRE(resize().absent().unknown(scales).refusal().empty());
  REQUIRE(resize().set("mode", text("sharp")).absent().in(scales).refusal() == "MRV0204");
  REQUIRE(resize().set("axes", list({5, 0})).absent().in(scales).refusal() == "MRV0206");
}

TEST_CASE("tables of positions that would be most of a program are refused when they are asked for") {
  const int64_t most = int64_t{1} << 23;
  auto code = [](const Case& c) -> DiagId {
    auto result = c.eval();
    return result.ok() ? nullptr : result.error().code;
  };
  auto to = [](int64_t width, const char* mode) {
    return Case("Resize").set("mode", text(mode)).in(f32({1, 2})).absent().absent().in(ints({1, width}));
  };
  CHECK(code(to(most, "nearest")) == DiagCode::MRV0210);
  CHECK(code(to(most - 1, "nearest")) == nullptr);
  CHECK(code(to(most / 2 + 1, "linear")) == DiagCode::MRV0210);
  CHECK(code(to(most / 4 + 1, "cubic")) == DiagCode::MRV0210);
  // Dimensions that stay have tables too in mode nearest (above: dimension 0), and where a crop has their
  // size.
  auto same = [&](const char* mode, const char* coordinates) {
    return Case("Resize")
        .set("mode", text(mode))
        .set("coordinate_transformation_mode", text(coordinates))
        .in(f32({1, most + 1}));
  };
  const Tensor sizes = ints({2, most + 1}), crop = floats({4}, {0, 0.25, 1, 0.75});
  CHECK(code(same("nearest", "half_pixel").absent().absent().in(sizes)) == DiagCode::MRV0210);
  CHECK(code(same("linear", "half_pixel").absent().absent().in(sizes)) == nullptr);
  CHECK(code(same("linear", "tf_crop_and_resize").in(crop).absent().in(sizes)) == DiagCode::MRV0210);
  Case wide = Case("Resize").set("mode", text("linear")).set("antialias", num(1));
  CHECK(code(wide.in(f32({1, most})).absent().absent().in(ints({1, 3}))) == DiagCode::MRV0210);
  Case pad = Case("Pad").set("mode", text("edge")).in(f32({2}));
  CHECK(code(pad.in(ints({0, most}))) == DiagCode::MRV0210);
}

TEST_CASE("indices and updates must fit") {
  Tensor x = f32({3, 2});
  REQUIRE(Case("Gather").in(x).in(floats({1}, {0})).refusal() == "MRV0202");
  REQUIRE(Case("GatherElements").in(x).in(ints({0})).refusal() == "MRV0203");
  REQUIRE(Case("GatherND").set("batch_dims", num(-1)).in(x).in(ints({0})).refusal() == "MRV0204");
  REQUIRE(Case("GatherND").in(x).in(ints({0, 0, 0})).refusal() == "MRV0208");
  REQUIRE(Case("ScatterND").in(x).in(ints({0})).in(f32({3})).refusal() == "MRV0205");
  REQUIRE(Case("ScatterND").set("reduction", text("xor")).in(x).in(ints({0})).in(f32({2})).refusal() ==
          "MRV0204");
  REQUIRE(Case("CumSum").in(x).in(ints({2})).refusal() == "MRV0206");
  REQUIRE(Case("Trilu").in(f32({3})).refusal() == "MRV0203");
}

}  // namespace mrvlc::ops::test

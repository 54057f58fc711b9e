// What the signal, geometry and indexing operators refuse.
#include <catch2/catch.hpp>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

Tensor index(Shape shape, std::vector<int64_t> values) {
  return Tensor::of(ElementType::I64, std::move(shape), values);
}
Tensor f32(Shape shape) {
  return iota(ElementType::F32, std::move(shape));
}

}  // namespace

TEST_CASE("geometry is checked") {
  REQUIRE(Case("GridSample").in(f32({1, 1, 2, 2})).in(f32({1, 2, 2, 3})).refusal() == "MRV0208");
  REQUIRE(Case("GridSample")
              .set("mode", text("bilinear"))
              .in(f32({1, 1, 2, 2}))
              .in(f32({1, 2, 2, 2}))
              .refusal() == "MRV0204");
  REQUIRE(Case("GridSample").in(f32({1, 1, 0, 2})).in(f32({1, 2, 2, 2})).refusal() == "MRV0208");
  REQUIRE(Case("AffineGrid").in(f32({1, 2, 3})).in(index({4}, {1, 1, -2, 2})).refusal() == "MRV0208");
  Case roi = Case("RoiAlign").in(f32({1, 1, 2, 2})).in(f32({1, 4}));
  REQUIRE(Case(roi).in(index({2}, {0, 0})).refusal() == "MRV0208");
  REQUIRE(Case(roi).set("output_height", num(0)).in(index({1}, {0})).refusal() == "MRV0204");
  REQUIRE_FALSE(Case(roi).in(index({1}, {1})).eval().ok());
  Case deform = Case("DeformConv").in(f32({1, 2, 3, 3})).in(f32({1, 2, 2, 2}));
  REQUIRE(Case(deform).in(f32({1, 8, 3, 3})).refusal() == "MRV0208");
  REQUIRE(Case(deform).set("group", num(3)).in(f32({1, 8, 2, 2})).refusal() == "MRV0204");
  REQUIRE(Case("Col2Im").in(f32({1, 5, 5})).in(index({2}, {5, 5})).in(index({2}, {1, 4})).refusal() ==
          "MRV0208");
  REQUIRE(Case("Det").in(f32({2, 3})).refusal() == "MRV0208");
  REQUIRE(Case("Inverse", "com.microsoft").in(f32({2, 3})).refusal() == "MRV0208");
}

TEST_CASE("lengths and axes of signals are checked") {
  Tensor x = f32({1, 4, 1});
  REQUIRE(Case("DFT").in(x).absent().in(index({}, {2})).refusal() == "MRV0208");
  REQUIRE(Case("DFT").in(x).in(index({}, {0})).in(index({}, {1})).refusal() == "MRV0208");
  REQUIRE(Case("DFT").in(f32({1, 4, 3})).refusal() == "MRV0208");
  REQUIRE(Case("DFT").set("onesided", num(1)).in(f32({1, 4, 2})).refusal() == "MRV0204");
  REQUIRE(Case("STFT").in(x).in(index({}, {0})).absent().in(index({}, {2})).refusal() == "MRV0208");
  REQUIRE(Case("STFT").in(x).in(index({}, {1})).absent().in(index({}, {5})).refusal() == "MRV0208");
  REQUIRE(Case("STFT").in(x).in(index({}, {1})).refusal() == "MRV0208");
  REQUIRE(Case("HannWindow").in(index({}, {-1})).refusal() == "MRV0208");
  REQUIRE(Case("CumProd").in(f32({2})).in(index({}, {1})).refusal() == "MRV0206");
}

TEST_CASE("equations are checked") {
  auto code = [](const std::string& equation, std::vector<Shape> shapes) {
    Case c = Case("Einsum").set("equation", text(equation));
    for (const Shape& s : shapes) c.in(f32(s));
    return c.refusal();
  };
  for (const char* equation : {"ij->k", "ij->ii", "i", "ij,j", "i1", "i....", "i->->", "0...->..."})
    REQUIRE(code(equation, {{2, 2}}) == "MRV0204");
  REQUIRE(code("ij,jk", {{2, 3}, {2, 2}}) == "MRV0208");
}

TEST_CASE("places are checked") {
  Tensor x = f32({2, 3});
  Case reverse = Case("ReverseSequence").set("batch_axis", num(0)).set("time_axis", num(1)).in(x);
  REQUIRE_FALSE(Case(reverse).in(index({2}, {4, 1})).eval().ok());
  REQUIRE(Case(reverse).in(index({3}, {1, 1, 1})).refusal() == "MRV0208");
  const int64_t most = std::numeric_limits<int64_t>::max();
  REQUIRE(Case("ReverseSequence")
              .set("batch_axis", num(most))
              .set("time_axis", num(most))
              .in(x)
              .in(index({2}, {1, 1}))
              .refusal() == "MRV0208");
  Case scatter = Case("TensorScatter").set("axis", num(1)).in(x).in(f32({2, 2}));
  REQUIRE_FALSE(Case(scatter).in(index({2}, {2, 0})).eval().ok());
  REQUIRE(Case("TensorScatter").set("axis", num(1)).in(x).in(f32({2, 4})).refusal() == "MRV0208");
  REQUIRE(Case("CenterCropPad").in(x).in(index({1}, {2})).refusal() == "MRV0208");
  REQUIRE(Case("BitCast").set("to", ir::Attr(ElementType::I64)).in(x).refusal() == "MRV0204");
  REQUIRE(Case("Compress").set("axis", num(0)).in(x).in(Tensor({ElementType::Bool, {3}})).refusal() ==
          "MRV0208");
}

}  // namespace mrvlc::ops::test

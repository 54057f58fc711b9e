#include <catch2/catch.hpp>
#include <limits>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

Tensor f32(Shape shape) {
  return Tensor(TensorType{ElementType::F32, std::move(shape)});
}
Case conv() {
  return Case("Conv").in(f32({1, 4, 8, 8})).in(f32({4, 4, 3, 3}));
}
Case transpose() {
  return Case("ConvTranspose").in(f32({1, 4, 8, 8})).in(f32({4, 2, 3, 3}));
}
Case pool() {
  return Case("MaxPool").set("kernel_shape", list({3, 3})).in(f32({1, 4, 8, 8}));
}

}  // namespace

TEST_CASE("window operators refuse bad attributes with a diagnostic") {
  struct Bad {
    std::string_view attr;
    ir::Attr value;
  };
  const Bad table[] = {
      {"strides", list({0, 1})},       {"strides", list({-1, 1})},       {"strides", list({1})},
      {"strides", list({1, kHuge})},   {"dilations", list({0, 1})},      {"dilations", list({1, -3})},
      {"dilations", list({kHuge, 1})}, {"dilations", list({1, 1, 1})},   {"pads", list({-1, 0, 0, 0})},
      {"pads", list({0, 0})},          {"pads", list({kHuge, 0, 0, 0})}, {"auto_pad", text("SOMETIMES")},
      {"kernel_shape", list({0, 3})},  {"kernel_shape", list({-3, 3})},  {"kernel_shape", list({3})},
  };
  for (const Bad& bad : table) {
    INFO(bad.attr);
    REQUIRE(conv().set(bad.attr, bad.value).refusal() == "MRV0204");
    REQUIRE(transpose().set(bad.attr, bad.value).refusal() == "MRV0204");
    REQUIRE(pool().set(bad.attr, bad.value).refusal() == "MRV0204");
  }
  REQUIRE(conv().refusal().empty());
  REQUIRE(transpose().refusal().empty());
  REQUIRE(pool().refusal().empty());
}

TEST_CASE("convolutions refuse groups and shapes that do not agree") {
  for (int64_t group : {int64_t{0}, int64_t{-1}, int64_t{3}, kHuge}) {
    REQUIRE(conv().set("group", num(group)).refusal() == "MRV0204");
    REQUIRE(transpose().set("group", num(group)).refusal() == "MRV0204");
  }
  REQUIRE(conv().set("group", num(2)).refusal() == "MRV0205");
  REQUIRE(Case("Conv").in(f32({1, 4, 8, 8})).in(f32({4, 4, 3})).refusal() == "MRV0203");
  REQUIRE(Case("Conv").in(f32({1, 4})).in(f32({4, 4})).refusal() == "MRV0203");
  REQUIRE(Case("Conv").in(f32({1, 4, 2, 2})).in(f32({4, 4, 3, 3})).refusal() == "MRV0208");
  REQUIRE(Case("Conv").in(f32({1, 4, 8, 8})).in(f32({4, 4, 0, 3})).refusal() == "MRV0208");
  REQUIRE(conv().in(f32({5})).refusal() == "MRV0205");
  REQUIRE(transpose().in(f32({5})).refusal() == "MRV0205");
  REQUIRE(transpose().set("output_padding", list({1, 1})).refusal() == "MRV0204");
  REQUIRE(transpose().set("output_shape", list({0, 1})).refusal() == "MRV0204");
  REQUIRE(transpose().set("pads", list({9, 9, 9, 9})).refusal() == "MRV0204");
  REQUIRE(
      Case("Conv").in(f32({1, 4, 8, 8})).in(Tensor(TensorType{ElementType::F16, {4, 4, 3, 3}})).refusal() ==
      "MRV0202");
}

TEST_CASE("pools refuse padding wider than the window and windows without bound") {
  REQUIRE(pool().set("pads", list({3, 0, 0, 0})).refusal() == "MRV0204");
  REQUIRE(pool().set("kernel_shape", ir::Attr()).refusal() == "MRV0204");
  int64_t k = int64_t{1} << 30;
  Case c =
      Case("MaxPool").set("kernel_shape", list({k})).set("pads", list({k - 1, k - 1})).in(f32({1, 1, 1}));
  REQUIRE(c.refusal() == "MRV0204");
  REQUIRE(Case("GlobalMaxPool").in(f32({1, 1, 0})).refusal() == "MRV0208");
  REQUIRE(Case("GlobalAveragePool").in(f32({1, 1})).refusal() == "MRV0203");
}

TEST_CASE("products refuse shapes that do not agree") {
  REQUIRE(Case("Gemm").in(f32({2, 3})).in(f32({4, 2})).refusal() == "MRV0205");
  REQUIRE(Case("Gemm").in(f32({2, 3, 1})).in(f32({3, 2})).refusal() == "MRV0203");
  REQUIRE(Case("Gemm").in(f32({2, 3})).in(f32({3, 2})).in(f32({3, 2})).refusal() == "MRV0205");
  REQUIRE(Case("MatMul").in(f32({2, 3})).in(f32({4, 2})).refusal() == "MRV0205");
  REQUIRE(Case("MatMul").in(f32({2, 2, 3})).in(f32({3, 3, 2})).refusal() == "MRV0205");
  REQUIRE(Case("MatMul").in(f32({})).in(f32({3})).refusal() == "MRV0203");
}

}  // namespace mrvlc::ops::test

// The reference of the signal, geometry and indexing operators, on numbers worked out by hand.
#include <catch2/catch.hpp>
#include <cmath>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

using Ints = std::vector<int64_t>;
using Doubles = std::vector<double>;

Tensor index(Shape shape, Ints values) {
  return Tensor::of(ElementType::I64, std::move(shape), values);
}
Tensor scalar(int64_t v) {
  return index({}, {v});
}
Tensor row(Doubles values) {
  auto n = static_cast<int64_t>(values.size());
  return floats({n}, std::move(values));
}

}  // namespace

TEST_CASE("GridSample treats what lies outside as its padding says") {
  auto at = [](const std::string& mode, const std::string& padding, double x) {
    Case c = Case("GridSample").set("mode", text(mode)).set("padding_mode", text(padding));
    Tensor image = floats({1, 1, 1, 4}, {1, 2, 3, 4});
    return c.in(image).in(floats({1, 1, 1, 2}, {x, 0})).value().as_double(0);
  };
  REQUIRE(at("nearest", "zeros", -0.75) == 1);
  REQUIRE(at("nearest", "zeros", 1.5) == 0);
  REQUIRE(at("nearest", "border", 1.5) == 4);
  REQUIRE(at("linear", "zeros", 1) == 2);  // half of the last element
  REQUIRE(at("linear", "border", 7) == 4);
  REQUIRE(at("linear", "reflection", 1.5) == 3.5);
  REQUIRE(at("cubic", "border", 0.25) == Approx(3).margin(1e-6));
  REQUIRE(at("linear", "zeros", NAN) == 0);
}

TEST_CASE("AffineGrid of the identity") {
  Tensor theta = floats({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  Case c = Case("AffineGrid").in(theta).in(index({4}, {1, 1, 2, 2}));
  REQUIRE(c.value().to_doubles() == Doubles{-0.5, -0.5, 0.5, -0.5, -0.5, 0.5, 0.5, 0.5});
  c.set("align_corners", num(1));
  REQUIRE(c.value().to_doubles() == Doubles{-1, -1, 1, -1, -1, 1, 1, 1});
}

TEST_CASE("RoiAlign of a whole image") {
  Case c =
      Case("RoiAlign").set("output_height", num(1)).set("output_width", num(2)).set("sampling_ratio", num(1));
  c.in(iota(ElementType::F32, {1, 1, 4, 4})).in(floats({1, 4}, {0, 0, 4, 4})).in(index({1}, {0}));
  REQUIRE(c.value().to_doubles() == Doubles{6.5, 8.5});
}

TEST_CASE("DeformConv without offsets is a convolution, and with them reads elsewhere") {
  Tensor x = iota(ElementType::F32, {1, 1, 2, 2}), w = floats({1, 1, 1, 1}, {2});
  REQUIRE(Case("DeformConv").in(x).in(w).in(Tensor({ElementType::F32, {1, 2, 2, 2}})).value().to_ints() ==
          Ints{0, 2, 4, 6});
  Tensor right = floats({1, 2, 2, 2}, {0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5});
  REQUIRE(Case("DeformConv").in(x).in(w).in(right).value().to_ints() == Ints{1, 1, 5, 3});
}

TEST_CASE("Col2Im adds where blocks overlap") {
  Case c = Case("Col2Im").in(floats({1, 2, 2}, {1, 2, 3, 4})).in(index({2}, {1, 3})).in(index({2}, {1, 2}));
  REQUIRE(c.value().to_ints() == Ints{1, 5, 4});
}

TEST_CASE("Det pivots") {
  REQUIRE(Case("Det").in(floats({2, 2}, {0, 1, 1, 0})).value().as_double(0) == -1);
  REQUIRE(Case("Det").in(floats({2, 2}, {1, 2, 2, 4})).value().as_double(0) == 0);
  REQUIRE(Case("Det").in(Tensor({ElementType::F32, {0, 0}})).value().as_double(0) == 1);
}

TEST_CASE("Inverse pivots, and a matrix without one is no fault") {
  const auto of = [](const std::vector<double>& x) {
    return Case("Inverse", "com.microsoft").in(floats({2, 2}, x)).value();
  };
  const Tensor turned = of({0, 2, 4, 0});
  REQUIRE(turned.as_double(1) == 0.25);
  REQUIRE(turned.as_double(2) == 0.5);
  REQUIRE(!std::isfinite(of({1, 2, 2, 4}).as_double(0)));
  REQUIRE(Case("Inverse", "com.microsoft").in(Tensor({ElementType::F32, {0, 0}})).value().elements() == 0);
}

TEST_CASE("a transform and its inverse, of lengths with large and small factors") {
  for (int64_t n : {1, 2, 5, 12, 13, 30, 64}) {
    Tensor x = random_tensor(ElementType::F64, {2, n, 1}, 3);
    Tensor full = Case("DFT").in(x).absent().in(scalar(1)).value();
    Case back = Case("DFT").set("inverse", num(1)).in(full).absent().in(scalar(1));
    Tensor half = Case("DFT").set("onesided", num(1)).in(x).absent().in(scalar(1)).value();
    REQUIRE(half.shape() == Shape{2, n / 2 + 1, 2});
    Case real =
        Case("DFT").set("inverse", num(1)).set("onesided", num(1)).in(half).in(scalar(n)).in(scalar(1));
    Tensor y = back.value(), z = real.value();
    REQUIRE(z.shape() == x.shape());
    for (int64_t i = 0; i < x.elements(); ++i) {
      REQUIRE(y.as_double(2 * i) == Approx(x.as_double(i)).margin(1e-12));
      REQUIRE(y.as_double(2 * i + 1) == Approx(0).margin(1e-12));
      REQUIRE(z.as_double(i) == Approx(x.as_double(i)).margin(1e-12));
    }
  }
}

TEST_CASE("windows") {
  REQUIRE(greatest_error(Case("HannWindow").in(scalar(4)).value(), {0, 0.5, 1, 0.5}) < 1e-7);
  REQUIRE(greatest_error(Case("HannWindow").set("periodic", num(0)).in(scalar(3)).value(), {0, 1, 0}) < 1e-7);
  REQUIRE(greatest_error(Case("BlackmanWindow").in(scalar(2)).value(), {0, 1}) < 1e-7);
  REQUIRE(greatest_error(Case("HammingWindow").in(scalar(2)).value(), {4.0 / 46, 1}) < 1e-7);
}

TEST_CASE("Einsum: diagonals, dots and results left implicit") {
  auto run = [](const std::string& equation, std::vector<Tensor> operands) {
    Case c = Case("Einsum").set("equation", text(equation));
    for (Tensor& t : operands) c.in(t);
    return c.value().to_ints();
  };
  Tensor m = iota(ElementType::F32, {2, 2}), v = row({1, 10});
  REQUIRE(run("ii", {m}) == Ints{3});
  REQUIRE(run("ii->i", {m}) == Ints{0, 3});
  REQUIRE(run("ba", {m}) == Ints{0, 2, 1, 3});
  REQUIRE(run("ij,j", {m, v}) == Ints{10, 32});
  REQUIRE(run("...,...->...", {m, v}) == Ints{0, 10, 2, 30});
  REQUIRE(run("i...,i...->...", {m, m}) == Ints{4, 10});
  REQUIRE(run("i,j,k->", {v, v, v}) == Ints{1331});
  REQUIRE(run("->", {floats({}, {7})}) == Ints{7});
}

TEST_CASE("ReverseSequence, TensorScatter, CenterCropPad and CumProd") {
  Tensor x = iota(ElementType::F32, {2, 3});
  Case reverse = Case("ReverseSequence").set("batch_axis", num(0)).set("time_axis", num(1));
  REQUIRE(reverse.in(x).in(index({2}, {2, 3})).value().to_ints() == Ints{1, 0, 2, 5, 4, 3});
  Case scatter = Case("TensorScatter").set("mode", text("circular")).set("axis", num(1));
  scatter.in(x).in(floats({2, 2}, {7, 8, 9, 10})).in(index({2}, {2, 0}));
  REQUIRE(scatter.value().to_ints() == Ints{8, 1, 7, 9, 10, 5});
  REQUIRE(Case("CenterCropPad").in(x).in(index({2}, {1, 4})).value().to_ints() == Ints{0, 1, 2, 0});
  Case product = Case("CumProd").set("exclusive", num(1)).set("reverse", num(1));
  REQUIRE(product.in(row({1, 2, 3})).in(scalar(0)).value().to_ints() == Ints{6, 3, 1});
}

TEST_CASE("BitCast keeps bits") {
  Case c = Case("BitCast").set("to", ir::Attr(ElementType::I32)).in(row({1, -0.0}));
  REQUIRE(c.value().to_ints() == Ints{0x3f800000, INT32_MIN});
  Case narrow =
      Case("BitCast").set("to", ir::Attr(ElementType::I4)).in(Tensor::of(ElementType::U4, {2}, Ints{15, 7}));
  REQUIRE(narrow.value().to_ints() == Ints{-1, 7});
}

TEST_CASE("Compress, NonZero and Unique have as many results as they find") {
  Tensor x = iota(ElementType::F32, {2, 3}), yes = Tensor::of(ElementType::Bool, {2}, Ints{0, 1});
  REQUIRE(Case("Compress").in(x).in(yes).value().to_ints() == Ints{1});
  REQUIRE(Case("Compress").set("axis", num(1)).in(x).in(yes).value().to_ints() == Ints{1, 4});
  REQUIRE(Case("NonZero").in(x).value().shape() == Shape{2, 5});
  Case u = Case("Unique").outputs(4).in(row({2, 1, 1, NAN, 3, NAN}));
  REQUIRE(u.value(1).to_ints() == Ints{1, 0, 4, 3});
  REQUIRE(u.value(2).to_ints() == Ints{1, 0, 0, 3, 2, 3});
  REQUIRE(u.value(3).to_ints() == Ints{2, 1, 1, 2});
  REQUIRE(u.set("sorted", num(0)).value(1).to_ints() == Ints{0, 1, 3, 4});
}

TEST_CASE("NonMaxSuppression prefers earlier boxes among equals") {
  Tensor boxes = floats({1, 3, 4}, {0, 0, 1, 1, 0, 0, 1, 1, 0, 2, 1, 3}),
         scores = floats({1, 1, 3}, {0.5, 0.5, 0.9});
  Case c = Case("NonMaxSuppression").in(boxes).in(scores).in(index({1}, {3})).in(row({0.5}));
  REQUIRE(c.value().to_ints() == Ints{0, 0, 2, 0, 0, 0});
  REQUIRE(c.in(row({0.6})).value().to_ints() == Ints{0, 0, 2});
}

TEST_CASE("the result of many boxes is left open") {
  Tensor boxes({ElementType::F32, {1, 5000, 4}}), scores({ElementType::F32, {1, 1, 5000}});
  auto types = Case("NonMaxSuppression").in(boxes).in(scores).in(index({1}, {5000})).infer();
  REQUIRE(types.ok());
  REQUIRE((*types)[0].is_dynamic(0));
  REQUIRE((*types)[0].shape == Shape{5000, 3});
}

TEST_CASE("TfIdfVectorizer weighs n-grams") {
  Case c = Case("TfIdfVectorizer")
               .set("mode", text("TFIDF"))
               .set("min_gram_length", num(1))
               .set("max_gram_length", num(2));
  c.set("max_skip_count", num(1)).set("ngram_counts", list({0, 1})).set("ngram_indexes", list({0, 1}));
  c.set("pool_int64s", list({5, 5, 6})).set("weights", ir::Attr(std::vector<float>{1, 2}));
  REQUIRE(Case(c).in(index({4}, {5, 6, 6, 5})).value().to_ints() == Ints{2, 4});
  c.set("ngram_counts", list({std::numeric_limits<int64_t>::max(), -3}));
  REQUIRE(c.in(index({4}, {5, 6, 6, 5})).refusal() == "MRV0204");
}

TEST_CASE("Resize with antialias averages all that an element of the result covers") {
  Case c = Case("Resize").set("mode", text("linear")).set("antialias", num(1));
  c.in(row({0, 0, 8, 8})).absent().in(row({0.5}));
  REQUIRE(greatest_error(c.value(), {1, 7}) < 1e-6);
}

}  // namespace mrvlc::ops::test

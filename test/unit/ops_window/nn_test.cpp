// Losses, normalisations, pools and optimisers.
#include <catch2/catch.hpp>
#include <cmath>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

Tensor some(Shape shape, uint64_t seed, ElementType elem = ElementType::F32) {
  return random_tensor(elem, std::move(shape), seed);
}

Tensor labels(Shape shape, std::vector<int64_t> values) {
  return Tensor::of(ElementType::I64, std::move(shape), values);
}

Tensor scalar(ElementType elem, double value) {
  return Tensor::of(elem, {}, std::vector<double>{value});
}

// Two positions of three classes, the second ignored.
Case loss(std::string reduction) {
  return Case("NegativeLogLikelihoodLoss")
      .set("reduction", text(std::move(reduction)))
      .set("ignore_index", num(7))
      .unknown(floats({2, 3}, {1, 2, 3, 4, 5, 6}))
      .unknown(labels({2}, {2, 7}));
}

}  // namespace

TEST_CASE("losses reduce over what is not ignored") {
  CHECK(greatest_error(loss("none").value(), {-3, 0}) < 1e-6);
  CHECK(greatest_error(loss("sum").value(), {-3}) < 1e-6);
  CHECK(greatest_error(loss("mean").value(), {-3}) < 1e-6);
  CHECK(greatest_error(loss("sum").unknown(floats({3}, {1, 1, 4})).value(), {-12}) < 1e-6);
  CHECK(greatest_error(loss("mean").unknown(floats({3}, {1, 1, 4})).value(), {-3}) < 1e-6);
  Case sce = Case("SoftmaxCrossEntropyLoss").outputs(2).unknown(floats({1, 2, 1}, {0, std::log(3.0)}));
  sce.unknown(labels({1, 1}, {0}));
  CHECK(greatest_error(sce.value(0), {std::log(4.0)}) < 1e-6);
  CHECK(greatest_error(sce.value(1), {-std::log(4.0), std::log(0.75)}) < 1e-6);
}

TEST_CASE("labels") {
  CHECK(loss("median").refusal() == "MRV0204");
  CHECK(loss("sum").unknown(floats({2}, {1, 1})).refusal() == "MRV0205");
  Case c = Case("NegativeLogLikelihoodLoss").unknown(floats({1, 3}, {1, 2, 3}));
  CHECK_FALSE(Case(c).unknown(labels({1}, {3})).eval().ok());
  CHECK(Case(c).unknown(labels({2}, {1, 1})).refusal() == "MRV0205");
}

TEST_CASE("losses in C") {
  std::vector<Case> cases;
  for (const char* reduction : {"none", "sum", "mean"}) {
    for (bool weights : {false, true}) {
      Case nll =
          Case("NegativeLogLikelihoodLoss").set("reduction", text(reduction)).set("ignore_index", num(-5));
      nll.unknown(some({2, 3, 4}, 1)).unknown(labels({2, 4}, {0, 1, 2, -5, -5, 2, 1, 0}));
      Case sce = Case("SoftmaxCrossEntropyLoss").set("reduction", text(reduction)).outputs(weights ? 2 : 1);
      sce.unknown(some({2, 3, 4}, 2, ElementType::F64)).unknown(labels({2, 4}, {0, 1, 2, 1, 1, 2, 1, 0}));
      cases.push_back(weights ? nll.unknown(floats({3}, {1, 2, 3})) : nll);
      cases.push_back(weights ? sce.unknown(some({3}, 5, ElementType::F64)) : sce);
    }
  }
  check_generated_code(cases);
}

TEST_CASE("normalisations by hand") {
  Case group = Case("GroupNormalization").set("num_groups", num(1)).set("epsilon", 0.0f);
  group.unknown(floats({1, 2, 2}, {1, 1, 3, 3})).in(floats({2}, {2, 1})).in(floats({2}, {0, 5}));
  CHECK(greatest_error(group.value(), {-2, -2, 6, 6}) < 1e-6);
  Case rms =
      Case("RMSNormalization").set("epsilon", 0.0f).unknown(floats({1, 2}, {3, 3})).in(floats({2}, {1, 2}));
  CHECK(greatest_error(rms.value(), {1, 2}) < 1e-6);
  Case mvn = Case("MeanVarianceNormalization").set("axes", list({0})).unknown(floats({2, 2}, {1, 5, 3, 9}));
  CHECK(greatest_error(mvn.value(), {-1, -1, 1, 1}) < 1e-6);
}

TEST_CASE("normalisations in C") {
  std::vector<Case> cases;
  for (ElementType elem : {ElementType::F32, ElementType::F64}) {
    for (int64_t scales : {3, 6}) {  // one a group, or one a channel
      Case group = Case("GroupNormalization").set("num_groups", num(3)).unknown(some({2, 6, 5, 4}, 1, elem));
      cases.push_back(group.in(some({scales}, 2, elem)).unknown(some({scales}, 3, elem)));
    }
    for (Shape scale : {Shape{4, 5}, Shape{5}, Shape{4, 1}, Shape{}}) {
      Case rms = Case("RMSNormalization").set("axis", num(1)).unknown(some({3, 4, 5}, 1, elem));
      cases.push_back(rms.in(some(scale, 2, elem)));
    }
    for (std::vector<int64_t> axes : {std::vector<int64_t>{0, 2, 3}, {1}, {-1, 0}, {0, 1, 2, 3}}) {
      cases.push_back(
          Case("MeanVarianceNormalization").set("axes", list(axes)).unknown(some({2, 3, 4, 40}, 1, elem)));
    }
  }
  check_generated_code(cases);
}

TEST_CASE("LpPool is the norm of a window") {
  Case c = Case("LpPool").set("kernel_shape", list({2})).unknown(floats({1, 1, 3}, {3, -4, 0}));
  CHECK(greatest_error(c.value(), {5, 4}) < 1e-6);
  CHECK(greatest_error(Case(c).set("p", num(1)).value(), {7, 4}) < 1e-6);
  CHECK(Case(c).set("p", num(0)).refusal() == "MRV0204");
  std::vector<Case> cases;
  for (int64_t p : {1, 2, 3}) {
    Case pool =
        Case("LpPool").set("p", num(p)).set("kernel_shape", list({3, 2})).set("strides", list({2, 1}));
    cases.push_back(pool.set("pads", list({1, 0, 1, 1})).unknown(some({2, 3, 7, 6}, 1)));
    Case wide = Case("LpPool").set("p", num(p)).set("kernel_shape", list({9})).unknown(some({1, 2, 20}, 1));
    cases.push_back(wide.set("ceil_mode", num(1)).set("strides", list({2})));
    cases.push_back(Case("GlobalLpPool").set("p", num(p)).unknown(some({2, 3, 5, 7}, 1, ElementType::F64)));
  }
  check_generated_code(cases);
}

TEST_CASE("MaxUnpool puts elements back") {
  Case c = Case("MaxUnpool").set("kernel_shape", list({2})).set("strides", list({2}));
  c.unknown(floats({1, 1, 2}, {5, 6})).unknown(labels({1, 1, 2}, {1, 2}));
  CHECK(greatest_error(c.value(), {0, 5, 6, 0}) < 1e-6);
  CHECK(greatest_error(Case(c).in(ints({1, 1, 5})).value(), {0, 5, 6, 0, 0}) < 1e-6);
  CHECK(Case(c).in(ints({1, 1, 3})).refusal() == "MRV0205");
  CHECK(Case(c).unknown(ints({1, 1, 5})).refusal().empty());
  Case flat = Case("MaxUnpool").set("kernel_shape", list({2, 2})).set("strides", list({2, 2}));
  flat.unknown(some({1, 2, 1, 2}, 1)).unknown(labels({1, 2, 1, 2}, {1, 6, 8, 15}));
  check_generated_code({c, Case(c).in(ints({1, 1, 5})), flat, Case(flat).in(ints({1, 2, 3, 4}))});
}

TEST_CASE("MaxRoiPool takes maxima of bins") {
  Case c = Case("MaxRoiPool")
               .set("pooled_shape", list({1, 2}))
               .unknown(floats({1, 1, 2, 4}, {1, 2, 3, 4, 8, 7, 6, 5}));
  c.unknown(floats({2, 5}, {0, 0, 0, 2, 1, 0, 9, 9, 9, 9}));
  CHECK(greatest_error(c.value(), {8, 7, 0, 0}) < 1e-6);
  Case scaled = Case("MaxRoiPool").set("pooled_shape", list({3, 2})).set("spatial_scale", 0.5f);
  scaled.unknown(some({2, 3, 6, 7}, 1)).unknown(floats({2, 5}, {1, 1, 2, 9, 11, 0, -5, 0, 3.4, 40}));
  check_generated_code({c, scaled});
}

TEST_CASE("optimisers take one step") {
  auto step = [](std::string_view name, double t) {
    return Case(name, "ai.onnx.preview.training")
        .unknown(scalar(ElementType::F32, 0.5))
        .unknown(scalar(ElementType::I64, t));
  };
  Case adagrad = step("Adagrad", 2).set("decay_factor", 0.5f).set("epsilon", 0.0f).outputs(2);
  adagrad.unknown(floats({1}, {1})).unknown(floats({1}, {3})).unknown(floats({1}, {16}));
  CHECK(greatest_error(adagrad.value(0), {1 - 0.25 * 3 / 5}) < 1e-6);
  CHECK(greatest_error(adagrad.value(1), {25}) < 1e-6);
  auto momentum = [&](std::string mode, double t) {
    Case c =
        step("Momentum", t).set("alpha", 0.5f).set("beta", 2.0f).set("norm_coefficient", 1.0f).outputs(2);
    c.set("mode", text(std::move(mode)));
    return c.unknown(floats({1}, {1})).unknown(floats({1}, {3})).unknown(floats({1}, {6}));
  };
  CHECK(greatest_error(momentum("standard", 0).value(0), {1 - 0.5 * 7}) < 1e-6);
  CHECK(greatest_error(momentum("standard", 1).value(1), {11}) < 1e-6);
  CHECK(greatest_error(momentum("nesterov", 1).value(0), {1 - 0.5 * (4 + 5.5)}) < 1e-6);
  CHECK(momentum("other", 1).refusal() == "MRV0204");
  CHECK(momentum("standard", 1).unknown(floats({1}, {6})).refusal() == "MRV0208");
  std::vector<Case> cases{adagrad, momentum("standard", 0), momentum("nesterov", 3)};
  for (double t : {0, 4}) {
    Case adam = step("Adam", t).set("norm_coefficient", 0.1f).set("norm_coefficient_post", 0.2f).outputs(6);
    for (uint64_t k = 0; k < 8; ++k) {  // the last are means of squares
      Tensor x = k < 6 ? some({k % 2 == 0 ? 3 : 5}, k) : floats({k % 2 == 0 ? 3 : 5}, {});
      adam.unknown(x);
    }
    cases.push_back(adam);
  }
  check_generated_code(cases);
}

TEST_CASE("QLinearConv and QLinearMatMul round to even and saturate") {
  auto bytes = [](ElementType elem, Shape shape, std::vector<int64_t> v) {
    return Tensor::of(elem, std::move(shape), v);
  };
  Case c = Case("QLinearMatMul").in(bytes(ElementType::U8, {1, 2}, {3, 4})).in(floats({}, {0.5}));
  c.in(bytes(ElementType::U8, {}, {1})).in(bytes(ElementType::I8, {2, 3}, {1, 100, 0, 1, 100, -100}));
  c.in(floats({3}, {1, 1, 2}))
      .in(bytes(ElementType::I8, {}, {0}))
      .in(floats({}, {1}))
      .in(bytes(ElementType::U8, {}, {10}));
  // Sums 5, 500 and -300, halved, halved, and as they are.
  CHECK(c.value().to_ints() == std::vector<int64_t>{12, 255, 0});
  Case conv = Case("QLinearConv")
                  .set("pads", list({1, 1, 1, 1}))
                  .unknown(random_tensor(ElementType::U8, {2, 4, 5, 6}, 1));
  conv.in(floats({}, {0.02}))
      .in(bytes(ElementType::U8, {}, {100}))
      .in(random_tensor(ElementType::I8, {6, 4, 3, 3}, 2));
  conv.in(floats({6}, {0.1, 0.2, 0.3, 0.1, 0.02, 0.01})).in(bytes(ElementType::I8, {6}, {0, 1, -3, 4, 5, 6}));
  conv.in(floats({}, {0.5})).in(bytes(ElementType::I8, {}, {-7}));
  Case many =
      Case("QLinearMatMul").unknown(random_tensor(ElementType::I8, {3, 1, 4, 5}, 3)).in(floats({}, {0.1}));
  many.in(bytes(ElementType::I8, {}, {3}))
      .unknown(random_tensor(ElementType::U8, {2, 5, 2}, 4))
      .in(floats({}, {0.2}));
  many.in(bytes(ElementType::U8, {}, {9}))
      .in(floats({4}, {0.5, 1, 2, 3}))
      .in(bytes(ElementType::I8, {}, {1}));
  check_generated_code(
      {c, conv,
       Case(conv).in(Tensor::of(ElementType::I32, {6}, std::vector<int64_t>{1, -900, 5, 7, 1000, 3})), many});
  CHECK(Case(many).in(ints({1})).refusal() == "MRV0201");
}

TEST_CASE("QLinearMatMul of float8 rounds the scaled sum once") {
  auto codes = [](ElementType elem, Shape shape, std::vector<double> v) {
    return Tensor::of(elem, std::move(shape), v);
  };
  auto product = [&](ElementType elem, const Tensor& a, const Tensor& b, double scale) {
    const Tensor zero = codes(elem, {}, {0});
    Case c = Case("QLinearMatMul").unknown(a).in(floats({}, {scale})).in(codes(a.elem(), {}, {0})).unknown(b);
    return c.in(floats({}, {1})).in(codes(b.elem(), {}, {0})).in(floats({}, {1})).in(zero);
  };
  const auto e4 = ElementType::F8E4M3FN, e5 = ElementType::F8E5M2;
  Case c = product(e4, codes(e4, {2, 2}, {1, 2, -448, 0.5}), codes(e4, {2, 1}, {3, 0.25}), 0.5);
  CHECK(c.value().to_doubles() == std::vector<double>{1.75, -448});  // -671.9 saturates
  std::vector<Case> cases{c};
  for (ElementType elem : {e4, ElementType::F8E4M3FNUZ, e5, ElementType::F8E5M2FNUZ, ElementType::I8}) {
    Tensor a(TensorType{e4, {2, 5, 9}}), b(TensorType{e5, {9, 4}});
    for (int64_t i = 0; i < a.elements(); ++i) a.set_double(i, static_cast<double>(i % 17 - 8) / 4);
    for (int64_t i = 0; i < b.elements(); ++i) b.set_double(i, static_cast<double>(i % 11 - 5));
    cases.push_back(product(elem, a, b, 0.25));
  }
  check_generated_code(cases);
  CHECK(product(ElementType::F8E8M0, codes(e4, {1, 1}, {1}), codes(e4, {1, 1}, {1}), 1).refusal() ==
        "MRV0202");
}

}  // namespace mrvlc::ops::test

#include <catch2/catch.hpp>
#include <cmath>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

using Doubles = std::vector<double>;

Case pool(std::string_view name, std::vector<int64_t> kernel) {
  return Case(name).set("kernel_shape", list(std::move(kernel)));
}

// Two-dimensional pooling written out, with the padding rules of ONNX AveragePool-19.
Doubles naive_pool(const Tensor& x, const Shape& out, int64_t k, int64_t s, int64_t d, int64_t begin,
                   int64_t end, bool max, bool include_pad) {
  int64_t h = x.shape()[2], w = x.shape()[3];
  Doubles y;
  for (int64_t i = 0; i < element_count(out); ++i) {
    int64_t plane = i / (out[2] * out[3]), oy = i / out[3] % out[2], ox = i % out[3], count = 0;
    double best = -INFINITY, sum = 0;
    for (int64_t t = 0; t < k * k; ++t) {
      int64_t iy = oy * s + t / k * d - begin, ix = ox * s + t % k * d - begin;
      bool inside = iy >= 0 && iy < h && ix >= 0 && ix < w;
      bool padded = iy >= -begin && iy < h + end && ix >= -begin && ix < w + end;
      count += include_pad ? padded : inside;
      if (!inside) continue;
      double v = x.as_double((plane * h + iy) * w + ix);
      best = std::max(best, v);
      sum += v;
    }
    y.push_back(max ? best : sum / static_cast<double>(count));
  }
  return y;
}

}  // namespace

TEST_CASE("the index of a maximum is that of the first of equal ones") {
  Case c = pool("MaxPool", {2, 2}).in(floats({1, 1, 3, 3}, {5, 5, 1, 5, 5, 7, 0, 7, 7})).outputs(2);
  REQUIRE(c.value(0).to_doubles() == Doubles{5, 7, 7, 7});
  REQUIRE(c.value(1).to_doubles() == Doubles{0, 5, 7, 5});
  check_generated_code({c});
}

TEST_CASE("pools agree with their definition for random windows, and so does the generated code") {
  std::mt19937 engine(3);
  std::vector<Case> cases;
  for (int i = 0; i < 80; ++i) {
    auto pick = [&](int64_t low, int64_t high) {
      return low + static_cast<int64_t>(engine() % static_cast<uint32_t>(high - low + 1));
    };
    bool max = i % 2 == 0;
    int64_t k = i % 10 == 9 ? 10 : pick(1, 4), d = pick(1, 2), extent = (k - 1) * d + 1, s = pick(1, 3);
    int64_t begin = pick(0, k - 1), end = pick(0, k - 1);
    Tensor x = random_tensor(ElementType::F32, {2, 3, pick(extent, extent + 9), pick(extent, extent + 20)},
                             engine());
    Case c = pool(max ? "MaxPool" : "AveragePool", {k, k}).in(x);
    c.set("strides", list({s, s})).set("dilations", list({d, d})).set("pads", list({begin, begin, end, end}));
    c.set("ceil_mode", num(pick(0, 1)));
    bool include = !max && pick(0, 1) == 1;
    if (include) c.set("count_include_pad", num(1));
    Tensor y = c.value();
    REQUIRE(greatest_error(y, naive_pool(x, y.shape(), k, s, d, begin, end, max, include)) < 1e-6);
    cases.push_back(std::move(c));
  }
  check_generated_code(cases);
}

// Windows of more than 64 elements are reduced over rows first, then along the row.
TEST_CASE("generated code of pools with large windows equals the reference") {
  std::mt19937 engine(9);
  const auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine() % static_cast<uint32_t>(high - low + 1));
  };
  std::vector<Case> cases;
  for (int i = 0; i < 60; ++i) {
    const bool max = i % 2 == 0, cube = i % 10 >= 8;
    constexpr ElementType kTypes[] = {ElementType::F32, ElementType::F64, ElementType::F32, ElementType::I8,
                                      ElementType::U8};
    const ElementType elem = max ? kTypes[i / 2 % 5] : kTypes[i / 2 % 2];
    Shape shape{2, 2};
    std::vector<int64_t> kernel, strides, dilations, pads;
    for (int d = cube ? 0 : 1; d < 3; ++d) {
      kernel.push_back(cube ? pick(5, 6) : pick(9, 13));
      strides.push_back(pick(0, 3) == 0 ? 2 : 1);
      dilations.push_back(pick(0, 3) == 0 ? 2 : 1);
      shape.push_back((kernel.back() - 1) * dilations.back() + pick(1, 9));
    }
    for (int side = 0; side < 2; ++side)
      for (int64_t k : kernel) pads.push_back(pick(0, 1) * pick(0, k - 1));
    Tensor x = random_tensor(elem, shape, engine());
    constexpr double kSpecial[] = {NAN, INFINITY, -INFINITY, -0.0};
    for (int64_t k = 0; is_float(elem) && max && k < x.elements(); k += pick(1, 60))
      x.set_double(k, i % 4 == 0 ? -INFINITY : kSpecial[pick(0, 3)]);
    Case c = pool(max ? "MaxPool" : "AveragePool", kernel).unknown(x);
    c.set("strides", list(strides)).set("dilations", list(dilations)).set("pads", list(pads));
    c.set("ceil_mode", num(pick(0, 1)));
    if (!max) c.set("count_include_pad", num(pick(0, 1)));
    cases.push_back(c);
  }
  check_generated_code(cases);
}

TEST_CASE("ceil_mode adds the last window unless it begins in the padding") {
  Tensor x = iota(ElementType::F32, {1, 1, 4});
  auto run = [&](std::vector<int64_t> pads) {
    return pool("MaxPool", {2})
        .set("strides", list({3}))
        .set("ceil_mode", num(1))
        .set("pads", list(pads))
        .in(x)
        .value()
        .to_doubles();
  };
  REQUIRE(run({0, 0}) == Doubles{1, 3});
  Tensor three = iota(ElementType::F32, {1, 1, 3});
  Case c = pool("MaxPool", {2})
               .set("strides", list({3}))
               .set("ceil_mode", num(1))
               .set("pads", list({0, 1}))
               .in(three);
  REQUIRE(c.value().to_doubles() == Doubles{1});
}

TEST_CASE("pools of one and three dimensions and integers in generated code") {
  std::vector<Case> cases;
  cases.push_back(
      pool("MaxPool", {3}).set("pads", list({1, 1})).in(random_tensor(ElementType::F32, {2, 2, 9}, 1)));
  cases.push_back(pool("AveragePool", {2, 3, 2})
                      .set("pads", list({1, 1, 0, 1, 1, 0}))
                      .in(random_tensor(ElementType::F32, {1, 2, 4, 5, 6}, 2)));
  cases.push_back(pool("MaxPool", {2, 2})
                      .set("strides", list({2, 2}))
                      .in(random_tensor(ElementType::I8, {1, 3, 6, 7}, 3)));
  cases.push_back(pool("MaxPool", {2, 2})
                      .set("pads", list({1, 1, 1, 1}))
                      .in(random_tensor(ElementType::U8, {1, 3, 6, 7}, 4)));
  cases.push_back(pool("AveragePool", {2, 2}).in(random_tensor(ElementType::F64, {1, 1, 6, 7}, 5)));
  for (int64_t n : {1, 5, 16, 37}) {
    cases.push_back(Case("GlobalAveragePool").in(random_tensor(ElementType::F32, {2, 3, n, 2}, 6)));
    cases.push_back(Case("GlobalMaxPool").in(random_tensor(ElementType::F32, {2, 3, n}, 7)));
  }
  check_generated_code(cases);
}

TEST_CASE("averages over long dimensions compute their divisors") {
  std::vector<Case> cases;
  for (bool include : {false, true}) {
    for (int64_t pad : {0, 2}) {
      Case c = pool("AveragePool", {4}).in(random_tensor(ElementType::F32, {1, 2, 9001}, 11));
      cases.push_back(c.set("pads", list({pad, pad})).set("strides", list({2})).set("dilations", list({3})));
      if (include) cases.back().set("count_include_pad", num(1)).set("ceil_mode", num(1));
    }
  }
  cases.push_back(pool("AveragePool", {3, 2})
                      .set("pads", list({1, 1, 1, 0}))
                      .in(random_tensor(ElementType::F64, {1, 1, 5000, 3}, 12)));
  check_generated_code(cases);
}

TEST_CASE("MaxPool gives the positions of the maxima, row or column major") {
  Tensor x = floats({1, 2, 2, 3}, {1, 5, 2, 7, 0, 3, 9, 1, 1, 1, 1, 8});
  auto where = [&](int64_t order) {
    return pool("MaxPool", {2, 2}).set("storage_order", num(order)).outputs(2).in(x).value(1).to_ints();
  };
  REQUIRE(where(0) == std::vector<int64_t>{3, 1, 6, 11});
  REQUIRE(where(1) == std::vector<int64_t>{1, 2, 6, 11});
  std::vector<Case> cases;
  for (int64_t order : {0, 1}) {
    Case c =
        pool("MaxPool", {3, 2}).set("storage_order", num(order)).set("pads", list({1, 0, 1, 1})).outputs(2);
    cases.push_back(c.in(random_tensor(ElementType::F32, {2, 3, 5, 6}, 8)));
  }
  cases.push_back(pool("MaxPool", {2, 2, 2})
                      .set("storage_order", num(1))
                      .outputs(2)
                      .in(random_tensor(ElementType::F32, {1, 2, 3, 4, 5}, 9)));
  check_generated_code(cases);
}

TEST_CASE("averages of global pools are exact for exact data") {
  REQUIRE(Case("GlobalAveragePool").in(iota(ElementType::F32, {1, 2, 2, 2})).value().to_doubles() ==
          Doubles{1.5, 5.5});
  REQUIRE(Case("GlobalMaxPool").in(iota(ElementType::F32, {1, 2, 2, 2})).value().to_doubles() ==
          Doubles{3, 7});
}

}  // namespace mrvlc::ops::test

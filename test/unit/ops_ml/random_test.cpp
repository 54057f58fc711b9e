// The generator of docs/random.md, and what operators make of it.
#include "mrvlc/ops/random.h"

#include <cmath>

#include "evaluate.h"

namespace mrvlc::test {
namespace {

AttrList shaped(Ints shape, AttrList more = {}) {
  more.emplace_back("shape", std::move(shape));
  return more;
}

struct Moments {
  double mean = 0, deviation = 0;
};

Moments moments(const Tensor& t) {
  double sum = 0, squares = 0;
  for (double v : t.to_doubles()) {
    sum += v;
    squares += v * v;
  }
  auto n = static_cast<double>(t.elements());
  return {sum / n, std::sqrt(squares / n - sum / n * (sum / n))};
}

}  // namespace

// The words of counter and key 0 are those of the authors' known answers: 6627e8d5 e169c58d bc57ac4c
// 9b00dbd8.
TEST_CASE("uniform numbers are the upper 24 bits of Philox' words") {
  Tensor u = results_of("", "RandomUniform", {}, shaped({4}, {{"seed", 0.0F}}))[0];
  const uint32_t words[] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
  for (int64_t i = 0; i < 4; ++i) CHECK(u.as_double(i) == static_cast<double>(words[i] >> 8) * 0x1p-24);
  Tensor wide = results_of("", "RandomUniform", {}, shaped({1}, {{"seed", 0.0F}, {"dtype", E::F64}}))[0];
  CHECK(wide.as_double(0) == (static_cast<double>(words[0] >> 5) * 0x1p26 + (words[1] >> 6)) * 0x1p-53);
}

TEST_CASE("same seed, same numbers; without a seed the node's number counts") {
  auto draw = [](const AttrList& attrs) { return results_of("", "RandomNormal", {}, shaped({9}, attrs))[0]; };
  CHECK(draw({{"seed", 7.0F}}) == draw({{"seed", 7.0F}, {"stream", int64_t{3}}}));
  CHECK_FALSE(draw({{"seed", 7.0F}}) == draw({{"seed", 8.0F}}));
  CHECK_FALSE(draw({{"stream", int64_t{1}}}) == draw({{"stream", int64_t{2}}}));
  CHECK(draw({{"stream", int64_t{1}}}) == draw({{"stream", int64_t{1}}}));
}

TEST_CASE("distributions have their moments") {
  Moments u =
      moments(results_of("", "RandomUniform", {}, shaped({20000}, {{"low", 2.0F}, {"high", 4.0F}}))[0]);
  CHECK(u.mean == Approx(3).margin(0.02));
  CHECK(u.deviation == Approx(2 / std::sqrt(12.0)).margin(0.01));
  Moments n =
      moments(results_of("", "RandomNormal", {}, shaped({20001}, {{"mean", 5.0F}, {"scale", 2.0F}}))[0]);
  CHECK(n.mean == Approx(5).margin(0.06));
  CHECK(n.deviation == Approx(2).margin(0.04));
  Tensor p(TensorType{E::F32, {20000}});
  for (int64_t i = 0; i < p.elements(); ++i) p.set_double(i, 0.25);
  CHECK(moments(results_of("", "Bernoulli", {p})[0]).mean == Approx(0.25).margin(0.01));
}

TEST_CASE("Multinomial draws by probability, the impossible never") {
  AttrList attrs{{"sample_size", int64_t{9000}}, {"dtype", E::I64}};
  Tensor y =
      results_of("", "Multinomial", {f32({2, 3}, {0, -INFINITY, std::log(2.0), 5, 5, -INFINITY})}, attrs)[0];
  double counts[2][3] = {};
  for (int64_t i = 0; i < y.elements(); ++i) counts[i / 9000][y.as_int(i)] += 1.0 / 9000;
  CHECK(counts[0][1] == 0);
  CHECK(counts[0][2] == Approx(2.0 / 3).margin(0.02));
  CHECK(counts[1][0] == Approx(0.5).margin(0.02));
  CHECK(counts[1][2] == 0);
}

TEST_CASE("Dropout in training keeps and scales") {
  Tensor x(TensorType{E::F32, {8000}});
  for (int64_t i = 0; i < x.elements(); ++i) x.set_double(i, 1);
  Tensor yes = Tensor::of(E::Bool, {}, Ints{1}), no = Tensor::of(E::Bool, {}, Ints{0});
  auto y = results_of("", "Dropout", {x, f32({}, {0.75}), yes}, {}, 2);
  int64_t kept = 0;
  for (int64_t i = 0; i < x.elements(); ++i) {
    kept += y[1].as_int(i);
    REQUIRE(y[0].as_double(i) == (y[1].as_int(i) != 0 ? 4 : 0));
  }
  CHECK(static_cast<double>(kept) / 8000 == Approx(0.25).margin(0.02));
  CHECK(results_of("", "Dropout", {x, f32({}, {0.75}), no})[0] == x);
  CHECK(results_of("", "Dropout", {x, f32({}, {0.0}), yes})[0] == x);
}

}  // namespace mrvlc::test

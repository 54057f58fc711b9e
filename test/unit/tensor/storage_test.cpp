// Rounding weights to half with the error carried along each output channel, against the plain loop; what the
// format loses, by hand.
#include "mrvlc/tensor/storage.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "mrvlc/tensor/float16.h"

namespace mrvlc {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor floats(Shape shape, const std::vector<float>& values) {
  Tensor t(TensorType{ElementType::F32, std::move(shape)});
  std::copy(values.begin(), values.end(), t.mutable_data<float>().begin());
  return t;
}

std::vector<float> mixed(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> w(n);
  for (float& x : w) {
    uint32_t kind = random() % 64;
    float sign = random() % 2 != 0 ? 1.0f : -1.0f;
    auto unit = static_cast<float>(random() % 10'000'019) / 10'000'019;
    x = sign * (kind < 4 ? 0.0f : kind < 10 ? unit * 1e-6f : kind < 12 ? unit * 0x1p-14f : unit);
    if (random() % 5003 == 0) x = sign * 65'504.0f * (1 + unit);
    if (random() % 50'021 == 0) x = sign * kInf;
    if (random() % 50'021 == 0) x = std::numeric_limits<float>::quiet_NaN();
  }
  return w;
}

// The weights of one channel after the other, in memory order.
std::vector<uint16_t> plain(const std::vector<float>& w, const WeightLayout& l, float alpha,
                            const std::vector<float>& factors) {
  std::vector<uint16_t> halves(w.size());
  std::vector<float> carry(static_cast<size_t>(l.groups * l.channels));
  for (size_t i = 0; i < w.size(); ++i) {
    auto c = static_cast<size_t>(l.channel(static_cast<int64_t>(i)));
    float x = w[i] * alpha * (factors.empty() ? 1.0f : factors[c]);
    uint16_t half = float_to_half(x + carry[c]);
    bool finite = std::isfinite(half_to_float(half));
    if (x == 0 || !finite || !l.one_sum) half = float_to_half(x);
    if (x != 0) carry[c] = finite && l.one_sum ? x + carry[c] - half_to_float(half) : 0;
    halves[i] = half;
  }
  return halves;
}

}  // namespace

TEST_CASE("weights are rounded as by the plain loop, whatever their number") {
  const WeightLayout layouts[] = {{1, 1, 1, 1},        {1, 1, 7, 65},       {1, 1, 8, 64},
                                  {1, 1, 67, 577},     {1, 129, 19, 1},     {1, 257, 131, 1},
                                  {3, 5, 7, 9, false}, {1, 6, 5, 4, false}, {1, 1, 5, 4, false}};
  for (const WeightLayout& l : layouts) {
    auto count = static_cast<size_t>(l.groups * l.outer * l.channels * l.inner);
    std::vector<float> w = mixed(count, static_cast<uint32_t>(count));
    std::vector<float> factors = mixed(static_cast<size_t>(l.groups * l.channels), 5);
    Tensor t = floats({static_cast<int64_t>(count)}, w);
    INFO(l.groups << " " << l.outer << " " << l.channels << " " << l.inner);
    CHECK(round_weights({t, l, 1, {}}) == plain(w, l, 1, {}));
    CHECK(round_weights({t, l, 0.3f, factors}) == plain(w, l, 0.3f, factors));
  }
}

TEST_CASE("every half is a fixed point, every float between two of them goes to the nearer") {
  for (uint32_t h = 0; h < 0x7c00; ++h) {
    float low = half_to_float(static_cast<uint16_t>(h)), high = half_to_float(static_cast<uint16_t>(h + 1));
    if (h + 1 == 0x7c00) high = 65'536;
    float middle = low + (high - low) / 2;
    std::vector<float> w = {low, std::nextafter(middle, 0.0f), middle, std::nextafter(middle, 1e6f), -middle};
    WeightLayout apart{1, 1, 5, 1};
    if (round_weights({floats({5}, w), apart, 1, {}}) == plain(w, apart, 1, {})) continue;
    FAIL("around half " << h);
  }
}

TEST_CASE("rounding comes after alpha and factors") {
  // 3e-8 is less than half of the least fp16 number; 3e-8 * 1e7 is not.
  Tensor t = floats({2, 2}, {3e-8f, -2e-8f, 1e-8f, 3e-8f});
  WeightLayout matmul{1, 2, 2, 1};
  std::vector<float> factors = {10.0f, 100.0f};
  auto halves = round_weights({t, matmul, 1e6f, factors});
  CHECK(half_to_float(halves[0]) == Approx(0.3f).epsilon(1e-3));
  CHECK(half_to_float(halves[1]) == Approx(-2.0f).epsilon(1e-3));
  CHECK(half_to_float(halves[2]) == Approx(0.1f).epsilon(2e-3));
  CHECK(half_to_float(halves[3]) == Approx(3.0f).epsilon(1e-3));
}

TEST_CASE("whether weights fit is the same from their largest value as from all of them") {
  std::mt19937 random(5);
  int fit = 0, cases = 4000;
  for (int i = 0; i < cases; ++i) {
    // Around what decides: values near 65504, and whole tensors near where 2^-25 a value is much.
    const float size = std::ldexp(1.0f, static_cast<int>(random() % 48) - 30);
    auto upto = [&](uint32_t n) { return int64_t{1} + static_cast<int64_t>(random() % n); };
    WeightLayout l{upto(2), upto(3), upto(9), upto(9), true};
    auto n = static_cast<size_t>(l.groups * l.outer * l.channels * l.inner);
    std::vector<float> w = mixed(n, static_cast<uint32_t>(i)),
                       factors(static_cast<size_t>(l.groups * l.channels));
    for (float& x : w) x *= std::fabs(x) < 1e-20f || random() % 3 != 0 ? size : size * 1e-3f;
    for (float& f : factors)
      f = std::ldexp(1.0f + static_cast<float>(random() % 8) / 8, -static_cast<int>(random() % 6));
    if (random() % 2 != 0) factors.clear();
    Tensor t = floats({static_cast<int64_t>(n)}, w);
    ScaledWeights scaled{t, l, random() % 2 != 0 ? 1.0f : -0.75f, factors};
    const double share = random() % 2 != 0 ? FormatLoss::kShare : 0x1p-20;
    INFO("case " << i << ", size " << size);
    CHECK(loses_at_most(scaled, share) == format_loss(scaled).at_most(share));
    fit += loses_at_most(scaled, share) ? 1 : 0;
  }
  CHECK(fit > cases / 10);
  CHECK(fit < cases * 9 / 10);
}

TEST_CASE("what the format loses") {
  auto loss = [](const std::vector<float>& v) {
    return format_loss(floats({static_cast<int64_t>(v.size())}, v));
  };
  SECTION("nothing") {
    FormatLoss l = loss({1, -2.5f, 0.1f, 65504, 0, 0x1p-14f, 0x1p-24f});
    CHECK(l.values == 6);
    CHECK(l.over == 0);
    CHECK(l.under == 0);  // 2^-24 is held exactly
    CHECK(l.lost == 0);
    CHECK(l.fits());
  }
  SECTION("too large: 65520 is the first that rounds to infinity") {
    CHECK(loss({1, 65519}).over == 0);
    CHECK(loss({1, 65520, -1e30f}).over == 2);
    CHECK_FALSE(loss({1, 65520}).fits());
    CHECK(loss({1, kInf}).over == 0);  // it is infinite already
    CHECK(loss({1, kInf}).fits());
  }
  SECTION("too small") {
    FormatLoss l = loss({1e-9f, -1e-9f, 1e-5f});
    CHECK(l.under == 3);
    CHECK(l.norm == Approx(1e-10).epsilon(1e-3));
    CHECK_FALSE(loss({1e-9f, 2e-9f}).fits());
    CHECK(loss({1e-9f, 1}).fits());  // it does not count beside 1
    CHECK_FALSE(loss({1e-6f, 2e-6f, 3.1e-6f}).fits());
    CHECK(loss({1e-3f, 2e-3f}).fits());
    CHECK_FALSE(loss({1e-38f}).fits());
  }
  SECTION("factors of the channels") {
    Tensor t = floats({2, 2}, {1, 1e-9f, 1, 1e-9f});
    WeightLayout matmul{1, 2, 2, 1};
    std::vector<float> small = {1, 1}, large = {1, 1e9f}, beyond = {1e5f, 1};
    CHECK(format_loss({t, matmul, 1, small}).under == 2);
    CHECK(format_loss({t, matmul, 1, large}).under == 0);
    CHECK(format_loss({t, matmul, 1, beyond}).over == 2);
    CHECK(format_loss({t, matmul, 1e5f, {}}).over == 2);
  }
  SECTION("any number of values") {
    for (size_t n : {size_t{1}, size_t{7}, size_t{8}, size_t{255}, size_t{257}, size_t{1000}}) {
      std::vector<float> v(n, 0.5f);
      v.back() = 1e6f;
      FormatLoss l = loss(v);
      CHECK(l.values == static_cast<int64_t>(n));
      CHECK(l.over == 1);
      CHECK(l.norm == Approx(0.25 * static_cast<double>(n - 1)));
    }
  }
}

}  // namespace mrvlc

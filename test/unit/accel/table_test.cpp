#include <catch2/catch.hpp>
#include <cmath>

#include "lower/lowering.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::accel {
namespace {

double look_up(const std::vector<float>& table, float x) {
  size_t segment = float_to_half(x) >> 5;
  return static_cast<double>(std::fma(table[2 * segment + 1], x, table[2 * segment]));
}

TEST_CASE("tables follow their function to about the precision of fp16") {
  const std::pair<const char*, std::function<double(double)>> functions[] = {
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"gelu", [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }}};
  for (const auto& [name, f] : functions) {
    INFO(name);
    std::vector<float> table = make_table(f);
    REQUIRE(table.size() == 2 * isa::kTableSegments);
    double worst = 0;
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      float x = half_to_float(static_cast<uint16_t>(bits));
      if (!std::isfinite(x)) continue;
      double y = f(static_cast<double>(x));
      worst = std::max(worst, std::fabs(look_up(table, x) - y) / (1 + std::fabs(y)));
    }
    CHECK(worst < 1e-3);
  }
}

TEST_CASE("ends of the range: zero is exact, infinities take the limit, NaN stays") {
  std::vector<float> table = make_table([](double x) { return std::tanh(x); });
  CHECK(look_up(table, 0.0f) == 0);
  size_t inf = 0x7c00 >> 5, minus_inf = 0xfc00 >> 5, nan = 0x7e00 >> 5;
  CHECK(table[2 * inf] == 1);
  CHECK(table[2 * inf + 1] == 0);
  CHECK(table[2 * minus_inf] == -1);
  CHECK(std::isnan(table[2 * nan]));
}

}  // namespace
}  // namespace mrvlc::accel

// The C that looks whether an input lies beyond its limits: every number of fp16, and the edges of float32.
#include <catch2/catch.hpp>
#include <fstream>

#include "library.h"
#include "stub.h"

using namespace mrvlc;
using namespace mrvlc::chost;
using namespace mrvlc::chost::test;

namespace {

// The order of fp16 by its value, computed as the format defines it.
constexpr const char* kLimitsProgram = R"(
static double value(unsigned bits) {
  const int exponent = (int)(bits >> 10 & 31u), fraction = (int)(bits & 1023u);
  double v = exponent == 0 ? ldexp(fraction, -24) : exponent == 31 ? HUGE_VAL : ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000u ? -v : v;
}
static int order(unsigned bits) { return bits & 0x8000u ? -(int)(bits & 0x7fffu) : (int)bits; }
int main(void) {
  const unsigned ends[] = {0u, 1u, 0x3c00u, 0x3c01u, 0x7bffu, 0x7c00u, 0x8000u, 0x8001u, 0xbc00u, 0xfbffu};
  for (unsigned l = 0; l < 10; ++l)
    for (unsigned m = 0; m < 10; ++m)
      for (unsigned b = 0; b < 65536; ++b) {
        const uint16_t x[3] = {(uint16_t)ends[l], (uint16_t)b, (uint16_t)ends[l]};
        const int nan = (b & 0x7fffu) > 0x7c00u;
        const int expected = !nan && (value(b) < value(ends[l]) || value(b) > value(ends[m]));
        if (value(ends[l]) > value(ends[m])) continue;
        if (t_beyond_half(x, 3, order(ends[l]), order(ends[m])) != expected) return 1;
      }
  const unsigned least[] = {1u, 0x3ffu, 0x400u, 0x3c00u, 0x7bffu};
  for (unsigned l = 0; l < 5; ++l)
    for (unsigned b = 0; b < 65536; ++b)
      for (int zero = 0; zero < 2; ++zero) {
        const uint16_t x[2] = {0u, (uint16_t)b};
        const int nan = (b & 0x7fffu) > 0x7c00u, none = nan || value(b) == 0;
        const int expected = none ? !zero : fabs(value(b)) < value(least[l]);
        if (t_small_half(x, 2, order(least[l]), zero) != expected) return 5;
      }
  const float tiny[] = {1e-5f, -2e-5f, 0.0f}, zeros[] = {0.0f, -0.0f}, one[] = {NAN, 1e-6f};
  if (!t_small(tiny, 3, 1e-4f, 1) || t_small(tiny, 3, 2e-5f, 1) || t_small(tiny, 0, 1.0f, 0)) return 6;
  if (t_small(zeros, 2, 1e-4f, 1) || !t_small(zeros, 2, 1e-4f, 0) || !t_small(one, 2, 1e-4f, 1)) return 7;
  const float far[] = {0.0f, -1.0f, 2.0f}, nan[] = {NAN, 1.0f}, all[] = {-INFINITY, INFINITY};
  if (t_beyond(far, 3, -1.0f, 2.0f) || t_beyond(far, 0, 5.0f, 6.0f) || t_beyond(nan, 2, 0.0f, 1.0f)) return 2;
  if (!t_beyond(far, 3, -0.5f, 2.0f) || !t_beyond(far, 3, -1.0f, 1.5f)) return 3;
  if (!t_beyond(all, 1, -3e38f, 3e38f) || !t_beyond(all + 1, 1, -3e38f, 3e38f)) return 4;
  return 0;
}
)";

}  // namespace

TEST_CASE("elements beyond a limit and inputs that are small are found, and NaN is neither") {
  TempDir dir;
  std::ofstream(dir.path() / "limits.c")
      << "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n"
      << instantiate(Piece::input_limits, "t", {}).text()
      << instantiate(Piece::input_limits_half, "t", {}).text()
      << instantiate(Piece::input_smallest, "t", {}).text()
      << instantiate(Piece::input_smallest_half, "t", {}).text() << kLimitsProgram;
  for (const char* flags : {"-O2", "-O3 -march=native", "-O1 -fsanitize=undefined -fno-sanitize-recover"}) {
    std::string log;
    const int rc =
        shell(dir.path(),
              fmt::format("gcc -std=c99 {} {} -o limits limits.c -lm && ./limits", kStrict, flags), &log);
    INFO(flags << "\n" << log);
    CHECK(rc == 0);
  }
}

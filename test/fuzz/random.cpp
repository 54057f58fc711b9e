#include "random.h"

#include <cmath>
#include <limits>

namespace mrvlc::fuzz {

int64_t Random::integer() {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max(), kMin = std::numeric_limits<int64_t>::min();
  if (!one_in(3)) return static_cast<int64_t>(below(12)) - 4;
  return of<int64_t>({kMax,
                      kMin,
                      kMin + 1,
                      kMax - 1,
                      int64_t{1} << 62,
                      -(int64_t{1} << 62),
                      int64_t{1} << 32,
                      (int64_t{1} << 31) - 1,
                      int64_t{1} << 31,
                      -(int64_t{1} << 31),
                      int64_t{1} << 40,
                      65536,
                      65537,
                      1 << 20,
                      255,
                      256,
                      1000,
                      100000,
                      -1,
                      0,
                      64,
                      128});
}

int64_t Random::dimension() {
  if (!one_in(3)) return static_cast<int64_t>(below(6));
  if (one_in(2)) return of<int64_t>({7, 8, 16, 31, 64, 100, 1000, 4096});
  return integer();
}

double Random::real() {
  if (one_in(2)) return static_cast<double>(below(64)) / 8.0 - 4.0;
  return of<double>({0.0, -0.0, NAN, HUGE_VAL, -HUGE_VAL, 1e-45, -1e-310, 3e38, -3e38, 1e308, 1e-8, 9.3e18,
                     -9.3e18, 2147483648.0, 1.0, -1.0});
}

std::string Random::hostile_name() {
  switch (pick(16)) {
    case 0:
      return std::string("a\0b", 3);
    case 1:
      return "*/ int x; /*";
    case 2:
      return "line\nnext";
    case 3:
      return "quote\"'\\";
    case 4:
      return "\xe2\x80\xaegnirts";
    case 5:
      return std::string(one_in(8) ? 1u << 20 : 4000, 'n');
    case 6:
      return "int";
    case 7:
      return "../../../etc/passwd";
    case 8:
      return "\xff\xfe\xc0\x80";
    case 9:
      return "a.b";
    case 10:
      return "a_b";
    case 11:
      return "\?\?/";
    case 12:
      return "%s%n{}{0}";
    case 13:
      return "";
    case 14:
      return "main/0";
    default:
      return "arena";
  }
}

}  // namespace mrvlc::fuzz

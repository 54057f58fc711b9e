// Times, sizes and large numbers with units and groups.
#include "mrvlc/report/numbers.h"

#include <fmt/format.h>

#include <cmath>

namespace mrvlc::report {

std::string duration(double seconds) {
  const double size = std::abs(seconds);
  if (size >= 1) return fmt::format("{:.2f} s", seconds);
  if (size >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.1f} µs", seconds * 1e6);
}

std::string bytes_text(int64_t bytes) {
  constexpr double kUnit = 1024;
  const double size = std::abs(static_cast<double>(bytes));
  if (size < kUnit) return fmt::format("{} B", bytes);
  const double kib = static_cast<double>(bytes) / kUnit;
  return size < kUnit * kUnit ? fmt::format("{:.1f} KiB", kib) : fmt::format("{:.2f} MiB", kib / kUnit);
}

std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  const size_t digits = number < 0 ? 1 : 0;  // where they begin
  for (size_t at = text.size(); at > digits + 3;) text.insert(at -= 3, "\u202f");
  return text;
}

}  // namespace mrvlc::report

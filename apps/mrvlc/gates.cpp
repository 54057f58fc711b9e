// Limits of compile that end with exit code 5, and how sizes and shares are typed.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "compile_options.h"

namespace mrvlc::app {
namespace {

// What the letters behind a number stand for: K and KiB are 1024, KB is 1000; case does not count. 0:
// nothing.
double size_unit(std::string letters) {
  letters = CLI::detail::to_lower(letters);
  if (letters.empty() || letters == "b") return 1;
  const size_t power = std::string_view("kmgt").find(letters[0]);
  if (power == std::string_view::npos) return 0;
  const std::string behind = letters.substr(1);
  if (behind.empty() || behind == "ib") return std::pow(1024, power + 1);
  return behind == "b" ? std::pow(1000, power + 1) : 0;
}

std::string read_size(std::string& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  double number = 0;
  const double unit = size_unit(text.substr(end));
  const bool good = CLI::detail::lexical_cast(text.substr(0, end), number) && std::isfinite(number);
  if (!good || unit == 0)
    return fmt::format("'{}' is no size; sizes are written as 65536, 64K, 1.5MiB or 2MB", printable(text));
  const double bytes = std::floor(number * unit);
  if (bytes >= 0x1p62) return fmt::format("'{}' is too large", printable(text));
  // Numbers without a letter are exact up to the end of their range.
  if (end != text.size() || text.find('.') != std::string::npos)
    text = std::to_string(static_cast<int64_t>(bytes));
  return {};
}

std::string read_share(std::string& text) {
  double number = 0;
  const bool percent = text.ends_with('%');
  if (!CLI::detail::lexical_cast(percent ? text.substr(0, text.size() - 1) : text, number) ||
      !(number >= 0 && number <= 100))
    return fmt::format("'{}' is no share; shares are written as 0.9 or 90%", printable(text));
  if (!percent && number > 1)
    return fmt::format("'{0}' is more than 1; did you mean '{0}%'?", printable(text));
  if (percent) text = fmt::format("{}", number / 100);
  return {};
}

std::string read_duration(std::string& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string unit = text.substr(end);
  const double seconds = unit.empty() || unit == "s" ? 1
                         : unit == "m"               ? 60
                         : unit == "h"               ? 3600
                         : unit == "d"               ? 86400
                                                     : 0;
  double number = 0;
  if (!CLI::detail::lexical_cast(text.substr(0, end), number) || !std::isfinite(number) || seconds == 0)
    return fmt::format("'{}' is no time; times are written as 90, 90s, 10m, 12h or 30d", printable(text));
  text = fmt::format("{}", number * seconds);
  return {};
}

}  // namespace

CLI::Validator duration_check() {
  return {read_duration, ""};
}

CLI::Validator size_check() {
  return {read_size, ""};
}

CLI::Validator share_check() {
  return {read_share, ""};
}

void add_gate_options(CLI::App& cmd, driver::Gates& g) {
  cmd.add_option("--max-cycles", g.cycles, "exit with code 5 when the regions take more cycles together")
      ->type_name("N")
      ->check(CLI::Range(int64_t{0}, INT64_MAX).description(""));
  cmd.add_option(
         "--max-ms", g.milliseconds,
         "exit with code 5 when a run is expected to take more milliseconds, borders and host included")
      ->type_name("MS")
      ->check(CLI::Range(0.0, 1e12).description(""));
  cmd.add_option("--max-arena", g.arena, "exit with code 5 when the host's arena needs more bytes, e.g. 64K")
      ->type_name("SIZE")
      ->transform(size_check());
  cmd.add_option("--max-weights", g.weights,
                 "exit with code 5 when weights of host and regions together take more bytes, e.g. 2MiB")
      ->type_name("SIZE")
      ->transform(size_check());
  cmd.add_option("--min-mac-share", g.mac_share,
                 "exit with code 5 when less of the multiply-accumulates run on the accelerator, e.g. 90%")
      ->type_name("SHARE")
      ->transform(share_check());
  cmd.add_option("--max-error", g.error,
                 "exit with code 5 when the expected |a-b|/(1+|b|) of an output is more, or is not known")
      ->type_name("E")
      ->check(tolerance_check());
}

void add_baseline_options(CLI::App& cmd, driver::Gates& g) {
  CLI::Option* baseline =
      cmd.add_option("--baseline", g.baseline,
                     "OUT of an earlier compile: exit with code 5 when a number is worse by more than "
                     "--tolerance (docs/reports.md)")
          ->type_name("OUT")
          ->check(not_empty());
  cmd.add_option("--tolerance", g.tolerance, "of --baseline: the share by which numbers may be worse (0)")
      ->type_name("SHARE")
      ->transform(share_check())
      ->needs(baseline);
}

}  // namespace mrvlc::app

// Values of options read: numbers, sizes, shares, durations, words; and what is wrong with them.
#include "options/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "mrvlc/support/characters.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/nearest.h"
#include "mrvlc/support/printable.h"

namespace mrvlc::driver {
namespace {

template <class T>
std::optional<T> whole(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [past, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && past == end ? std::optional(value) : std::nullopt;
}

// A number and the letters behind it.
struct Quantity {
  std::optional<double> number;
  std::string unit;
  bool exact = false;  // an integer without letters
};

Quantity quantity_of(const std::string& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  return {parse_number(text.substr(0, end)), text.substr(end),
          end == text.size() && text.find('.') == std::string::npos};
}

// What the letters behind a number stand for: K and KiB are 1024, KB is 1000; case does not count. 0:
// nothing.
double size_unit(std::string letters) {
  std::ranges::transform(letters, letters.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (letters.empty() || letters == "b") return 1;
  const size_t power = std::string_view("kmgt").find(letters[0]);
  if (power == std::string_view::npos) return 0;
  const std::string behind = letters.substr(1);
  if (behind.empty() || behind == "ib") return std::pow(1024, power + 1);
  return behind == "b" ? std::pow(1000, power + 1) : 0;
}

Diag wrong(std::string what) {
  return option_error({}, what);
}

// "from 1 to 8"; a limit that is no more than the type's own is not told.
std::string range_text(const std::string& low, const std::string& high, bool bounded) {
  return fmt::format("from {}{}", low, bounded ? " to " + high : "");
}

}  // namespace

Diag option_error(std::string_view option, std::string_view what) {
  return make_diag<DiagCode::MRV0004>(option.empty() ? std::string(what)
                                                     : fmt::format("{}: {}", option, what));
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto value = whole<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<int64_t> parse_integer(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return whole<int64_t>(text);
}

std::string number_text(double value) {
  return fmt::format("{}", value);
}

Result<int64_t> parse_size(const std::string& text) {
  const Quantity q = quantity_of(text);
  const double unit = size_unit(q.unit);
  if (!q.number || unit == 0)
    return wrong(
        fmt::format("'{}' is no size; sizes are written as 65536, 64K, 1.5MiB or 2MB", printable(text)));
  const double bytes = std::floor(*q.number * unit);
  // Numbers without a letter are exact up to the end of their range.
  if (bytes >= 0x1p62) return wrong(fmt::format("'{}' is too large", printable(text)));
  return q.exact ? *parse_integer(text) : static_cast<int64_t>(bytes);
}

Result<double> parse_share(const std::string& text) {
  const bool percent = text.ends_with('%');
  const auto number = parse_number(percent ? text.substr(0, text.size() - 1) : text);
  if (!number || !(*number >= 0 && *number <= 100))
    return wrong(fmt::format("'{}' is no share; shares are written as 0.9 or 90%", printable(text)));
  if (!percent && *number > 1)
    return wrong(fmt::format("'{0}' is more than 1; did you mean '{0}%'?", printable(text)));
  return percent ? *number / 100 : *number;
}

Result<double> parse_seconds(const std::string& text) {
  const Quantity q = quantity_of(text);
  const double seconds = q.unit.empty() || q.unit == "s" ? 1
                         : q.unit == "m"                 ? 60
                         : q.unit == "h"                 ? 3600
                         : q.unit == "d"                 ? 86400
                                                         : 0;
  if (!q.number || seconds == 0)
    return wrong(
        fmt::format("'{}' is no time; times are written as 90, 90s, 10m, 12h or 30d", printable(text)));
  return *q.number * seconds;
}

namespace readers {

Result<int64_t> integer_in(const std::string& text, int64_t low, int64_t high) {
  const auto value = parse_integer(text);
  if (value && *value >= low && *value <= high) return *value;
  return wrong(fmt::format("'{}' is no number {}", printable(text),
                           range_text(std::to_string(low), std::to_string(high), high != INT64_MAX)));
}

Result<double> number_in(const std::string& text, double low, double high) {
  const auto value = parse_number(text);
  if (value && *value >= low && *value <= high) return *value;
  return wrong(fmt::format("'{}' is no number {}", printable(text),
                           range_text(number_text(low), number_text(high), high < 1e300)));
}

Result<std::string> plain_size(const std::string& text) {
  MRVLC_ASSIGN(const int64_t bytes, parse_size(text));
  return std::to_string(bytes);
}

Result<std::string> plain_share(const std::string& text) {
  MRVLC_ASSIGN(const double share, parse_share(text));
  return number_text(share);
}

Result<std::string> not_empty(const std::string& text) {
  if (!text.empty()) return text;
  return wrong("is empty; give it a value, or leave the option away");
}

size_t index_of(std::span<const std::string> choices, const std::string& word) {
  return static_cast<size_t>(std::ranges::find(choices, word) - choices.begin());
}

Status one_of(std::string_view option, std::span<const std::string> choices, const std::string& word) {
  if (index_of(choices, word) < choices.size()) return {};
  const std::vector<std::string_view> known(choices.begin(), choices.end());
  return option_error(option, fmt::format("'{}' is none of {}{}", printable(word), fmt::join(known, ", "),
                                          did_you_mean(word, known)));
}

}  // namespace readers
}  // namespace mrvlc::driver

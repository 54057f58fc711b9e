// Readers of option values by the kind of the member that they set.
#pragma once
#include <concepts>
#include <limits>
#include <type_traits>

#include "mrvlc/driver/option_table.h"

namespace mrvlc::driver {

// Members of members: member(&CompileOptions::import, &onnx::ImportOptions::batch).
template <class... Path>
auto member(Path... path) {
  return [path...](CompileOptions & o) -> auto& {
    return (o.*....*path);
  };
}

Diag option_error(std::string_view option, std::string_view what);
// A finite number without anything behind it.
std::optional<double> parse_number(std::string_view text);
std::optional<int64_t> parse_integer(std::string_view text);
std::string number_text(double value);

namespace readers {

template <class T>
struct Plain {
  using type = T;
};
template <class T>
struct Plain<std::optional<T>> {
  using type = T;
};
template <class Get>
using ValueOf = typename Plain<std::remove_cvref_t<std::invoke_result_t<Get, CompileOptions&>>>::type;

template <class Get>
OptionReader flag(Get get, bool value = true) {
  return {OptionReader::Takes::Nothing,
          [=](std::string_view, std::span<const std::string>, CompileOptions& o) -> Status {
            get(o) = value;
            return {};
          },
          {},
          nullptr};
}

// One word that `set` makes a value of, with the reason where it can't.
template <class Get, class Parse>
OptionReader one(Get get, Parse parse) {
  return {OptionReader::Takes::One,
          [=](std::string_view option, std::span<const std::string> words, CompileOptions& o) -> Status {
            auto value = parse(words.back());
            if (!value.ok()) return option_error(option, value.error().message);
            get(o) = static_cast<ValueOf<Get>>(*value);
            return {};
          },
          {},
          nullptr};
}

Result<int64_t> integer_in(const std::string& text, int64_t low, int64_t high);
Result<double> number_in(const std::string& text, double low, double high);

// Limits are those of the member where none are given.
template <class Get>
OptionReader number(Get get, ValueOf<Get> low = std::numeric_limits<ValueOf<Get>>::lowest(),
                    ValueOf<Get> high = std::numeric_limits<ValueOf<Get>>::max()) {
  if constexpr (std::floating_point<ValueOf<Get>>)
    return one(get, [=](const std::string& text) { return number_in(text, low, high); });
  else
    return one(get, [=](const std::string& text) {
      return integer_in(text, static_cast<int64_t>(low), static_cast<int64_t>(high));
    });
}

// With the member's default in the help.
template <class Get>
OptionReader shown(OptionReader reader, Get get) {
  reader.shown = [=](CompileOptions& o) {
    if constexpr (std::convertible_to<ValueOf<Get>, std::string>)
      return std::string(get(o));
    else
      return number_text(static_cast<double>(get(o)));
  };
  return reader;
}

Result<std::string> plain_size(const std::string& text);
Result<std::string> plain_share(const std::string& text);

template <class Get>
OptionReader size(Get get, int64_t low = 0, int64_t high = std::numeric_limits<int64_t>::max()) {
  OptionReader reader = one(get, [=](const std::string& text) -> Result<int64_t> {
    MRVLC_ASSIGN(const int64_t bytes, parse_size(text));
    return integer_in(std::to_string(bytes), low, high);
  });
  reader.plain = plain_size;
  return reader;
}

template <class Get>
OptionReader share(Get get) {
  OptionReader reader = one(get, parse_share);
  reader.plain = plain_share;
  return reader;
}

// An error of outputs: a NaN would let everything through, or nothing.
template <class Get>
OptionReader tolerance(Get get) {
  return one(get, [](const std::string& text) -> Result<double> {
    const auto value = parse_number(text);
    if (!value || *value < 0 || *value >= 1e300)
      return option_error({}, "'" + printable(text) + "' is no number from 0 on");
    return *value;
  });
}

Result<std::string> not_empty(const std::string& text);

// A text or a path; an empty one is most often a shell variable that is not set.
template <class Get>
OptionReader text(Get get) {
  return {OptionReader::Takes::One,
          [=](std::string_view option, std::span<const std::string> words, CompileOptions& o) -> Status {
            auto value = not_empty(words.back());
            if (!value.ok()) return option_error(option, value.error().message);
            get(o) = *value;
            return {};
          },
          {},
          nullptr};
}

template <class Get>
OptionReader texts(Get get) {
  return {OptionReader::Takes::Any,
          [=](std::string_view, std::span<const std::string> words, CompileOptions& o) -> Status {
            get(o).assign(words.begin(), words.end());
            return {};
          },
          {},
          nullptr};
}

size_t index_of(std::span<const std::string> choices, const std::string& word);
Status one_of(std::string_view option, std::span<const std::string> choices, const std::string& word);

// A member of an enumeration, by the words of its values in order.
template <class Get, class Words>
OptionReader choice(Get get, const Words& words) {
  std::vector<std::string> choices(std::begin(words), std::end(words));
  OptionReader reader{
      OptionReader::Takes::One,
      [=](std::string_view option, std::span<const std::string> given, CompileOptions& o) -> Status {
        MRVLC_TRY(one_of(option, choices, given.back()));
        get(o) = static_cast<ValueOf<Get>>(index_of(choices, given.back()));
        return {};
      },
      choices, [=](CompileOptions& o) { return choices.at(static_cast<size_t>(get(o))); }};
  return reader;
}

// A form of its own.
inline OptionReader form(OptionReader::Takes takes,
                         Status (*read)(std::string_view, std::span<const std::string>, CompileOptions&)) {
  return {takes, read, {}, nullptr};
}

}  // namespace readers
}  // namespace mrvlc::driver

// Checks of values that stand in no table of options.
#include <fmt/format.h>

#include "compile_options.h"

namespace mrvlc::app {

CLI::Validator plain_text(std::function<Result<std::string>(const std::string&)> plain) {
  return {[plain = std::move(plain)](std::string& text) -> std::string {
            auto value = plain(text);
            if (!value.ok()) return value.error().message;
            text = *std::move(value);
            return {};
          },
          ""};
}

namespace {

// Of a number read by `parse`.
template <class Parse>
CLI::Validator plain_number(Parse parse) {
  return plain_text([parse](const std::string& text) -> Result<std::string> {
    MRVLC_ASSIGN(const auto value, parse(text));
    return fmt::format("{}", value);
  });
}

}  // namespace

CLI::Validator not_empty() {
  return {[](std::string& text) {
            return std::string(text.empty() ? "is empty; give it a value, or leave the option away" : "");
          },
          "", "not_empty"};
}

CLI::Validator duration_check() {
  return plain_number(driver::parse_seconds);
}

CLI::Validator size_check() {
  return plain_number(driver::parse_size);
}

CLI::Validator share_check() {
  return plain_number(driver::parse_share);
}

CLI::Validator tolerance_check() {
  return {[](const std::string& text) {
            double value = 0;
            const bool good = CLI::detail::lexical_cast(text, value) && value >= 0 && value < 1e300;
            return good ? std::string() : "'" + printable(text) + "' is no number from 0 on";
          },
          ""};
}

}  // namespace mrvlc::app

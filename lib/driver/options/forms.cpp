// Options with a form of their own, read.
#include "options/forms.h"

#include <fmt/format.h>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/tensor/npy.h"
#include "options/readers.h"

namespace mrvlc::driver::forms {
namespace {

Diag refused(std::string text) {
  return make_diag<DiagCode::MRV0004>(std::move(text));
}

// NAME=SHAPE for each text.
Status add_shapes(std::string_view option, std::string_view form, Words texts,
                  std::map<std::string, onnx::GivenShape>& shapes) {
  for (const std::string& text : texts) {
    const size_t eq = text.rfind('=');
    const auto given = eq == std::string::npos || eq == 0
                           ? std::nullopt
                           : onnx::parse_given_shape(std::string_view(text).substr(eq + 1));
    if (!given) return refused(fmt::format("{} takes NAME={}, not '{}'", option, form, printable(text)));
    const std::string name = text.substr(0, eq);
    if (!shapes.emplace(name, *given).second)
      return refused(fmt::format("{} is given twice for '{}'", option, printable(name)));
  }
  return {};
}

constexpr uint32_t kMostRetries = 1000;

// "retry" or "retry:N".
std::optional<uint32_t> read_retries(std::string_view word) {
  if (word == "retry") return 1;
  constexpr std::string_view kCounted = "retry:";
  if (!word.starts_with(kCounted)) return std::nullopt;
  const auto n = parse_integer(word.substr(kCounted.size()));
  return n && *n >= 1 && *n <= kMostRetries ? std::optional(static_cast<uint32_t>(*n)) : std::nullopt;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    out.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

// Names may hold '=' and ':' themselves.
Result<calibration::InputRange> parse_range(std::string_view option, const std::string& text) {
  const size_t eq = text.rfind('='), colon = text.rfind(':');
  const bool split = eq != std::string::npos && eq != 0 && colon != std::string::npos && colon > eq;
  const auto least = split ? parse_number(text.substr(eq + 1, colon - eq - 1)) : std::nullopt;
  const auto most = split ? parse_number(text.substr(colon + 1)) : std::nullopt;
  if (!least || !most)
    return refused(fmt::format("{} takes NAME=LO:HI, e.g. image=0:255, not '{}'", option, printable(text)));
  if (*least > *most)
    return refused(fmt::format("{}: {} is more than {} in '{}'", option, *least, *most, printable(text)));
  calibration::InputRange range;
  range.pattern = text.substr(0, eq);
  range.least = *least, range.most = *most;
  return range;
}

}  // namespace

Status input_shapes(std::string_view option, Words words, CompileOptions& options) {
  return add_shapes(option, "1x3x224x224", words, options.import.input_shapes);
}

Status input_dims(std::string_view option, Words words, CompileOptions& options) {
  MRVLC_TRY(add_shapes(option, "8", words, options.import.input_dims));
  for (const auto& [symbol, given] : options.import.input_dims)
    if (given.shape.size() != 1 || given.length > 0)
      return refused(
          fmt::format("{} takes one number for '{}', not {}", option, printable(symbol), to_string(given)));
  return {};
}

Status bounds(std::string_view option, Words words, CompileOptions& options) {
  std::map<std::string, onnx::GivenShape> given;
  MRVLC_TRY(add_shapes(option, "64x4", words, given));
  for (const auto& [name, shape] : given) options.import.bounds.emplace(name, shape.shape);
  return {};
}

Status bindings(std::string_view option, Words words, CompileOptions& options) {
  for (const std::string& text : words) {
    const size_t eq = text.find('=');
    if (eq == std::string::npos || eq == 0 || eq + 1 == text.size())
      return refused(fmt::format("{} takes NAME=VALUE or NAME=FILE.npy, not '{}'", option, printable(text)));
    onnx::BoundInput value{text.substr(eq + 1), std::nullopt};
    if (value.text.ends_with(".npy")) {
      MRVLC_ASSIGN(value.tensor, read_npy(value.text));
    }
    if (!options.import.bound_inputs.emplace(text.substr(0, eq), std::move(value)).second)
      return refused(fmt::format("{} is given twice for '{}'", option, printable(text.substr(0, eq))));
  }
  return {};
}

Status targets(std::string_view option, Words words, CompileOptions& options) {
  if (words.back().empty()) return option_error(option, readers::not_empty({}).error().message);
  options.targets = split_at_commas(words.back());
  return {};
}

Status precisions(std::string_view option, Words words, CompileOptions& options) {
  for (const std::string& text : words) {
    const size_t eq = text.rfind('=');
    if (eq == std::string::npos) {
      if (text != "fp16" && text != "int8" && text != "auto")
        return refused(
            fmt::format("{} takes fp16, int8, auto or NAME=HOW, not '{}'", option, printable(text)));
      options.precision = text;
      continue;
    }
    const auto precision = partition::parse_precision(std::string_view(text).substr(eq + 1));
    if (eq == 0 || !precision)
      return refused(fmt::format(
          "{0} takes NAME=fp16, NAME=pair, NAME=scale:K or NAME=pair:K with K from -{1} to {1}, not '{2}'",
          option, partition::kMostShift, printable(text)));
    options.precisions.emplace_back(text.substr(0, eq), *precision);
  }
  return {};
}

Status input_ranges(std::string_view option, Words words, CompileOptions& options) {
  for (const std::string& text : words) {
    MRVLC_ASSIGN(calibration::InputRange range, parse_range(option, text));
    options.input_ranges.push_back(std::move(range));
  }
  return {};
}

Status device_error(std::string_view option, Words given, CompileOptions& options) {
  const std::vector<std::string> words = split_at_commas(given.back());
  const Diag wrong = refused(
      fmt::format("{}: '{}' is none of error, retry, retry:N (N up to {}), cpu, or a retry and cpu with a "
                  "comma between",
                  option, printable(given.back()), kMostRetries));
  chost::OnDeviceError policy;
  if (words.size() > 2 || (words.size() == 2 && words[1] != "cpu")) return wrong;
  policy.cpu = words.back() == "cpu";
  const bool retries_named = words[0] != "error" && !(policy.cpu && words.size() == 1);
  if (words.size() == 2 || retries_named) {
    const auto retries = read_retries(words[0]);
    if (!retries) return wrong;
    policy.retries = *retries;
  }
  options.host.on_device_error = policy;
  return {};
}

}  // namespace mrvlc::driver::forms

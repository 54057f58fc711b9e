// Shapes as users write them: `--input-shape NAME=1x3x224x224`, `1..8x4` for sizes known at run time only.
#include <fmt/format.h>

#include <charconv>

#include "mrvlc/onnx/importer.h"

namespace mrvlc::onnx {
namespace {

// A number from 0 on; what was read is cut off.
std::optional<int64_t> take_number(std::string_view& text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

}  // namespace

std::optional<GivenShape> parse_given_shape(std::string_view text) {
  GivenShape given;
  if (size_t star = text.find('*'); star != std::string_view::npos) {
    auto length = take_number(text);
    if (!length || *length < 1 || !take(text, "*")) return std::nullopt;
    given.length = *length;
  }
  if (text.empty() || text == "scalar") return given;
  do {
    auto size = take_number(text);
    if (!size || given.shape.size() == static_cast<size_t>(kMaxRank)) return std::nullopt;
    if (take(text, "..")) {
      auto most = take_number(text);
      if (!most || *most < *size) return std::nullopt;
      given.dynamic |= 1u << given.shape.size();
      size = most;
    }
    given.shape.push_back(*size);
  } while (take(text, "x"));
  if (!text.empty()) return std::nullopt;
  return given;
}

std::string to_string(const GivenShape& given) {
  std::string text = given.length > 0 ? fmt::format("{}*", given.length) : "";
  if (given.shape.empty()) return text + "scalar";
  for (size_t d = 0; d < given.shape.size(); ++d) {
    const bool dynamic = (given.dynamic >> d & 1u) != 0;
    text += fmt::format("{}{}{}", d == 0 ? "" : "x", dynamic ? "1.." : "", given.shape[d]);
  }
  return text;
}

}  // namespace mrvlc::onnx

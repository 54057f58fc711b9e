// Fields of a calibration file, checked while they are read.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace mrvlc::calibration {

using Json = nlohmann::ordered_json;

// Members of an object; null when it is none, or there is none of that name.
inline const Json& member(const Json& json, const char* name) {
  static const Json null;
  const auto it = json.is_object() ? json.find(name) : json.end();
  return it == json.end() ? null : *it;
}

// Counts what is read, and says where the first mistake is.
class Reader {
 public:
  explicit Reader(std::string where) : where_(std::move(where)) {}

  std::string text(const Json& json, const char* name) {
    const Json& j = member(json, name);
    if (!j.is_string()) return fail(name, "is no text"), std::string();
    return j.get<std::string>();
  }
  int64_t count(const Json& json, const char* name, int64_t least, int64_t most) {
    const Json& j = member(json, name);
    const bool good = j.is_number_unsigned() && j.get<uint64_t>() <= static_cast<uint64_t>(most) &&
                      j.get<uint64_t>() >= static_cast<uint64_t>(least);
    if (!good) return fail(name, fmt::format("is no number from {} to {}", least, most)), least;
    return j.get<int64_t>();
  }
  double number(const Json& json, const char* name) {
    const Json& j = member(json, name);
    if (!j.is_number() || !std::isfinite(j.get<double>())) return fail(name, "is no number"), 0;
    return j.get<double>();
  }
  std::optional<double> error(const Json& json, const char* name) {
    if (member(json, name).is_null()) return std::nullopt;
    const double e = number(json, name);
    require(e >= 0, name, "is no error");
    return e;
  }
  void require(bool good, const char* name, std::string_view why) {
    if (!good) fail(name, why);
  }
  void fail(const char* name, std::string_view why) {
    if (wrong_.empty()) wrong_ = fmt::format("{}'{}' {}", where_, name, why);
  }
  void in(std::string where) { where_ = std::move(where); }
  const std::string& wrong() const { return wrong_; }

 private:
  std::string where_, wrong_;
};

}  // namespace mrvlc::calibration

// What readers of packages that are no variants share: the object, its keys and its texts.
#pragma once
#include <algorithm>

#include "mrvlc/support/diag/target.h"
#include "mrvlc/support/nearest.h"
#include "text.h"

namespace mrvlc::target {

class PackageFields {
 protected:
  PackageFields(std::string_view shown, std::string_view kind) : shown_(printable(shown)), kind_(kind) {}

  // Reads it; no keys but these, and none of a machine: `fields` is also what a package inherits of a base.
  Status open(std::string_view text, std::initializer_list<std::string_view> keys) {
    MRVLC_ASSIGN(root_, parse_target_json(text, shown_));
    for (const auto& [key, value] : root_.items()) {
      if (key == "fields" || key == "extends")
        return field(key, fmt::format("does not go with kind '{}', and `{}` neither", kind_,
                                      key == "fields" ? "extends" : "fields"));
      if (std::ranges::find(keys, key) == keys.end())
        return field(key, "is unknown" + did_you_mean(key, std::vector<std::string_view>(keys)));
    }
    if (root_.contains("name") && root_["name"].is_string())
      return check_askable(shown_, root_["name"].get_ref<const std::string&>());
    return {};
  }

  Diag field(std::string_view name, std::string_view what) const {
    return make_diag<DiagCode::MRV0351>(shown_, printable(name), what);
  }

  Status text_of(const char* key, std::string& out) const {
    const auto value = root_.find(key);
    if (value == root_.end()) return field(key, "is missing");
    if (!value->is_string() || value->get_ref<const std::string&>().empty())
      return field(key, "is no text, or empty");
    out = value->get<std::string>();
    return {};
  }

  Status flag(const char* key, bool& out) const {
    const auto value = root_.find(key);
    if (value == root_.end()) return {};
    if (!value->is_boolean()) return field(key, "is neither true nor false");
    out = value->get<bool>();
    return {};
  }

  // By which an int8 result may differ from ONNX's.
  Status steps(int64_t& out) const {
    constexpr int64_t kMost = 16;
    const auto value = root_.find("steps");
    if (value == root_.end()) return {};
    if (!value->is_number_integer() || *value < 0 || *value > kMost)
      return field("steps", fmt::format("is no whole number from 0 to {}", kMost));
    out = value->get<int64_t>();
    return {};
  }

  std::string shown_;
  std::string_view kind_;
  Json root_;
};

}  // namespace mrvlc::target

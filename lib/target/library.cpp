// Reads and checks packages of kind `call`.
#include "mrvlc/target/library.h"

#include <algorithm>

#include "folders.h"
#include "mrvlc/support/characters.h"
#include "mrvlc/support/diag/target.h"
#include "text.h"

namespace mrvlc::target {
namespace {

constexpr size_t kMaxFiles = 64;

class LibraryReader {
 public:
  explicit LibraryReader(std::string_view shown) : shown_(printable(shown)) {}

  Result<LibraryPackage> run(std::string_view text) {
    MRVLC_ASSIGN(root_, parse_target_json(text, shown_));
    for (const auto& [key, value] : root_.items()) {
      if (key == "extends") return field(key, "does not go with kind 'call'");
      constexpr std::string_view kKeys[] = {"name",    "description", "kind",           "rules",
                                            "headers", "sources",     "system_headers", "libraries",
                                            "split_bias"};
      if (std::ranges::find(kKeys, key) == std::end(kKeys)) return field(key, "is unknown");
    }
    MRVLC_TRY(text_of("name", out_.name));
    MRVLC_TRY(text_of("description", out_.description));
    MRVLC_TRY(list("rules", ".rules", out_.rules));
    MRVLC_TRY(list("headers", ".h", out_.headers));
    MRVLC_TRY(list("sources", ".c", out_.sources));
    MRVLC_TRY(list("system_headers", ".h", out_.system_headers));
    MRVLC_TRY(list("libraries", "", out_.libraries));
    MRVLC_TRY(flag("split_bias", out_.split_bias));
    if (out_.rules.empty()) out_.rules.push_back(out_.name + ".rules");
    return std::move(out_);
  }

 private:
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

  // What stands in an #include, a Makefile and a linker's option.
  static bool is_safe(std::string_view name, bool folders) {
    return !name.empty() && name[0] != '-' && name[0] != '.' && name[0] != '/' &&
           name.find("..") == std::string_view::npos && std::ranges::all_of(name, [&](char c) {
             return is_word(c) || c == '.' || c == '-' || c == '+' || (folders && c == '/');
           });
  }

  Status list(const std::string& key, std::string_view ending, std::vector<std::string>& out) const {
    const auto value = root_.find(key);
    if (value == root_.end()) return {};
    if (!value->is_array() || value->size() > kMaxFiles)
      return field(key, fmt::format("is no list of at most {} names", kMaxFiles));
    for (const Json& item : *value) {
      const std::string name = item.is_string() ? item.get<std::string>() : "";
      if (!is_safe(name, key == "system_headers") || !name.ends_with(ending))
        return field(key, ending.empty()
                              ? "takes names as behind -l"
                              : fmt::format("takes names of files that end in '{}', without folders", ending));
      if (std::ranges::find(out, name) != out.end()) return field(key, fmt::format("has '{}' twice", name));
      out.push_back(name);
    }
    return {};
  }

  std::string shown_;
  Json root_;
  LibraryPackage out_;
};

}  // namespace

bool is_library(std::string_view json) {
  auto root = parse_target_json(json, "");
  return root.ok() && root->value("kind", Json()) == "call";
}

Result<LibraryPackage> parse_library(std::string_view json, std::string_view shown_name) {
  return LibraryReader(shown_name).run(json);
}

}  // namespace mrvlc::target

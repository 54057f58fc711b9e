// Reads and checks packages of kind `call`.
#include "mrvlc/target/library.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "folders.h"
#include "mrvlc/support/c_words.h"
#include "mrvlc/support/characters.h"
#include "mrvlc/support/diag/target.h"
#include "package_fields.h"
#include "text.h"

namespace mrvlc::target {
namespace {

constexpr size_t kMaxFiles = 64;

class LibraryReader : PackageFields {
 public:
  explicit LibraryReader(std::string_view shown) : PackageFields(shown, "call") {}

  Result<LibraryPackage> run(std::string_view text) {
    MRVLC_TRY(open(text, {"name", "description", "kind", "rules", "headers", "sources", "system_headers",
                          "libraries", "standard", "split_bias", "integers", "steps"}));
    MRVLC_TRY(text_of("name", out_.name));
    MRVLC_TRY(text_of("description", out_.description));
    MRVLC_TRY(list("rules", ".rules", out_.rules));
    MRVLC_TRY(list("headers", ".h", out_.headers));
    MRVLC_TRY(list("sources", ".c", out_.sources));
    MRVLC_TRY(list("system_headers", ".h", out_.system_headers));
    MRVLC_TRY(list("libraries", "", out_.libraries));
    MRVLC_TRY(standard());
    MRVLC_TRY(flag("split_bias", out_.split_bias));
    MRVLC_TRY(flag("integers", out_.integers));
    MRVLC_TRY(steps(out_.steps));
    if (out_.rules.empty()) out_.rules.push_back(out_.name + ".rules");
    return std::move(out_);
  }

 private:
  Status standard() {
    const auto value = root_.find("standard");
    if (value == root_.end()) return {};
    const std::string name = value->is_string() ? value->get<std::string>() : "";
    if (std::ranges::find(kStandards, name) == std::end(kStandards))
      return field("standard", fmt::format("is none of {}", fmt::join(kStandards, ", ")));
    out_.standard = name;
    return {};
  }

  Status list(const std::string& key, std::string_view ending, std::vector<std::string>& out) const {
    const auto value = root_.find(key);
    if (value == root_.end()) return {};
    if (!value->is_array() || value->size() > kMaxFiles)
      return field(key, fmt::format("is no list of at most {} names", kMaxFiles));
    for (const Json& item : *value) {
      const std::string name = item.is_string() ? item.get<std::string>() : "";
      if (!is_safe_file(name, key == "system_headers") || !name.ends_with(ending))
        return field(key,
                     ending.empty()
                         ? "takes names as behind -l"
                         : fmt::format("takes names of files that end in '{}', without folders", ending));
      if (std::ranges::find(out, name) != out.end()) return field(key, fmt::format("has '{}' twice", name));
      out.push_back(name);
    }
    return {};
  }

  LibraryPackage out_;
};

constexpr std::string_view kNewTarget = R"({{
  "name": "{0}",
  "description": "A library of C functions",
  "kind": "call",
  "headers": ["{0}.h"],
  "sources": ["{0}.c"]
}}
)";

constexpr std::string_view kNewRules =
    R"(# Which operators are computed by which function. %x and %y are the tensors of the pattern.
rule {0}_relu {{
  layer call
  priority 100
  why "Relu of floats is a call of {0}_relu"
  match {{ %y = Relu(%x) }}
  where elem(%x) == f32
  call {0}_relu(%x, %y, elements(%x))
}}
)";

constexpr std::string_view kNewHeader = R"(#include <stddef.h>

void {0}_relu(const float* x, float* y, size_t count);
)";

constexpr std::string_view kNewSource = R"(#include "{0}.h"

void {0}_relu(const float* x, float* y, size_t count) {{
  for (size_t i = 0; i < count; ++i) y[i] = x[i] < 0 ? 0 : x[i];
}}
)";

}  // namespace

bool is_safe_file(std::string_view name, bool folders) {
  return !name.empty() && name[0] != '-' && name[0] != '.' && name[0] != '/' &&
         name.find("..") == std::string_view::npos && std::ranges::all_of(name, [&](char c) {
           return is_word(c) || c == '.' || c == '-' || c == '+' || (folders && c == '/');
         });
}

Status check_c_name(std::string_view name) {
  const bool c_name = std::ranges::all_of(name, is_word) && !name.empty() && !is_digit(name[0]);
  if (c_name && is_keyword(name))
    return make_diag<DiagCode::MRV0351>(printable(name), "name", "is a keyword of C or C++");
  if (c_name && name != "host") return {};
  return make_diag<DiagCode::MRV0351>(printable(name), "name",
                                      "must be letters, digits and underscores: functions begin with it");
}

Result<std::vector<PackageFile>> new_library(std::string_view name) {
  MRVLC_TRY(check_c_name(name));
  auto file = [&](std::string file_name, std::string_view text) {
    return PackageFile{std::move(file_name), fmt::format(fmt::runtime(text), name)};
  };
  const std::string stem(name);
  return std::vector<PackageFile>{file("target.json", kNewTarget), file(stem + ".rules", kNewRules),
                                  file(stem + ".h", kNewHeader), file(stem + ".c", kNewSource)};
}

std::string_view both_standards(std::string_view a, std::string_view b) {
  const auto place = [](std::string_view name) {
    return static_cast<size_t>(std::ranges::find(kStandards, name) - std::begin(kStandards));
  };
  const size_t year = std::max(place(a), place(b)) / 2;
  return kStandards[2 * year + (a.starts_with("gnu") || b.starts_with("gnu") ? 1 : 0)];
}

std::vector<std::string> standard_flags(std::string_view standard) {
  std::vector<std::string> flags = {"-std=" + std::string(standard)};
  if (standard.starts_with("gnu")) flags.emplace_back("-ffp-contract=off");
  return flags;
}

bool is_library(std::string_view json) {
  auto root = parse_target_json(json, "");
  return root.ok() && root->value("kind", Json()) == "call";
}

Result<LibraryPackage> parse_library(std::string_view json, std::string_view shown_name) {
  return LibraryReader(shown_name).run(json);
}

}  // namespace mrvlc::target

// Folders that hold target packages, and what is in them.
#include "folders.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "mrvlc/support/diag/target.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/target/find.h"
#include "text.h"

namespace mrvlc::target {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

Folders split_path(std::string_view text) {
  Folders folders;
  while (!text.empty()) {
    const size_t end = std::min(text.find(':'), text.size());
    if (end > 0) folders.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return folders;
}

// Folders that cannot be read have nothing: most of them are not there.
void add_packages(const fs::path& folder, std::map<std::string, fs::path>& found) {
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    fs::path file = it->path() / "target.json";
    std::error_code unreadable;
    if (fs::exists(file, unreadable)) found.try_emplace(it->path().filename().string(), std::move(file));
  }
}

}  // namespace

bool plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

Folders path_of_environment() {
  return split_path(environment("MRVLC_TARGET_PATH"));
}

Folders data_folders() {
  std::string own = environment("XDG_DATA_HOME"), shared = environment("XDG_DATA_DIRS");
  if (own.empty() && !environment("HOME").empty()) own = environment("HOME") + "/.local/share";
  if (shared.empty()) shared = "/usr/local/share:/usr/share";
  Folders folders = split_path(own + ":" + shared);
  // The specification has relative paths ignored.
  std::erase_if(folders, [](const fs::path& folder) { return !folder.is_absolute(); });
  for (fs::path& folder : folders) folder = folder / "mrvlc" / "targets";
  return folders;
}

std::vector<Package> packages(const Folders& search) {
  std::map<std::string, fs::path> found;
  for (const fs::path& folder : search) add_packages(folder, found);
  for (const std::string& name : builtin_targets()) found.try_emplace(name);
  for (const fs::path& folder : data_folders()) add_packages(folder, found);
  std::vector<Package> out;
  for (auto& [name, file] : found) out.push_back({name, std::move(file)});
  return out;
}

Result<std::string> new_variant(std::string_view name, std::string_view base, const Folders& search) {
  // "host" and lists of names are something else to --target; an option begins with '-'.
  const bool taken = name == "host" || name.find(',') != std::string_view::npos || name.starts_with('-');
  if (!plain_name(name) || taken || printable(name) != name)
    return make_diag<DiagCode::MRV0351>(
        printable(name), "name",
        "cannot be that of a target: it is a word without '/' and ',', and the folder is made here");
  MRVLC_ASSIGN(const TargetText text, find_target(base, search));
  MRVLC_ASSIGN(const Machine machine, read_machine(base, text));
  const Json whole = Json::parse(text.json);
  std::string out = "{\n  \"name\": " + json_line(Json(name)) +
                    ",\n  \"description\": " + json_line(Json("A variant of " + std::string(base))) +
                    ",\n  \"extends\": " + json_line(Json(base)) + ",\n  \"fields\": {\n";
  constexpr std::string_view kLikely[] = {"max_tiles", "ocm_bytes", "ddr_bytes"};
  for (std::string_view field : kLikely) {
    const Json& value = whole.at("fields").at(std::string(field)).at("value");
    out += fmt::format("    \"{}\": {{\"value\": {}, \"source\": \"assumed\", \"note\": \"\"}}{}\n", field,
                       json_line(value), field == kLikely[std::size(kLikely) - 1] ? "" : ",");
  }
  return out + "  }\n}\n";
}

}  // namespace mrvlc::target

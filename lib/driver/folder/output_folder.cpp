// Files of OUT by manifest.json: nothing is read that has not the hash that stands there.
#include "folder/output_folder.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "inputs/target_options.h"
#include "mrvlc/support/diag/mesh.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/support/mapped_file.h"
#include "mrvlc/target/plugin.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

Result<std::string> listed_hash(const OutputFolder& folder, const std::string& file) {
  auto it = folder.files.find(file);
  if (it == folder.files.end() && folder.files.contains("mesh.json"))
    return make_diag<DiagCode::MRV1308>(fmt::format("what this command reads ('{}')", file));
  if (it == folder.files.end()) return make_diag<DiagCode::MRV0713>((folder.path / file).string());
  return it->second;
}

Status compare(const OutputFolder& folder, const std::string& file, std::string_view hash,
               std::string_view actual) {
  if (hash == actual) return {};
  return make_diag<DiagCode::MRV0712>((folder.path / file).string());
}

// Whoever wrote the folder: texts become lines on a terminal, and parts of messages.
void make_printable(Json& document) {
  std::vector<Json*> open = {&document};
  while (!open.empty()) {
    Json& at = *open.back();
    open.pop_back();
    if (at.is_string()) at = printable(at.get_ref<const std::string&>(), SIZE_MAX);
    if (at.is_structured())
      for (Json& part : at) open.push_back(&part);
  }
}

}  // namespace

Result<std::string> OutputFolder::bytes(const std::string& file) const {
  MRVLC_ASSIGN(const std::string hash, listed_hash(*this, file));
  MRVLC_ASSIGN(std::string text, read_file(path / file));
  MRVLC_TRY(compare(*this, file, hash, sha256_hex(text)));
  return text;
}

Status OutputFolder::check(const std::string& file) const {
  MRVLC_ASSIGN(const std::string hash, listed_hash(*this, file));
  MRVLC_ASSIGN(auto mapped, MappedFile::open(path / file, UINT64_MAX));
  MRVLC_ASSIGN(const std::string actual, mapped->sha256());
  return compare(*this, file, hash, actual);
}

Result<Json> OutputFolder::parse(const std::string& file) const {
  MRVLC_ASSIGN(std::string text, bytes(file));
  Json parsed = Json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return make_diag<DiagCode::MRV0003>((path / file).string(), "not valid JSON");
  return parsed;
}

Result<Json> OutputFolder::json(const std::string& file) const {
  MRVLC_ASSIGN(Json document, parse(file));
  make_printable(document);
  return document;
}

Diag OutputFolder::misread(const std::string& file, const json::Fault& fault) const {
  return make_diag<DiagCode::MRV0003>(
      (path / file).string(),
      fmt::format("member '{}' {}: it is not a file of this version of mrvlc", fault.where, fault.what));
}

namespace {

// Whether the package of that name has the library, to the byte.
bool package_has(const std::string& target, const std::vector<fs::path>& search, const std::string& library,
                 const std::string& sha) {
  const auto package = target::find_target(target, search);
  if (!package.ok() || package->files.empty()) return false;
  const auto own = MappedFile::open(package->files.front().path.parent_path() / library, UINT64_MAX);
  if (!own.ok()) return false;
  const auto hash = (*own)->sha256();
  return hash.ok() && *hash == sha;
}

}  // namespace

Result<backends::Opened> OutputFolder::backend(const std::string& target, const std::vector<fs::path>& search,
                                               Libraries from) const {
  const std::string file = target_file(target, targets.size());
  if (!files.contains(file)) {
    MRVLC_ASSIGN(const target::TargetText found, target::find_target(target, search));
    return backends::open(target, found, settings_of(target, found));
  }
  target::TargetText text;
  MRVLC_ASSIGN(text.json, bytes(file));
  text.files.push_back({path / file, target, text.json});
  // The library of a plug-in runs here: it must be the one that was written.
  for (const auto& [other, sha] : files) {
    if (!other.ends_with(".so")) continue;
    MRVLC_TRY(check(other));
    if (from == Libraries::Any) continue;
    // In a folder for several targets it may be another one's.
    const bool known = std::ranges::any_of(
        targets, [&](const std::string& t) { return package_has(t, search, other, sha); });
    if (!known)
      return make_diag<DiagCode::MRV1082>((path / other).string(),
                                          fmt::format("{}", fmt::join(targets, "' or '")));
  }
  return backends::open(target, text, settings_of(target, text));
}

// Who changed the package since has the defaults.
backends::Settings OutputFolder::settings_of(const std::string& target,
                                             const target::TargetText& text) const {
  backends::Settings out;
  if (!target::is_plugin(text.json) || !given.options.is_object()) return out;
  std::vector<std::string> options;
  for (const Json& option : given.options.value("target_opt", Json::array()))
    if (option.is_string()) options.push_back(option.get<std::string>());
  return apply_target_options(target, text, options, out).ok() ? out : backends::Settings();
}

Status OutputFolder::check_apart(const fs::path& written) const {
  auto own = [&](const std::string& file) {
    std::error_code ec;
    return fs::equivalent(written, path / file, ec);
  };
  bool any = own("manifest.json");
  for (const auto& [file, hash] : files) any = any || own(file);
  if (any) return make_diag<DiagCode::MRV0002>(written.string(), "it is a file of '" + path.string() + "'");
  return {};
}

}  // namespace mrvlc::driver

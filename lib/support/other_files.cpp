// Hard links where the file system has them, else copies: a process that is killed leaves the old folder
// whole.
#include "mrvlc/support/other_files.h"

#include <algorithm>
#include <map>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/hash.h"
#include "staging.h"

namespace mrvlc {
namespace fs = std::filesystem;
namespace {

std::string relative_name(const fs::path& path, const fs::path& folder) {
  return path.lexically_relative(folder).generic_string();
}

bool unchanged(const fs::path& file, const std::string& sha256) {
  auto bytes = read_file(file);
  return bytes.ok() && sha256_hex(*bytes) == sha256;
}

fs::path whole_name(const fs::path& destination) {
  std::error_code ec;
  const fs::path path = fs::absolute(destination, ec).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

class Keeper {
 public:
  Keeper(fs::path from, fs::path to, const WrittenFiles& own, const WrittenFiles& next)
      : from_(std::move(from)),
        to_(std::move(to)),
        own_(own.begin(), own.end()),
        next_(next.begin(), next.end()) {}

  Status run() {
    std::error_code ec;
    for (fs::recursive_directory_iterator at(from_, ec), end; !ec && at != end; at.increment(ec)) take(*at);
    if (ec) return make_diag<DiagCode::MRV0002>(from_.string(), ec.message());
    if (!in_the_way_.empty())
      return make_diag<DiagCode::MRV0002>(
          from_.string(),
          fmt::format("it holds files that no compile wrote, where this one would write: {}; move "
                      "them, name another folder, or replace all with --force",
                      listed(in_the_way_)));
    for (const std::string& name : others_) MRVLC_TRY(link(name));
    return {};
  }

 private:
  void take(const fs::directory_entry& entry) {
    const std::string name = relative_name(entry.path(), from_);
    std::error_code ec;
    const bool folder = entry.symlink_status(ec).type() == fs::file_type::directory;
    if (const auto own = own_.find(name); own != own_.end() && !folder) {
      if (!next_.contains(name) && !unchanged(entry.path(), own->second)) others_.push_back(name);
      return;
    }
    const bool taken = folder ? next_.contains(name) : next_.contains(name) || is_folder_of_next(name);
    if (taken) {
      in_the_way_.push_back(name);
    } else if (!folder || fs::is_empty(entry.path(), ec)) {
      others_.push_back(name);
    }
  }

  bool is_folder_of_next(const std::string& name) const {
    const auto at = next_.lower_bound(name + "/");
    return at != next_.end() && at->first.starts_with(name + "/");
  }

  Status link(const std::string& name) const {
    const fs::path from = from_ / name, to = to_ / name;
    std::error_code ec;
    fs::create_directories(to.parent_path(), ec);
    const fs::file_type type = fs::symlink_status(from, ec).type();
    if (type == fs::file_type::directory) {
      fs::create_directories(to, ec);
    } else if (type == fs::file_type::symlink) {
      fs::copy_symlink(from, to, ec);
    } else {
      fs::create_hard_link(from, to, ec);
      if (ec && type == fs::file_type::regular) fs::copy_file(from, to, ec);
    }
    return ec ? make_diag<DiagCode::MRV0002>(from.string(), "it cannot be kept: " + ec.message()) : Status();
  }

  static std::string listed(const std::vector<std::string>& names) {
    constexpr size_t kShown = 5;
    std::string out;
    for (size_t i = 0; i < std::min(kShown, names.size()); ++i)
      out += (i == 0 ? "" : ", ") + printable(names[i]);
    return names.size() > kShown ? fmt::format("{} and {} more", out, names.size() - kShown) : out;
  }

  const fs::path from_, to_;
  const std::map<std::string, std::string> own_, next_;
  std::vector<std::string> others_, in_the_way_;
};

}  // namespace

Status keep_other_files(const fs::path& destination, const WrittenFiles& own, const OutputDir& next) {
  const fs::path from = whole_name(destination);
  std::error_code ec;
  if (!fs::is_directory(from, ec)) return {};
  return Keeper(from, staging_name(from), own, next.files()).run();
}

void remove_own_files(const fs::path& destination, const WrittenFiles& own) {
  std::error_code ec;
  for (const auto& [name, sha256] : own)
    if (unchanged(destination / name, sha256)) fs::remove(destination / name, ec);
  std::vector<fs::path> folders;
  for (const auto& [name, sha256] : own)
    for (fs::path f = fs::path(name).parent_path(); !f.empty(); f = f.parent_path()) folders.push_back(f);
  std::ranges::sort(folders, std::greater());
  for (const fs::path& folder : folders) fs::remove(destination / folder, ec);  // empty ones alone
  fs::remove(destination, ec);
}

}  // namespace mrvlc

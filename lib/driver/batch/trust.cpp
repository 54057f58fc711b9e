// Owners and modes of the cache's folder, of those around it, and of what lies in it.
#include "batch/trust.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/tools.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

std::optional<struct stat> status_of(const fs::path& file) {
  struct stat st {};
  return ::lstat(file.c_str(), &st) == 0 ? std::optional(st) : std::nullopt;
}

bool is_ours(uid_t user) {
  return user == 0 || user == ::geteuid();
}

std::string user_name(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  return entry == nullptr ? std::to_string(user) : printable(entry->pw_name);
}

std::string group_name(gid_t group) {
  const ::group* entry = ::getgrgid(group);
  return entry == nullptr ? std::to_string(group) : printable(entry->gr_name);
}

// A folder around the cache in which anybody may rename it.
std::optional<fs::path> open_parent(const fs::path& folder) {
  for (fs::path at = folder; at != at.parent_path();) {
    at = at.parent_path();
    const auto st = status_of(at);
    if (st && (st->st_mode & S_IWOTH) != 0 && (st->st_mode & S_ISVTX) == 0) return at;
  }
  return std::nullopt;
}

}  // namespace

Result<Trust> Trust::in(const fs::path& folder) {
  Trust out;
  std::error_code ec;
  out.folder_ = fs::canonical(folder, ec);
  const auto st = ec ? std::nullopt : status_of(out.folder_);
  if (!st) return make_diag<DiagCode::MRV0003>(folder.string(), "it is no folder");
  const std::string shown = printable(folder.string(), 4096);
  if ((st->st_mode & S_IWOTH) != 0)
    return make_diag<DiagCode::MRV1073>(shown, "every user of this machine may write into it",
                                        "chmod o-w '" + shown + "'");
  if (const auto parent = open_parent(out.folder_))
    return make_diag<DiagCode::MRV1073>(
        shown,
        "every user may put another folder in its place, in '" + printable(parent->string(), 4096) + "'",
        "name a folder elsewhere");
  out.owner_ = st->st_uid;
  out.group_ = st->st_gid;
  out.group_writes_ = (st->st_mode & S_IWGRP) != 0;
  std::string others;
  if (!is_ours(out.owner_)) others = "user " + user_name(out.owner_);
  if (out.group_writes_) others += (others.empty() ? "group " : " and group ") + group_name(out.group_);
  if (!others.empty()) out.warning_ = make_diag<DiagCode::MRV1074>(shown, others);
  return out;
}

bool Trust::holds_for_one(const fs::path& file) const {
  const auto st = status_of(file);
  if (!st || (!S_ISDIR(st->st_mode) && !S_ISREG(st->st_mode)) || (st->st_mode & S_IWOTH) != 0) return false;
  const bool of_group = group_writes_ && st->st_gid == group_;
  if ((st->st_mode & S_IWGRP) != 0 && !of_group) return false;
  return is_ours(st->st_uid) || st->st_uid == owner_ || of_group;
}

bool Trust::holds_for(const fs::path& path) const {
  std::error_code ec;
  fs::path at = folder_;
  for (const fs::path& part : fs::absolute(path, ec).lexically_relative(folder_))
    if (!holds_for_one(at /= part)) return false;
  for (fs::recursive_directory_iterator below(path, ec), end; !ec && below != end; below.increment(ec))
    if (!holds_for_one(below->path())) return false;
  return !ec;
}

}  // namespace mrvlc::driver

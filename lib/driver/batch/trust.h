// Who may write what is in a cache: its C is compiled and run by those who use it.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "mrvlc/support/result.h"

namespace mrvlc::driver {

class Trust {
 public:
  // MRV1073: anybody may write into the folder, or put another one in its place.
  static Result<Trust> in(const std::filesystem::path& folder);
  // MRV1074: others than this user and root may write into it.
  const std::optional<Diag>& warning() const { return warning_; }
  // Whether all from the folder down to `path`, which lies in it, and all below `path`, is of somebody who
  // may write into the folder, and is neither a link nor open to others.
  bool holds_for(const std::filesystem::path& path) const;
  // What this user adds is open to no more than the folder is.
  mode_t umask() const { return group_writes_ ? 002 : 022; }

 private:
  bool holds_for_one(const std::filesystem::path& file) const;

  std::filesystem::path folder_;
  uid_t owner_ = 0;
  gid_t group_ = 0;
  bool group_writes_ = false;
  std::optional<Diag> warning_;
};

}  // namespace mrvlc::driver

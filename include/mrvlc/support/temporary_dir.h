// A folder among the system's temporary files, removed with everything in it when it goes out of scope.
#pragma once
#include <filesystem>

#include "mrvlc/support/result.h"

namespace mrvlc {

class TemporaryDir {
 public:
  static Result<TemporaryDir> create();
  TemporaryDir(TemporaryDir&& o) noexcept : path_(std::move(o.path_)) { o.path_.clear(); }
  TemporaryDir& operator=(TemporaryDir&&) = delete;
  ~TemporaryDir();
  const std::filesystem::path& path() const { return path_; }

 private:
  TemporaryDir() = default;
  std::filesystem::path path_;
};

}  // namespace mrvlc

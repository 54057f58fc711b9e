// Another machine, over plain OpenSSH: a folder of its own there, files to and from it, commands in it.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "run/process.h"

namespace mrvlc::driver {

class Remote {
 public:
  // "ssh://user@host:port"; user and port may be left out. `config`: ssh's file of options, or empty. Makes
  // the folder. MRV0004: no such place; MRV1020: ssh fails.
  static Result<Remote> open(const std::string& place, const std::filesystem::path& config);
  // Removes the folder with all that is in it, after an interrupt as well.
  ~Remote();
  Remote(Remote&& o) noexcept
      : options_(std::move(o.options_)), host_(std::move(o.host_)), folder_(std::move(o.folder_)) {
    o.folder_.clear();
  }
  Remote& operator=(Remote&&) = delete;

  // Files and folders into the folder, or into one below it, which is made.
  Status send(const std::vector<std::filesystem::path>& files, const std::string& below = {}) const;
  // A folder below it, as `to`, which must not be there.
  Status fetch(const std::string& below, const std::filesystem::path& to) const;
  // In the folder. The words are taken as they are.
  Result<ProcessResult> run(const std::vector<std::string>& argv) const;
  const std::string& host() const { return host_; }

 private:
  Remote() = default;
  std::vector<std::string> ssh(const std::string& command) const;
  Status copy(std::vector<std::string> files, const std::string& to) const;

  std::vector<std::string> options_;  // of ssh and scp
  std::string host_, folder_;         // user@host; there
};

}  // namespace mrvlc::driver

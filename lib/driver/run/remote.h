// Another machine, over plain OpenSSH: a folder of its own there, files to and from it, commands in it.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "run/process.h"

namespace mrvlc::driver {

class Remote {
 public:
  // "ssh://user@host:port"; user and port may be left out, an IPv6 address stands in brackets. `config`:
  // ssh's file of options, or empty. Makes the folder. MRV0004: no such place; MRV1020: ssh fails.
  static Result<Remote> open(const std::string& place, const std::filesystem::path& config);
  // Removes the folder with all that is in it, after an interrupt as well.
  ~Remote();
  Remote(Remote&& o) noexcept
      : options_(std::move(o.options_)),
        host_(std::move(o.host_)),
        copy_host_(std::move(o.copy_host_)),
        name_(std::move(o.name_)),
        folder_(std::move(o.folder_)) {
    o.name_.clear();
  }
  Remote& operator=(Remote&&) = delete;

  // Files and folders into the folder, or into one below it, which is made.
  Status send(const std::vector<std::filesystem::path>& files, const std::string& below = {}) const;
  // A folder below it, as `to`, which must not be there.
  Status fetch(const std::string& below, const std::filesystem::path& to) const;
  // In the folder. The words are taken as they are. stdout and stderr come apart.
  Result<ProcessResult> run(const std::vector<std::string>& argv) const;
  const std::string& host() const { return host_; }

 private:
  Remote() = default;
  Status make_folder();
  // MRV1020, with what ssh or scp said.
  Diag failed(const ProcessResult& ran) const;
  std::vector<std::string> ssh(const std::string& command) const;
  std::vector<std::string> ssh(const std::string& command, const std::vector<std::string>& patience) const;
  Status copy(std::vector<std::string> files, const std::string& to) const;

  std::vector<std::string> options_;  // of ssh and scp
  std::string host_, copy_host_;      // user@host, for ssh and for scp
  std::string name_, folder_;         // of the folder: its last part, and whole, as it is there
};

}  // namespace mrvlc::driver

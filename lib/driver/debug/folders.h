// Folders of this machine taken out of texts: what is packed for strangers tells of no user and no disk.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mrvlc::driver {

class Folders {
 public:
  // `shown` stands for the folder, however it is spelled: as given, or with its links followed.
  void add(const std::filesystem::path& folder, std::string_view shown);
  std::string without(std::string text) const;

 private:
  struct Folder {
    std::string path, shown;
  };
  std::vector<Folder> all_;  // the longest first: inner folders before those around them
};

}  // namespace mrvlc::driver

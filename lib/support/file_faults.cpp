// "No such file" with the nearest name beside it, folders where files are wanted, files where folders are.
#include "mrvlc/support/file_faults.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <vector>

#include "mrvlc/support/nearest.h"

namespace mrvlc {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMostEntries = 10000;  // of a folder that are looked at

// Names of what lies beside the file, in an order that is none of the file system's.
std::set<std::string> names_beside(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code ec;
  for (fs::directory_iterator at(folder, ec), end; !ec && at != end && names.size() < kMostEntries;
       at.increment(ec))
    names.insert(at->path().filename().string());
  return names;
}

std::string near(const fs::path& path) {
  const std::set<std::string> names =
      names_beside(path.has_parent_path() ? path.parent_path() : fs::path("."));
  return did_you_mean(path.filename().string(), std::vector<std::string_view>(names.begin(), names.end()));
}

}  // namespace

std::string open_fault(const fs::path& path, int error) {
  std::string text = std::strerror(error);
  if (error != ENOENT || path.filename().empty()) return text;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code ec;
  if (fs::is_directory(folder, ec)) return text + near(path);
  return text + "; there is no folder '" + folder.string() + "'" + near(folder);
}

std::string kind_fault(const fs::path& path, mode_t mode) {
  if (!S_ISDIR(mode)) return "not a regular file";
  std::error_code ec;
  return fs::exists(path / "report.json", ec) && fs::exists(path / "manifest.json", ec)
             ? "not a regular file, but a folder that 'mrvlc compile' made; name a file, such as the model"
             : "not a regular file, but a folder; name a file in it";
}

std::string folder_fault(const fs::path& path, std::error_code error, std::string_view option) {
  return error == std::errc::not_a_directory ? std::string(option) + " takes a folder, this is a file"
                                             : open_fault(path, error.value());
}

}  // namespace mrvlc

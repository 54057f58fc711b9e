// Files in and out. Everything a compile writes goes through OutputDir: it appears whole or not at all.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "mrvlc/support/result.h"

namespace mrvlc {

// Whole file; refuses anything that is not a regular file or is larger than `max_bytes`.
Result<std::string> read_file(const std::filesystem::path& path, uint64_t max_bytes = uint64_t{2} << 30);

// Written to a temporary name in the same folder, then renamed: readers see the old or the new file. What
// exists and is no regular file (a device, a pipe, a link) is written through instead.
Status write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

// A staging folder beside the destination; commit() moves it into place in one rename. Destruction without
// commit, and a killed process, leave the destination as it was (a killed process leaves only the hidden
// staging folder, which the next compile to the same place removes).
class OutputDir {
 public:
  // A destination with files is replaced only if it has `listed_in`, the file that tells of a folder of ours.
  static Result<OutputDir> create(const std::filesystem::path& destination,
                                  const char* listed_in = "manifest.json");
  OutputDir(OutputDir&&) noexcept;
  OutputDir& operator=(OutputDir&&) noexcept;
  ~OutputDir();
  // `name`: a path below the destination, with '/' ("main.c", "mrvl/device.h"); its folders are made.
  // MRV0002: it is there already; so names of different parts never take each other's place.
  Status write(const std::string& name, std::string_view bytes);
  // A file that `fill` hands over piece by piece, of any size. Several threads may write, each a file of its
  // own.
  using Pieces = std::function<void(std::string_view)>;
  Status write_pieces(const std::string& name, const std::function<void(const Pieces&)>& fill);
  // Names and SHA-256 of the files written, in order of name.
  std::vector<std::pair<std::string, std::string>> files() const;
  // Where a file lies that was written, until commit().
  std::filesystem::path staged(const std::string& name) const { return staging_ / name; }
  Status commit();

 private:
  OutputDir() = default;
  std::filesystem::path destination_, staging_;
  int lock_fd_ = -1;
  std::vector<std::pair<std::string, std::string>> files_;
  std::unique_ptr<std::mutex> adding_ = std::make_unique<std::mutex>();  // guards files_
};

}  // namespace mrvlc

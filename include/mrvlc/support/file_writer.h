// A file written piece by piece.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "mrvlc/support/result.h"

namespace mrvlc {

// As write_file_atomic(): a temporary name in the same folder until commit() renames it, so that readers see
// the old or the new file; what exists and is no regular file (a device, a pipe, a link) is written through
// instead. Destruction without commit leaves the old file. Small pieces are gathered, up to 64 KiB.
class FileWriter {
 public:
  // Opens; errors are MRV0002 with `path`.
  static Result<FileWriter> create(const std::filesystem::path& path);
  FileWriter(FileWriter&&) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  ~FileWriter();
  Status append(std::string_view bytes);
  Status commit();

 private:
  FileWriter() = default;
  Status write(std::string_view bytes);
  std::filesystem::path path_, temporary_;  // temporary_ is empty when written through, or committed
  int fd_ = -1;
  std::string buffer_;
};

}  // namespace mrvlc

// A file whose bytes are read where they are: mapped when it is large, in memory when it is small.
// A mapped file that another process cuts short ends this one with SIGBUS on the next read of what is gone;
// the program reports that as an input error (driver/interrupt.h), and `unchanged` finds every other change.
#pragma once
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "mrvlc/support/result.h"

namespace mrvlc {

class MappedFile : public std::enable_shared_from_this<MappedFile> {
 public:
  // Smaller files are read: mapping them gains nothing, and nothing can happen to them afterwards.
  static constexpr uint64_t kMapFrom = 1u << 20;

  // MRV0001 it cannot be opened, MRV0003 it is no regular file or cannot be read, MRV0005 it is too large.
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path,
                                                        uint64_t max_bytes);
  // Takes the descriptor over; `shown` names the file in messages.
  static Result<std::shared_ptr<const MappedFile>> from_fd(int fd, std::string shown, uint64_t max_bytes);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }
  // Keeps the file; when the last copy goes, the pages that lie whole in [offset, offset + size) are given
  // back, so that a constant which was replaced takes no memory.
  std::shared_ptr<const void> hold(size_t offset, size_t size) const;
  // Of the file as it is now, read in small pieces and not by way of the mapping. MRV0003.
  Result<std::string> sha256() const;
  // MRV0003 when size or times of the file are no longer those it had when it was opened.
  Status unchanged() const;

 private:
  MappedFile(int fd, std::string shown) : fd_(fd), shown_(std::move(shown)) {}
  Status load(uint64_t max_bytes);
  Status read_all(size_t size);

  int fd_;
  std::string shown_;
  struct stat stat_ {};
  std::string small_;  // the bytes when they are not mapped
  bool mapped_ = false;
  std::span<const std::byte> bytes_;
};

}  // namespace mrvlc

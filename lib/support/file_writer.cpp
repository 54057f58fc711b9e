// A buffer in front of write(2), a temporary name renamed in the end; devices and pipes written in place.
#include "mrvlc/support/file_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "mrvlc/support/diag/general.h"
#include "staging.h"

namespace mrvlc {
namespace fs = std::filesystem;
namespace {

constexpr size_t kBufferBytes = 64 << 10;

Diag cannot_write(const fs::path& path) {
  return make_diag<DiagCode::MRV0002>(path.string(),
                                      errno == ENXIO ? "nothing reads from this pipe" : std::strerror(errno));
}

// A FIFO that nothing reads is an error (ENXIO) and is not waited for; once open, its reader may be slow.
int open_in_place(const fs::path& path) {
  int fd = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK);
  if (fd >= 0) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

}  // namespace

Result<FileWriter> FileWriter::create(const fs::path& path) {
  FileWriter w;
  w.path_ = path;
  std::error_code ec;
  fs::file_status kind = fs::symlink_status(path, ec);
  if (fs::exists(kind) && !fs::is_regular_file(kind)) {
    // A rename would put a file in the place of /dev/stdout, a pipe or a link.
    w.fd_ = open_in_place(path);
  } else {
    fs::path temporary = staging_name(path);
    w.fd_ = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (w.fd_ >= 0) w.temporary_ = std::move(temporary);
  }
  if (w.fd_ < 0) return cannot_write(path);
  return w;
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)),
      buffer_(std::move(other.buffer_)) {}

FileWriter::~FileWriter() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status FileWriter::append(std::string_view bytes) {
  if (buffer_.size() + bytes.size() < kBufferBytes) {
    buffer_ += bytes;
    return {};
  }
  MRVLC_TRY(write(std::exchange(buffer_, {})));
  return write(bytes);
}

Status FileWriter::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return cannot_write(path_);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status FileWriter::commit() {
  MRVLC_TRY(write(std::exchange(buffer_, {})));
  if (::close(std::exchange(fd_, -1)) != 0) return cannot_write(path_);
  if (temporary_.empty()) return {};
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return cannot_write(path_);
  temporary_.clear();
  return {};
}

}  // namespace mrvlc

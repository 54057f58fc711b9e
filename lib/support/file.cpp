// Whole files read with a limit, and OUT staged beside its place under a lock, exchanged in one rename.
#include "mrvlc/support/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file_faults.h"
#include "mrvlc/support/file_names.h"
#include "mrvlc/support/file_writer.h"
#include "mrvlc/support/hash.h"
#include "staging.h"

namespace mrvlc {
namespace fs = std::filesystem;
namespace {

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string error_text() {
  return std::strerror(errno);
}

Status write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return make_diag<DiagCode::MRV0002>(path.string(), error_text());
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

// Others write for as long as their output is large; who waits longer is told of them.
constexpr std::chrono::milliseconds kWait{5000}, kBetween{20};

// A file that nobody else holds, or -1 with errno. Whoever is done removes the file, so what was opened
// before may be one that others no longer see.
int take_lock(const std::string& path) {
  for (std::chrono::milliseconds waited{0};;) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) return -1;
    const bool held = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
    const int fault = errno;
    struct stat ours {};
    struct stat there {};
    if (held && ::fstat(fd, &ours) == 0 && ::stat(path.c_str(), &there) == 0 && ours.st_ino == there.st_ino)
      return fd;
    ::close(fd);
    errno = fault;
    if (held) continue;
    if (fault != EWOULDBLOCK || waited >= kWait) return -1;
    std::this_thread::sleep_for(kBetween);
    waited += kBetween;
  }
}

}  // namespace

Result<std::string> read_file(const fs::path& path, uint64_t max_bytes) {
  // O_NONBLOCK: a FIFO must be refused, not waited for.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return make_diag<DiagCode::MRV0001>(path.string(), open_fault(path, errno));
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) return make_diag<DiagCode::MRV0003>(path.string(), error_text());
  if (!S_ISREG(st.st_mode)) return make_diag<DiagCode::MRV0003>(path.string(), kind_fault(path, st.st_mode));
  auto size = static_cast<uint64_t>(st.st_size);
  if (size > max_bytes) return make_diag<DiagCode::MRV0005>(size, max_bytes);
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    ssize_t n = ::read(fd.get(), bytes.data() + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return make_diag<DiagCode::MRV0003>(path.string(), error_text());
    if (n == 0) return make_diag<DiagCode::MRV0003>(path.string(), "it became shorter while it was read");
    done += static_cast<size_t>(n);
  }
  return bytes;
}

Status write_file_atomic(const fs::path& path, std::string_view bytes) {
  MRVLC_ASSIGN(FileWriter writer, FileWriter::create(path));
  MRVLC_TRY(writer.append(bytes));
  return writer.commit();
}

Result<OutputDir> OutputDir::create(const fs::path& destination, const char* listed_in) {
  OutputDir dir;
  std::error_code ec;
  dir.destination_ = fs::absolute(destination, ec).lexically_normal();
  if (!dir.destination_.has_filename()) dir.destination_ = dir.destination_.parent_path();
  const std::string shown = destination.string();
  if (fs::is_symlink(fs::symlink_status(dir.destination_, ec))) {
    return make_diag<DiagCode::MRV0002>(shown, "it is a symbolic link");
  }
  if (fs::exists(dir.destination_, ec)) {
    // Only a folder that a compile made, or an empty one, is replaced: never somebody's home.
    bool ours = fs::is_directory(dir.destination_, ec) &&
                (fs::is_empty(dir.destination_, ec) || fs::exists(dir.destination_ / listed_in, ec));
    if (!ours)
      return make_diag<DiagCode::MRV0002>(
          shown,
          fmt::format("it exists and no compile wrote it (no {}); name another, or empty it", listed_in));
  }
  fs::create_directories(dir.destination_.parent_path(), ec);
  if (ec) return make_diag<DiagCode::MRV0002>(shown, ec.message());
  dir.staging_ = staging_name(dir.destination_);
  dir.lock_fd_ = take_lock(dir.staging_.string() + ".lock");
  if (dir.lock_fd_ < 0) {
    const bool busy = errno == EWOULDBLOCK;
    return make_diag<DiagCode::MRV0002>(shown, busy ? "another compile is writing it" : error_text());
  }
  // Left by a compile that was killed: the lock says that nobody is writing it.
  fs::remove_all(dir.staging_, ec);
  if (!fs::create_directory(dir.staging_, ec)) return make_diag<DiagCode::MRV0002>(shown, ec.message());
  return dir;
}

OutputDir::OutputDir(OutputDir&& o) noexcept {
  *this = std::move(o);
}

OutputDir& OutputDir::operator=(OutputDir&& o) noexcept {
  std::swap(destination_, o.destination_);
  std::swap(staging_, o.staging_);
  std::swap(lock_fd_, o.lock_fd_);
  std::swap(files_, o.files_);
  return *this;
}

OutputDir::~OutputDir() {
  if (lock_fd_ < 0) return;
  std::error_code ec;
  fs::remove_all(staging_, ec);
  // Where no file can be opened any more (ulimit -n), the lock's is needed to list the folder; under a name
  // of its own nobody takes it for theirs.
  const fs::path left = staging_.string() + "." + std::to_string(::getpid());
  if (ec) fs::rename(staging_, left, ec);
  ::unlink((staging_.string() + ".lock").c_str());
  ::close(lock_fd_);
  fs::remove_all(left, ec);
}

Status OutputDir::write(const std::string& name, std::string_view bytes) {
  return write_pieces(name, [&](const Pieces& piece) { piece(bytes); });
}

Status OutputDir::write_pieces(const std::string& name, const std::function<void(const Pieces&)>& fill) {
  const fs::path shown = destination_ / name;  // in messages: the file's final place
  std::error_code ec;
  if (const fs::path folder = fs::path(name).parent_path(); !folder.empty())
    fs::create_directories(staging_ / folder, ec);
  if (ec) return make_diag<DiagCode::MRV0002>(shown.string(), ec.message());
  Fd fd(::open((staging_ / name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (fd.get() < 0 && errno == EEXIST)
    return make_diag<DiagCode::MRV0002>(shown.string(),
                                        "two files of this output are called so; another --name, or another "
                                        "name of a library's file, parts them");
  if (fd.get() < 0) return make_diag<DiagCode::MRV0002>(shown.string(), error_text());
  Sha256 hash;
  Status status;
  fill([&](std::string_view bytes) {
    if (!status.ok()) return;
    status = write_all(fd.get(), bytes, shown);
    hash.add(std::as_bytes(std::span(bytes)));
  });
  if (!status.ok()) return status;
  const std::lock_guard lock(*adding_);
  for (const auto& [other, sha] : files_)
    if (same_file(other, name))
      return make_diag<DiagCode::MRV0002>(
          shown.string(),
          fmt::format("'{}' of this output is the same file where upper and lower case are the "
                      "same; another --name, or another name of a library's file, parts them",
                      printable(other)));
  files_.emplace_back(name, hash.hex());
  return {};
}

std::vector<std::pair<std::string, std::string>> OutputDir::files() const {
  auto sorted = files_;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

Status OutputDir::commit() {
  std::error_code ec;
  if (fs::exists(destination_, ec)) {
    // Exchange is atomic: at every moment the destination is either the old output, whole, or the new one,
    // whole.
    if (::renameat2(AT_FDCWD, staging_.c_str(), AT_FDCWD, destination_.c_str(), RENAME_EXCHANGE) != 0) {
      return make_diag<DiagCode::MRV0002>(destination_.string(), error_text());
    }
    fs::remove_all(staging_, ec);
    return {};
  }
  if (::rename(staging_.c_str(), destination_.c_str()) != 0) {
    return make_diag<DiagCode::MRV0002>(destination_.string(), error_text());
  }
  return {};
}

}  // namespace mrvlc

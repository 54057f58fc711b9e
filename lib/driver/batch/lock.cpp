// flock: of the folder for a batch without shards, shared by shards, of which each has one of its own.
#include "batch/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/file.h"

namespace mrvlc::driver {
namespace {

constexpr size_t kMostShown = 1000;

// Who this is, for one who comes later.
std::string self(const BatchOptions& options) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::string text = fmt::format("process {} on {}", ::getpid(), host.data());
  if (options.shards > 1) text += fmt::format(", --shard {}/{}", options.shard, options.shards);
  const char* sign = ": ";
  for (const auto& model : options.models) text += std::exchange(sign, " ") + printable(model.string(), 200);
  return printable(text, kMostShown);
}

}  // namespace

BatchLock::BatchLock(BatchLock&& other) noexcept : files_(std::exchange(other.files_, {})) {}

BatchLock::~BatchLock() {
  for (const int fd : files_) ::close(fd);
}

Status BatchLock::add(const std::filesystem::path& file, int how, const BatchOptions& options) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return make_diag<DiagCode::MRV0002>(file.string(), std::strerror(errno));
  files_.push_back(fd);
  if (::flock(fd, how | LOCK_NB) == 0) {
    const std::string text = self(options) + "\n";
    const bool written = ::ftruncate(fd, 0) == 0 && ::pwrite(fd, text.data(), text.size(), 0) > 0;
    return written ? Status() : make_diag<DiagCode::MRV0002>(file.string(), std::strerror(errno));
  }
  if (errno != EWOULDBLOCK) return {};  // a file system without locks
  std::array<char, kMostShown> theirs{};
  const ssize_t n = ::pread(fd, theirs.data(), theirs.size(), 0);
  std::string other(theirs.data(), n > 0 ? static_cast<size_t>(n) : 0);
  other.resize(std::min(other.size(), other.find('\n')));
  return make_diag<DiagCode::MRV1081>(printable(options.out.string(), 4096), printable(other, kMostShown),
                                      self(options));
}

Result<BatchLock> BatchLock::take(const BatchOptions& options) {
  BatchLock lock;
  const auto folder = options.out / ".batch";
  const bool whole = options.shards == 1;
  MRVLC_TRY(lock.add(folder / ".lock", whole ? LOCK_EX : LOCK_SH, options));
  if (!whole)
    MRVLC_TRY(lock.add(folder / fmt::format(".lock-{}-{}", options.shard, options.shards), LOCK_EX, options));
  return lock;
}

}  // namespace mrvlc::driver

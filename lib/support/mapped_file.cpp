// mmap, pages given back when their holder goes; small files by pread; whether a file has changed since.
#include "mrvlc/support/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file_faults.h"
#include "mrvlc/support/hash.h"

namespace mrvlc {
namespace {

constexpr const char* kShorter = "it became shorter while it was read";

// Bytes read, or -1; what signals interrupt is read on.
ssize_t read_at(int fd, char* to, size_t size, size_t offset) {
  ssize_t n = 0;
  do {
    n = ::pread(fd, to, size, static_cast<off_t>(offset));
  } while (n < 0 && errno == EINTR);
  return n;
}

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path,
                                                           uint64_t max_bytes) {
  // O_NONBLOCK: a FIFO must be refused, not waited for.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return make_diag<DiagCode::MRV0001>(path.string(), open_fault(path, errno));
  return from_fd(fd, path.string(), max_bytes);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::from_fd(int fd, std::string shown, uint64_t max_bytes) {
  std::shared_ptr<MappedFile> file(new MappedFile(fd, std::move(shown)));
  MRVLC_TRY(file->load(max_bytes));
  return std::shared_ptr<const MappedFile>(std::move(file));
}

MappedFile::~MappedFile() {
  if (mapped_) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  ::close(fd_);
}

Status MappedFile::load(uint64_t max_bytes) {
  if (::fstat(fd_, &stat_) != 0) return make_diag<DiagCode::MRV0003>(shown_, std::strerror(errno));
  if (!S_ISREG(stat_.st_mode)) return make_diag<DiagCode::MRV0003>(shown_, kind_fault(shown_, stat_.st_mode));
  auto size = static_cast<size_t>(stat_.st_size);
  if (size > max_bytes) return make_diag<DiagCode::MRV0005>(size, max_bytes);
  if (size < kMapFrom) return read_all(size);
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd_, 0);
  if (at == MAP_FAILED) return read_all(size);  // some file systems cannot map
  mapped_ = true;
  bytes_ = {static_cast<const std::byte*>(at), size};
  return {};
}

Status MappedFile::read_all(size_t size) {
  small_.resize(size);
  for (size_t done = 0; done < size;) {
    ssize_t n = read_at(fd_, small_.data() + done, size - done, done);
    if (n < 0) return make_diag<DiagCode::MRV0003>(shown_, std::strerror(errno));
    if (n == 0) return make_diag<DiagCode::MRV0003>(shown_, kShorter);
    done += static_cast<size_t>(n);
  }
  bytes_ = std::as_bytes(std::span(small_.data(), small_.size()));
  return {};
}

std::shared_ptr<const void> MappedFile::hold(size_t offset, size_t size) const {
  constexpr size_t kWorthGivingBack = 1u << 16;
  if (!mapped_ || size < kWorthGivingBack) return shared_from_this();
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  size_t begin = (offset + page - 1) / page * page, end = (offset + size) / page * page;
  return {bytes_.data(), [self = shared_from_this(), begin, end](const std::byte* base) {
            // Read again from the file should somebody else hold them, too.
            if (begin < end) ::madvise(const_cast<std::byte*>(base) + begin, end - begin, MADV_DONTNEED);
          }};
}

Result<std::string> MappedFile::sha256() const {
  if (!mapped_) return sha256_hex(bytes_);
  Sha256 hash;
  std::string piece(size_t{1} << 18, '\0');
  for (size_t done = 0; done < bytes_.size();) {
    ssize_t n = read_at(fd_, piece.data(), std::min(piece.size(), bytes_.size() - done), done);
    if (n < 0) return make_diag<DiagCode::MRV0003>(shown_, std::strerror(errno));
    if (n == 0) return make_diag<DiagCode::MRV0003>(shown_, kShorter);
    hash.add(std::as_bytes(std::span(piece.data(), static_cast<size_t>(n))));
    done += static_cast<size_t>(n);
  }
  return hash.hex();
}

Status MappedFile::unchanged() const {
  if (!mapped_) return {};  // what was read stays what it is
  struct stat now {};
  if (::fstat(fd_, &now) != 0) return make_diag<DiagCode::MRV0003>(shown_, std::strerror(errno));
  if (now.st_size == stat_.st_size && same_time(now.st_mtim, stat_.st_mtim) &&
      same_time(now.st_ctim, stat_.st_ctim))
    return {};
  return make_diag<DiagCode::MRV0003>(shown_, "it changed while it was compiled");
}

}  // namespace mrvlc

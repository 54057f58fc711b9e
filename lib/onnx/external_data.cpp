#include "external_data.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::onnx {
namespace {

Diag refused(const std::string& tensor, std::string_view why) {
  return make_diag<DiagCode::MRV0123>(printable(tensor), why);
}

Diag unreadable(const std::string& tensor, const std::string& file, std::string_view why) {
  return make_diag<DiagCode::MRV0124>(printable(tensor), printable(file), why);
}

bool parse_number(const std::string& text, uint64_t& value) {
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  return ec == std::errc() && end == text.data() + text.size() && value <= INT64_MAX;
}

// Components of a relative path, or nothing when one of them is "..".
std::optional<std::vector<std::string>> components(const std::string& file) {
  std::vector<std::string> parts;
  for (const auto& part : std::filesystem::path(file)) {
    if (part == "..") return std::nullopt;
    if (!part.empty() && part != ".") parts.push_back(part.string());
  }
  return parts;
}

constexpr int kFileFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;

// For kernels and sandboxes without openat2: one component at a time, none of them a link.
Fd open_by_steps(int folder, const std::vector<std::string>& parts) {
  Fd at(::fcntl(folder, F_DUPFD_CLOEXEC, 0));
  for (size_t i = 0; i < parts.size() && at.get() >= 0; ++i) {
    int flags = i + 1 == parts.size() ? kFileFlags : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    at = Fd(::openat(at.get(), parts[i].c_str(), flags));
  }
  return at;
}

Fd open_beneath(int folder, const std::string& file, const std::vector<std::string>& parts) {
  open_how how{};
  how.flags = kFileFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  auto fd = static_cast<int>(::syscall(SYS_openat2, folder, file.c_str(), &how, sizeof how));
  if (fd < 0 && (errno == ENOSYS || errno == EPERM)) return open_by_steps(folder, parts);
  return Fd(fd);
}

bool unchanged(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec && a.st_ctim.tv_sec == b.st_ctim.tv_sec &&
         a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

bool read_at(int fd, uint64_t offset, std::string& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t n = ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

Result<ExternalData::Location> ExternalData::locate(const pb::TensorProto& tensor, uint64_t bytes) const {
  Location where;
  where.length = bytes;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") where.file = entry.value();
    if (entry.key() == "offset" && !parse_number(entry.value(), where.offset)) {
      return refused(tensor.name(), "offset '" + printable(entry.value()) + "' is not a number from 0");
    }
    if (entry.key() == "length" && !parse_number(entry.value(), where.length)) {
      return refused(tensor.name(), "length '" + printable(entry.value()) + "' is not a number from 0");
    }
  }
  if (where.file.empty()) return refused(tensor.name(), "no location is given");
  if (where.length != bytes) {
    return refused(tensor.name(), fmt::format("length is {}, the shape needs {} bytes", where.length, bytes));
  }
  return where;
}

Result<Fd> ExternalData::open(const std::string& tensor, const std::string& file) const {
  if (file.find('\0') != std::string::npos) return refused(tensor, "the location holds a NUL");
  if (std::filesystem::path(file).is_absolute()) return refused(tensor, "the location is an absolute path");
  auto parts = components(file);
  if (!parts) return refused(tensor, "the location holds '..'");
  int error = ENOENT;
  for (const auto& path : folders_) {
    Fd folder(::open(path.empty() ? "." : path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0) continue;
    Fd fd = open_beneath(folder.get(), file, *parts);
    if (fd.get() >= 0) return fd;
    error = errno;
    if (error != ENOENT) break;
  }
  if (error == ELOOP || error == EXDEV) return refused(tensor, "the location leads through a symbolic link");
  return unreadable(tensor, file, std::strerror(error));
}

Result<Tensor> ExternalData::load_range(int fd, const std::string& tensor, const Location& where,
                                        const TensorType& type) {
  struct stat before {
  }, after{};
  if (::fstat(fd, &before) != 0) return unreadable(tensor, where.file, std::strerror(errno));
  if (!S_ISREG(before.st_mode)) return refused(tensor, "the location is not a regular file");
  if (before.st_nlink != 1) return refused(tensor, "the file has more than one hard link");
  auto size = static_cast<uint64_t>(before.st_size);
  if (where.offset > size || where.length > size - where.offset) {
    return refused(tensor, fmt::format("{} bytes at {} are beyond the file's {} bytes", where.length,
                                       where.offset, size));
  }
  auto& ranges = ranges_[FileId{static_cast<uint64_t>(before.st_dev), static_cast<uint64_t>(before.st_ino)}];
  const uint64_t end = where.offset + where.length;
  auto next = ranges.upper_bound(where.offset);
  if (next != ranges.begin()) {
    const auto& [start, range] = *std::prev(next);
    if (start == where.offset && range.end == end && range.tensor.elem() == type.elem) {
      return range.tensor.reshaped(type.shape);
    }
    if (range.end > where.offset) return refused(tensor, "it overlaps the data of another tensor");
  }
  if (next != ranges.end() && next->first < end)
    return refused(tensor, "it overlaps the data of another tensor");
  std::string bytes(where.length, '\0');
  if (!read_at(fd, where.offset, bytes))
    return unreadable(tensor, where.file, "it became shorter while it was read");
  if (::fstat(fd, &after) != 0 || !unchanged(before, after)) {
    return unreadable(tensor, where.file, "it changed while it was read");
  }
  Tensor loaded(type, std::move(bytes));
  if (where.length > 0) ranges[where.offset] = Range{end, loaded};
  return loaded;
}

Result<Tensor> ExternalData::load(const pb::TensorProto& tensor, const TensorType& type) {
  MRVLC_ASSIGN(Location where, locate(tensor, static_cast<uint64_t>(type.bytes())));
  MRVLC_ASSIGN(Fd fd, open(tensor.name(), where.file));
  return load_range(fd.get(), tensor.name(), where, type);
}

}  // namespace mrvlc::onnx

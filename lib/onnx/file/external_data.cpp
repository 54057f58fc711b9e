// Opens a location beneath allowed folders (openat2, or step by step) and hands out ranges of its mapping.
#include "file/external_data.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
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

bool is_lfs_pointer(std::span<const std::byte> bytes) {
  constexpr std::string_view kBegin = "version https://git-lfs";
  return bytes.size() >= kBegin.size() && std::memcmp(bytes.data(), kBegin.data(), kBegin.size()) == 0;
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

// O_NONBLOCK, O_NOCTTY: a FIFO or a terminal must be refused, not waited for or taken over.
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

Result<ExternalData::Opened> ExternalData::open(const std::string& tensor, const std::string& file) const {
  if (file.find('\0') != std::string::npos) return refused(tensor, "the location holds a NUL");
  if (std::filesystem::path(file).is_absolute()) return refused(tensor, "the location is an absolute path");
  auto parts = components(file);
  if (!parts) return refused(tensor, "the location holds '..'");
  int error = ENOENT;
  for (const auto& path : folders_) {
    Fd folder(::open(path.empty() ? "." : path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0) continue;
    Fd fd = open_beneath(folder.get(), file, *parts);
    if (fd.get() >= 0) return Opened{std::move(fd), path / std::filesystem::path(file).lexically_normal()};
    error = errno;
    if (error != ENOENT) break;
  }
  if (error == ELOOP || error == EXDEV) return refused(tensor, "the location leads through a symbolic link");
  if (error == ENOENT)
    return unreadable(
        tensor, file,
        "there is no such file beside the model or in --external-data-dir; copy it there, or name "
        "its folder");
  return unreadable(tensor, file, std::strerror(error));
}

Result<ExternalData::File*> ExternalData::file(Opened found, const std::string& tensor,
                                               const Location& where) {
  struct stat st {};
  if (::fstat(found.fd.get(), &st) != 0) return unreadable(tensor, where.file, std::strerror(errno));
  if (!S_ISREG(st.st_mode)) return refused(tensor, "the location is not a regular file");
  // A hard link leads to a file of another folder, as a symbolic one does, and cannot be seen in the path.
  if (st.st_nlink != 1) return refused(tensor, "the file has more than one hard link");
  File& file = files_[FileId{static_cast<uint64_t>(st.st_dev), static_cast<uint64_t>(st.st_ino)}];
  if (file.bytes == nullptr) {
    auto opened = MappedFile::from_fd(found.fd.release(), where.file, INT64_MAX);
    if (!opened.ok()) return unreadable(tensor, where.file, opened.error().message);
    file.bytes = *std::move(opened);
    file.path = std::move(found.path);
    file.location = where.file;
  }
  return &file;
}

Result<Tensor> ExternalData::load_range(File& file, const std::string& tensor, const Location& where,
                                        const TensorType& type) {
  const uint64_t size = file.bytes->bytes().size();
  if (where.offset > size || where.length > size - where.offset) {
    if (is_lfs_pointer(file.bytes->bytes()))
      return unreadable(tensor, where.file, "it is a Git-LFS pointer; 'git lfs pull' fetches the file");
    return refused(tensor, fmt::format("{} bytes at {} are beyond the file's {} bytes", where.length,
                                       where.offset, size));
  }
  const uint64_t end = where.offset + where.length;
  auto next = file.ranges.upper_bound(where.offset);
  if (next != file.ranges.begin()) {
    const auto& [start, range] = *std::prev(next);
    if (start == where.offset && range.end == end && range.tensor.elem() == type.elem) {
      return range.tensor.reshaped(type.shape);
    }
    if (range.end > where.offset) return refused(tensor, "it overlaps the data of another tensor");
  }
  if (next != file.ranges.end() && next->first < end)
    return refused(tensor, "it overlaps the data of another tensor");
  Tensor loaded = Tensor::view(type, file.bytes->bytes().subspan(where.offset, where.length),
                               file.bytes->hold(where.offset, where.length));
  if (where.length > 0) file.ranges[where.offset] = Range{end, loaded};
  return loaded;
}

Result<Tensor> ExternalData::load(const pb::TensorProto& tensor, const TensorType& type) {
  MRVLC_ASSIGN(Location where, locate(tensor, static_cast<uint64_t>(type.bytes())));
  MRVLC_ASSIGN(Opened found, open(tensor.name(), where.file));
  MRVLC_ASSIGN(File * used, file(std::move(found), tensor.name(), where));
  return load_range(*used, tensor.name(), where, type);
}

std::vector<ModelFile> ExternalData::files() const {
  std::vector<ModelFile> all;
  for (const auto& [id, file] : files_) all.push_back(file);
  std::sort(all.begin(), all.end(),
            [](const ModelFile& a, const ModelFile& b) { return a.location < b.location; });
  return all;
}

}  // namespace mrvlc::onnx

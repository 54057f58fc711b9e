// Records read, whether files changed (size, time, hash), files replaced in one rename.
#include "batch/record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/support/mapped_file.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kTick = 1'000'000'000;  // of file systems' clocks, at the most

}  // namespace

std::optional<BatchRecord> parse_record(std::string_view text) {
  auto record = json::parsed<BatchRecord>(Json::parse(text, nullptr, false));
  return record && !record->files.empty() ? std::move(record) : std::nullopt;
}

std::vector<BatchMessage> batch_messages(const Diagnostics& diagnostics) {
  constexpr const char* kNames[] = {"note", "warning", "error"};
  std::vector<BatchMessage> out;
  for (const Diag& d : diagnostics.list())
    out.push_back({std::string(diag_info(d.code).name), kNames[static_cast<size_t>(d.severity())],
                   printable(d.node), printable(d.op_type), idmap::json_text(d.message)});
  return out;
}

bool note_stat(BatchFile& file) {
  struct stat st {};
  if (::stat(file.path.c_str(), &st) != 0) return false;
  file.bytes = st.st_size;
  file.changed = int64_t{st.st_mtim.tv_sec} * 1'000'000'000 + st.st_mtim.tv_nsec;
  return true;
}

std::string hash_of(const fs::path& file) {
  auto mapped = MappedFile::open(file, UINT64_MAX);
  if (!mapped.ok()) return {};
  auto hash = (*mapped)->sha256();
  return hash.ok() ? *hash : std::string();
}

bool unchanged(const std::vector<BatchFile>& files, int64_t recorded) {
  for (const BatchFile& was : files) {
    BatchFile is = was;
    if (!note_stat(is) || is.bytes != was.bytes) return false;
    // Within a tick of the record a file may have changed once more without its time showing it.
    const bool plain = is.changed == was.changed && is.changed + kTick < recorded;
    if (!plain && hash_of(is.path) != was.sha256) return false;
  }
  return true;
}

Status write_shared(const fs::path& file, std::string_view text) {
  const fs::path temporary = file.parent_path() / fmt::format(".{}.{}", file.filename().string(), ::getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
  const auto failed = [&] {
    Diag d = make_diag<DiagCode::MRV0002>(file.string(), std::strerror(errno));
    ::unlink(temporary.c_str());
    return d;
  };
  if (fd < 0) return failed();
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      Diag d = failed();
      ::close(fd);
      return d;
    }
    text.remove_prefix(static_cast<size_t>(n));
  }
  ::close(fd);
  if (::rename(temporary.c_str(), file.c_str()) != 0) return failed();
  return {};
}

}  // namespace mrvlc::driver

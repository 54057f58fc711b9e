// mkdtemp in the system's folder for them; the destructor removes it whole.
#include "mrvlc/support/temporary_dir.h"

#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "mrvlc/support/diag/general.h"

namespace mrvlc {
namespace fs = std::filesystem;

Result<TemporaryDir> TemporaryDir::create() {
  TemporaryDir dir;
  std::error_code ec;
  const fs::path folder = fs::temp_directory_path(ec);
  const char* said = std::getenv("TMPDIR");
  const std::string named = fmt::format(
      "TMPDIR={}", said != nullptr ? printable(said, 4096) : "(not set), so '" + folder.string() + "'");
  if (ec) return make_diag<DiagCode::MRV0002>(named, ec.message());
  std::string pattern = (folder / "mrvlc-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return make_diag<DiagCode::MRV0002>(named, std::strerror(errno));
  dir.path_ = pattern;
  return dir;
}

TemporaryDir::~TemporaryDir() {
  std::error_code ec;
  if (!path_.empty()) fs::remove_all(path_, ec);
}

}  // namespace mrvlc

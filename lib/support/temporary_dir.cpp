// mkdtemp in the system's folder for them; the destructor removes it whole.
#include "mrvlc/support/temporary_dir.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "mrvlc/support/diag/general.h"

namespace mrvlc {
namespace fs = std::filesystem;

Result<TemporaryDir> TemporaryDir::create() {
  TemporaryDir dir;
  std::error_code ec;
  std::string pattern = (fs::temp_directory_path(ec) / "mrvlc-XXXXXX").string();
  if (ec || ::mkdtemp(pattern.data()) == nullptr)
    return make_diag<DiagCode::MRV0003>("temporary folder", std::strerror(errno));
  dir.path_ = pattern;
  return dir;
}

TemporaryDir::~TemporaryDir() {
  std::error_code ec;
  if (!path_.empty()) fs::remove_all(path_, ec);
}

}  // namespace mrvlc

// Folders and files of tests.
#pragma once
#include <string>
#include <string_view>

#include "mrvlc/support/temporary_dir.h"

namespace mrvlc::test {

// Folder with data/zoo and data/golden: $MRVLC_SHARED, or `shared` beside the checkout; empty when there is
// none.
std::filesystem::path shared_data();

// A folder of its own for a test, removed at the end.
class TempDir {
 public:
  TempDir();
  const std::filesystem::path& path() const { return dir_.path(); }
  void write(const std::string& name, std::string_view bytes) const;

 private:
  TemporaryDir dir_;
};

// All of a file.
std::string slurp(const std::filesystem::path& file);

}  // namespace mrvlc::test

// Models of others, where they are installed: each is imported, or refused with a code.
#include <cstdio>
#include <cstdlib>

#include "model_util.h"

namespace mrvlc::test {
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> models_under(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code ec;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ec)) {
    if (entry.path().extension() == ".onnx") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// MRVLC_TEST_VERBOSE lists what each model led to.
void import_all(const fs::path& folder) {
  const bool verbose = std::getenv("MRVLC_TEST_VERBOSE") != nullptr;
  for (const fs::path& path : models_under(folder)) {
    Outcome outcome;
    outcome.model = onnx::import_file(path, {}, outcome.diagnostics);
    INFO(path.string() << "\n" << outcome.text());
    if (verbose) {
      std::string shown = outcome.model ? "imported\n" : outcome.text();
      std::printf("%s: %s", path.lexically_relative(folder).c_str(), shown.substr(0, 400).c_str());
      if (shown.size() > 400) std::printf("...\n");
    }
    if (outcome.model.has_value()) {
      check_imported(outcome);
    } else {
      CHECK((outcome.diagnostics.exit_code() == 1 || outcome.diagnostics.exit_code() == 4));
    }
  }
}

}  // namespace

TEST_CASE("ONNX's own test models", "[onnx][corpus]") {
  import_all("/usr/share/libonnx-testdata/data");
}

TEST_CASE("real models", "[onnx][corpus]") {
  const char* shared = std::getenv("MRVLC_SHARED");
  if (shared != nullptr) import_all(fs::path(shared) / "data" / "zoo");
}

}  // namespace mrvlc::test

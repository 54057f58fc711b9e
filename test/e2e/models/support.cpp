#include "support.h"

#include "paths.h"

namespace mrvlc::test {
namespace fs = std::filesystem;

fs::path own_model(const std::string& relative) {
  return fs::path(MRVLC_SOURCE_DIR) / "models" / relative;
}
fs::path generated_model(const std::string& name) {
  return fs::path(MRVLC_BINARY_DIR) / "models" / (name + ".onnx");
}

fs::path scratch(const std::string& name) {
  fs::path folder = fs::path(MRVLC_BINARY_DIR) / "test-output" / name;
  fs::remove_all(folder);
  fs::create_directories(folder.parent_path());
  return folder;
}

Json read_json(const fs::path& file) {
  return Json::parse(slurp(file));
}

std::string text_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diag& d : diagnostics.list()) text += format_diag("model", d) + "\n";
  return text;
}

bool compile(driver::CompileOptions options, std::string& errors) {
  Diagnostics diagnostics;
  bool ok = driver::compile(options, diagnostics, [](const std::string&) {});
  errors = text_of(diagnostics);
  return ok;
}

std::optional<double> verify(const driver::VerifyOptions& options, std::string& errors) {
  Diagnostics diagnostics;
  auto comparisons = driver::verify(options, diagnostics);
  errors = text_of(diagnostics);
  if (comparisons.empty() || diagnostics.exit_code() == 1) return std::nullopt;
  double worst = 0;
  for (const auto& c : comparisons) worst = std::max(worst, c.error);
  return worst;
}

}  // namespace mrvlc::test

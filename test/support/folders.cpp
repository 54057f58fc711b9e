#include "folders.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "paths.h"

namespace mrvlc::test {
namespace fs = std::filesystem;
namespace {

TemporaryDir must_create() {
  auto dir = TemporaryDir::create();
  if (!dir.ok()) FAIL(dir.error().message);
  return std::move(dir).value();
}

}  // namespace

fs::path shared_data() {
  const char* variable = std::getenv("MRVLC_SHARED");
  fs::path folder =
      variable != nullptr ? fs::path(variable) : fs::path(MRVLC_SOURCE_DIR).parent_path() / "shared";
  return fs::exists(folder / "data" / "zoo") ? folder / "data" : fs::path();
}

TempDir::TempDir() : dir_(must_create()) {}

void TempDir::write(const std::string& name, std::string_view bytes) const {
  std::ofstream out(path() / name, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string slurp(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace mrvlc::test

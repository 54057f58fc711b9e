#include "compiled.h"

#include <fstream>

#include "paths.h"

namespace mrvlc::test {
namespace fs = std::filesystem;

std::string Compiled::text(const std::string& file) const {
  std::ifstream in(out / file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Json Compiled::json(const std::string& file) const {
  return Json::parse(text(file));
}

Json Compiled::profile() const {
  driver::ProfileOptions options;
  options.out = out;
  options.json = true;
  auto text = driver::profile(options);
  if (!text.ok()) FAIL(text.error().message);
  return Json::parse(*text);
}

size_t Compiled::count(DiagId code) const {
  size_t n = 0;
  for (const Diag& d : diagnostics.list()) n += d.code == code;
  return n;
}

std::string Compiled::messages() const {
  std::string all;
  for (const Diag& d : diagnostics.list()) all += format_diag("model", d) + "\n";
  return all;
}

Compiled compile_model(const pb::ModelProto& model, const std::string& name,
                       const std::function<void(driver::CompileOptions&)>& change) {
  fs::path folder = fs::path(MRVLC_BINARY_DIR) / "test-output/counted" / name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  const fs::path file = folder / (name + ".onnx");
  { std::ofstream(file, std::ios::binary) << model.SerializeAsString(); }
  driver::CompileOptions options;
  options.model = file;
  options.out = folder / "out";
  options.accelerator.tiles = 1;
  if (change) change(options);
  Compiled c;
  c.out = options.out;
  bool ok = driver::compile(
      options, c.diagnostics, [](const std::string&) {}, &c.summary);
  INFO(c.messages());
  REQUIRE(ok);
  return c;
}

const Json& with(const Json& list, const std::string& key, const Json& value) {
  for (const Json& entry : list) {
    if (entry.at(key) == value) return entry;
  }
  FAIL("nothing has " << key << " " << value.dump());
  std::abort();
}

}  // namespace mrvlc::test

// The JSON files of OUT, damaged: keys taken away, types changed, texts cut. Every command that reads them
// ends with a diagnostic or with a result, never with an exception, and never as an internal error. The files
// are damaged as somebody would who also writes the new hash into the manifest.
#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "mrvlc/driver/driver.h"
#include "mrvlc/support/hash.h"
#include "paths.h"
#include "support/folders.h"

using namespace mrvlc;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

const fs::path kDigits = fs::path(MRVLC_SOURCE_DIR) / "models" / "digits";

// What a command may end with: anything but an internal error.
template <class Outcome>
void check_end(const std::string& command, const Outcome& run) {
  INFO(command);
  try {
    auto result = run();
    if (!result.ok()) REQUIRE(result.error().exit_class() != ExitClass::Internal);
  } catch (const std::exception& e) {
    FAIL("an exception, which is exit code 70: " << e.what());
  }
}

void read_everything(const fs::path& out, const std::string& file) {
  const bool manifest = file == "manifest.json";
  if (manifest || file == "placement.json") {
    check_end("explain", [&] { return driver::explain(out, std::nullopt); });
    check_end("explain --node", [&] { return driver::explain(out, "conv1"); });
  }
  if (manifest || file == "idmap.json") {
    driver::MapQuery queries[4];
    queries[0].node = "conv1";
    queries[1].expression = 0;
    queries[2].instruction = "0:1";
    queries[3].line = "digits.c:100";
    for (const auto& query : queries) check_end("map", [&] { return driver::map(out, query); });
    check_end("disasm", [&] { return driver::disasm(out / "digits.region0.mrvl"); });
  }
  if (file != "placement.json") {
    driver::ProfileOptions profile;
    profile.out = out;
    check_end("profile", [&] { return driver::profile(profile); });
  }
  if (!manifest) return;
  driver::RunOptions run;  // up to the C compiler, which makes nothing
  run.out = out;
  run.bindings = {"image=" + (kDigits / "test_x.npy").string()};
  run.repeat_axis0 = true;
  run.cc = "true";
  check_end("run", [&] { return driver::run(run); });
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

class Folder {
 public:
  Folder() {
    driver::CompileOptions options;
    options.model = kDigits / "digits.onnx";
    options.out = dir_.path() / "out";
    Diagnostics diagnostics;
    REQUIRE(driver::compile(options, diagnostics, [](const std::string&) {}));
    manifest_ = test::slurp(path() / "manifest.json");
  }
  fs::path path() const { return dir_.path() / "out"; }

  void damaged(const std::string& file, const std::string& text) const {
    write(path() / file, text);
    if (file != "manifest.json") {
      Json manifest = Json::parse(manifest_);
      for (auto& f : manifest["files"]) {
        if (f["file"] == file) f["sha256"] = sha256_hex(text);
      }
      write(path() / "manifest.json", manifest.dump());
    }
    INFO(file << ": " << text.substr(0, 3000));
    read_everything(path(), file);
  }

 private:
  test::TempDir dir_;
  std::string manifest_;
};

// Calls visit(pointer) for every place of a tree; of long lists the first and the last two alone.
void for_each_place(const Json& json, const Json::json_pointer& at,
                    const std::function<void(const Json::json_pointer&)>& visit) {
  visit(at);
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) for_each_place(value, at / key, visit);
  } else if (json.is_array()) {
    for (size_t i = 0; i < json.size(); ++i) {
      if (i < 1 || i + 1 >= json.size()) for_each_place(json[i], at / i, visit);
    }
  }
}

const Json kOddValues[] = {nullptr,
                           true,
                           0,
                           -1,
                           4294967296,
                           18446744073709551615u,
                           1e300,
                           "",
                           "../../etc/passwd",
                           std::string("\x1b[31m\n\0", 7),
                           Json::array(),
                           Json::array({Json::array(), 1, "x"}),
                           Json::object(),
                           Json{{"x", 1}}};

}  // namespace

TEST_CASE("no damage to a JSON file of OUT is an internal error") {
  Folder folder;
  for (const std::string file : {"manifest.json", "idmap.json", "placement.json", "report.json"}) {
    const std::string whole = test::slurp(folder.path() / file);
    const Json json = Json::parse(whole);
    size_t turn = 0;
    for_each_place(json, Json::json_pointer(), [&](const Json::json_pointer& at) {
      if (!at.empty()) {
        Json without = json;
        Json& parent = without.at(at.parent_pointer());
        if (parent.is_array()) {
          parent.erase(std::stoul(at.back()));
        } else {
          parent.erase(at.back());
        }
        folder.damaged(file, without.dump());
      }
      // All values at places of the manifest, which nothing protects; elsewhere three each, taking turns.
      const size_t count = std::size(kOddValues);
      for (size_t k = 0; k < (file == "manifest.json" ? count : 3); ++k) {
        Json changed = json;
        changed[at] = kOddValues[turn++ % count];
        folder.damaged(file, changed.dump());
      }
    });
    for (size_t cut = 0; cut < whole.size(); cut += 1 + whole.size() / 60)
      folder.damaged(file, whole.substr(0, cut));
    folder.damaged(file, std::string(100'000, '['));
    folder.damaged(file, whole + whole);
    write(folder.path() / file, whole);
  }
}

TEST_CASE("a manifest names no file outside of its folder, and no folder is read by a name from it") {
  Folder folder;
  Json manifest = Json::parse(test::slurp(folder.path() / "manifest.json"));
  for (const char* name : {"../out/main.c", "/etc/passwd", "..", ""}) {
    Json changed = manifest;
    changed["files"][0]["file"] = name;
    write(folder.path() / "manifest.json", changed.dump());
    CHECK_FALSE(driver::explain(folder.path(), std::nullopt).ok());
    changed = manifest;
    changed["model"]["name"] = name;
    write(folder.path() / "manifest.json", changed.dump());
    CHECK_FALSE(driver::explain(folder.path(), std::nullopt).ok());
  }
  Json unlisted = manifest;
  unlisted["files"].clear();
  write(folder.path() / "manifest.json", unlisted.dump());
  auto explained = driver::explain(folder.path(), std::nullopt);
  REQUIRE_FALSE(explained.ok());
  CHECK(diag_info(explained.error().code).name == "MRV0713");
}

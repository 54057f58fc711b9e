// The simulator behind the C interface, as a program of another language would see it: through the shared
// library alone.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "mrvl/device.h"
#include "paths.h"

TEST_CASE("a built-in target opens without error and closes") {
  mrvl_device* device = mrvl_simulator_open("cn10ka");
  REQUIRE(device != nullptr);
  CHECK(std::string(mrvl_simulator_error(device)).empty());
  CHECK(device->load != nullptr);
  CHECK(device->run != nullptr);
  CHECK(device->cycles != nullptr);
  mrvl_simulator_close(device);
}

TEST_CASE("an unknown target, or file, is told by its error and refuses models") {
  for (const char* target : {"no_such_target", "/no/such/target.json"}) {
    mrvl_device* device = mrvl_simulator_open(target);
    REQUIRE(device != nullptr);
    CHECK(std::string(mrvl_simulator_error(device)).find(target) != std::string::npos);
    void* model = &device;
    CHECK(device->load(device->context, "x", 1, &model) != 0);
    CHECK(model == nullptr);
    mrvl_simulator_close(device);
  }
}

TEST_CASE("a path, whatever the file's name, is opened as a target file") {
  namespace fs = std::filesystem;
  fs::path builtin = fs::path(MRVLC_SOURCE_DIR) / "lib/target/cn10ka/target.json";
  fs::path renamed = fs::path(MRVLC_BINARY_DIR) / "test-output" / "runtime-chip";
  fs::create_directories(renamed.parent_path());
  fs::copy_file(builtin, renamed, fs::copy_options::overwrite_existing);
  for (const fs::path& target : {builtin, renamed}) {
    mrvl_device* device = mrvl_simulator_open(target.c_str());
    REQUIRE(device != nullptr);
    CHECK(std::string(mrvl_simulator_error(device)).empty());
    mrvl_simulator_close(device);
  }
}

TEST_CASE("a target package is found in the folders of MRVLC_TARGET_PATH") {
  namespace fs = std::filesystem;
  std::ifstream builtin(fs::path(MRVLC_SOURCE_DIR) / "lib/target/cn10ka/target.json");
  std::ostringstream text;
  text << builtin.rdbuf();
  std::string json = text.str();
  size_t at = json.find("\"cn10ka\"");
  REQUIRE(at != std::string::npos);
  fs::path folder = fs::path(MRVLC_BINARY_DIR) / "test-output" / "runtime-targets";
  fs::create_directories(folder / "my_chip");
  std::ofstream(folder / "my_chip" / "target.json") << json.replace(at, 8, "\"my_chip\"");
  for (bool listed : {false, true}) {
    std::string path = listed ? "/no/such/folder::" + folder.string() : "/no/such/folder";
    REQUIRE(setenv("MRVLC_TARGET_PATH", path.c_str(), 1) == 0);
    mrvl_device* device = mrvl_simulator_open("my_chip");
    REQUIRE(device != nullptr);
    CHECK(std::string(mrvl_simulator_error(device)).empty() == listed);
    mrvl_simulator_close(device);
  }
  unsetenv("MRVLC_TARGET_PATH");
}

TEST_CASE("bytes that are no model binary are refused with a text") {
  mrvl_device* device = mrvl_simulator_open(nullptr);
  REQUIRE(device != nullptr);
  std::string garbage(20000, 'x');
  void* model = nullptr;
  CHECK(device->load(device->context, garbage.data(), garbage.size(), &model) != 0);
  CHECK(model == nullptr);
  CHECK(std::strlen(mrvl_simulator_error(device)) > 0);
  CHECK(device->load(device->context, nullptr, 0, &model) != 0);
  mrvl_simulator_close(device);
}

TEST_CASE("null devices are harmless") {
  mrvl_simulator_close(nullptr);
  CHECK(std::string(mrvl_simulator_error(nullptr)).empty());
}

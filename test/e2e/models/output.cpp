#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <thread>

#include "mrvlc/support/hash.h"
#include "paths.h"
#include "support.h"

using namespace mrvlc;
namespace fs = std::filesystem;

namespace {

driver::CompileOptions digits(const fs::path& out) {
  driver::CompileOptions c;
  c.model = test::own_model("digits/digits.onnx");
  c.out = out;
  return c;
}

std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(folder).string()] = test::slurp(entry.path());
  }
  return files;
}

}  // namespace

TEST_CASE("two compiles in different folders give identical bytes, and no path of the machine") {
  std::string errors;
  fs::path a = test::scratch("same_a"), b = test::scratch("elsewhere/same_b");
  REQUIRE(test::compile(digits(a), errors));
  REQUIRE(test::compile(digits(b), errors));
  auto files = files_of(a);
  CHECK(files == files_of(b));
  for (const auto& [name, bytes] : files) {
    INFO(name);
    CHECK(bytes.find(MRVLC_SOURCE_DIR) == std::string::npos);
    CHECK(bytes.find(MRVLC_BINARY_DIR) == std::string::npos);
  }
  for (const char* wanted : {"digits.h", "digits.c", "digits_weights.S", "digits.region0.mrvl", "main.c",
                             "Makefile", "mrvl/device.h", "idmap.json", "placement.json", "report.json",
                             "report.txt", "report.html", "manifest.json"}) {
    CHECK(files.count(wanted) == 1);
  }
}

TEST_CASE("the manifest lists every file with its SHA-256") {
  std::string errors;
  fs::path out = test::scratch("manifest");
  REQUIRE(test::compile(digits(out), errors));
  auto manifest = test::read_json(out / "manifest.json");
  CHECK(manifest["files"].size() + 1 == files_of(out).size());
  for (const auto& f : manifest["files"]) {
    CHECK(f["sha256"].get<std::string>() == sha256_hex(test::slurp(out / f["file"].get<std::string>())));
  }
}

// Killed at many points of time, the folder is there whole or not at all.
TEST_CASE("kill -9 during a compile leaves no half output") {
  fs::path out = test::scratch("killed");
  std::string mrvlc = MRVLC_BINARY_DIR "/bin/mrvlc";
  std::string model = test::own_model("digits/digits.onnx").string();
  for (int delay_us = 200; delay_us < 120000; delay_us = delay_us * 5 / 4 + 100) {
    pid_t pid = ::fork();
    if (pid == 0) {
      ::execl(mrvlc.c_str(), "mrvlc", "-q", "compile", model.c_str(), "-o", out.c_str(), nullptr);
      ::_exit(127);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
    ::kill(pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    INFO("killed after " << delay_us << " us");
    bool whole = !fs::exists(out) || fs::exists(out / "manifest.json");
    CHECK(whole);
    if (fs::exists(out)) fs::remove_all(out);
  }
  std::string errors;
  CHECK(test::compile(digits(out), errors));
}

TEST_CASE("an output folder that no compile wrote is not replaced") {
  fs::path out = test::scratch("precious");
  fs::create_directories(out);
  { std::ofstream(out / "thesis.txt") << "years of work"; }
  std::string errors;
  CHECK_FALSE(test::compile(digits(out), errors));
  CHECK(errors.find("MRV0002") != std::string::npos);
  CHECK(fs::exists(out / "thesis.txt"));
}

// What a folder's manifest may say, and what it may not.
#include <catch2/catch.hpp>

#include "folder/output_folder.h"
#include "mrvlc/support/file.h"
#include "support/folders.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

Result<driver::OutputFolder> opened(const std::string& output, const std::string& more,
                                    const std::string& schema) {
  const TempDir dir;
  const std::string text = R"({"schema": ")" + schema +
                           R"(", "model": {"name": "m"}, "options": {"target": ["host"]}, "inputs": [],)"
                           R"("files": [], )" +
                           more + R"("outputs": [{"name": "y", "file": "y", "type": "f32", )" + output +
                           "}]}";
  REQUIRE(write_file_atomic(dir.path() / "manifest.json", text).ok());
  return driver::open_output(dir.path());
}

bool opens(const std::string& output, const std::string& more = "") {
  return opened(output, more, "mrvlc-manifest-1").ok();
}

}  // namespace

TEST_CASE("shapes of a manifest have a product, or a capacity in its place") {
  CHECK(opens(R"("shape": [2, 3])"));
  CHECK_FALSE(opens(R"("shape": [65536, 65536, 65536])"));
  // Of a result whose size nothing bounds: each dimension may be as large as all of it.
  CHECK(opens(R"("shape": [65536, 65536, 65536], "open": [0, 1, 2], "capacity": 65536)"));
  CHECK_FALSE(opens(R"("shape": [65536, 65536, 65536], "capacity": 65536)"));
}

TEST_CASE("a manifest of another schema is refused, both are named") {
  const auto folder = opened(R"("shape": [1])", "", "mrvlc-manifest-2");
  REQUIRE_FALSE(folder.ok());
  CHECK_THAT(folder.error().message,
             Catch::Matchers::Contains("mrvlc-manifest-2") && Catch::Matchers::Contains("mrvlc-manifest-1"));
}

TEST_CASE("what is compiled and linked beside a stub has plain names") {
  const std::string shape = R"("shape": [1])";
  CHECK(opens(shape, R"("linked": {"includes": [], "sources": ["a.c"], "libraries": ["m"]}, )"));
  CHECK_FALSE(opens(shape, R"("linked": {"includes": [], "sources": ["../a.c"], "libraries": []}, )"));
  CHECK_FALSE(opens(shape, R"("linked": {"includes": [], "sources": ["-fplugin=a.so"], "libraries": []}, )"));
  CHECK_FALSE(opens(shape, R"("linked": {"includes": [], "sources": [], "libraries": ["-x"]}, )"));
  CHECK_FALSE(opens(shape, R"("linked": {"includes": [], "sources": []}, )"));
}

TEST_CASE("files of a manifest lie in its folder or below it") {
  const auto takes = [](const std::string& file) {
    return opens(R"("shape": [1])", R"("files": [{"file": ")" + file + R"(", "sha256": "0"}], )");
  };
  for (const char* file : {"main.c", "mrvl/device.h", "a/b/c", "..a/b..", "a-b/.c"}) {
    INFO(file);
    CHECK(takes(file));
  }
  for (const char* file :
       {"", ".", "..", "../a", "/a", "a/", "a//b", "a/../b", "a/..", "a/./b", "./a", "a/b\\u0000"}) {
    INFO(file);
    CHECK_FALSE(takes(file));
  }
}

// Golden files of the back end's stages: stages/NAME.txt, NAME being what its cases run. docs/stages.md
// describes the text. MRVLC_BLESS=1 build/bin/test_accel_stages rewrites what is expected.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "commands.h"
#include "paths.h"
#include "support/golden.h"

namespace mrvlc::accel::test {
namespace {

using mrvlc::test::GoldenCase;

const std::filesystem::path kFolder = MRVLC_SOURCE_DIR "/test/unit/accel_stages/stages";

TEST_CASE("golden files of the stages") {
  std::map<std::string, int> cases;
  for (const auto& path : mrvlc::test::golden_files(kFolder)) {
    INFO(path.filename());
    mrvlc::test::check_golden_file(path, [&](const GoldenCase& c) {
      ++cases[c.words().at(0)];
      return run_command(c.command(), c.input);
    });
  }
  for (const std::string& name : command_names()) {
    INFO(name);
    CHECK(cases[name] >= 3);
  }
}

}  // namespace
}  // namespace mrvlc::accel::test

// Debian's conformance cases of ONNX, all of them, through both engines: none is wrong, none crashes, and so
// many pass as did before. docs/conformance.md says what is refused.
#include "mrvlc/conformance/conformance.h"

#include <catch2/catch.hpp>
#include <iostream>
#include <thread>

#include "paths.h"

namespace mrvlc::conformance {
namespace {

// A table that refuses everything would be wrong nowhere.
constexpr int kFloor[] = {1064, 1064};  // by engine

}  // namespace

TEST_CASE("ONNX's conformance cases", "[conformance]") {
  Options options;
  options.roots = {{"ONNX 1.12", "/usr/share/libonnx-testdata/data"}};
  if (!std::filesystem::exists(options.roots[0].folder)) return;
  options.include = MRVLC_SOURCE_DIR "/include";
  options.jobs = std::max(1u, std::thread::hardware_concurrency());
  auto releases = run(options);
  REQUIRE(releases.ok());
  std::cout << text_report(*releases, false);
  for (Engine engine : kEngines) {
    const Tally t = tally(releases->at(0), {}, engine);
    INFO(name(engine));
    CHECK(t.of(Verdict::Wrong) == 0);
    CHECK(t.of(Verdict::Crashed) == 0);
    CHECK(t.of(Verdict::Passed) >= kFloor[static_cast<size_t>(engine)]);
  }
}

TEST_CASE("ONNX's conformance cases as we write them", "[conformance]") {
  Options options;
  options.roots = {{"ONNX 1.12", "/usr/share/libonnx-testdata/data"}};
  if (!std::filesystem::exists(options.roots[0].folder)) return;
  options.jobs = std::max(1u, std::thread::hardware_concurrency());
  options.run = {true, false};
  options.exported = true;
  auto releases = run(options);
  REQUIRE(releases.ok());
  std::cout << text_report(*releases, false);
  const Tally t = tally(releases->at(0), {}, Engine::Interpreter);
  CHECK(t.of(Verdict::Wrong) == 0);
  CHECK(t.of(Verdict::Crashed) == 0);
  CHECK(t.of(Verdict::Passed) >= kFloor[static_cast<size_t>(Engine::Interpreter)]);
}

}  // namespace mrvlc::conformance

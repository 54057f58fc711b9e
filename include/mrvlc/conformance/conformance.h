// Runs ONNX's backend tests (a model, inputs, expected outputs) through the reference interpreter and through
// generated C, and says of each whether it passed. The rules are written down in docs/conformance.md, which
// this writes.
#pragma once
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "mrvlc/support/result.h"

namespace mrvlc::conformance {

enum class Verdict : uint8_t {
  Passed,
  Wrong,    // other outputs than expected
  Refused,  // with a code
  Crashed,  // ended by a signal, hung, an internal error, or C that does not compile
  Unfit,    // the case contradicts itself
};
inline constexpr size_t kVerdicts = 6;
std::string_view name(Verdict verdict);  // "passed", ...

struct Outcome {
  Verdict verdict = Verdict::Passed;
  std::string code;     // of a refusal: "MRV0207"
  std::string message;  // of everything that did not pass
};

enum class Engine : uint8_t { Interpreter, C };
inline constexpr std::array<Engine, 2> kEngines = {Engine::Interpreter, Engine::C};
std::string_view name(Engine engine);  // "interpreter", "C"

// A release of ONNX: suites (folders), of cases (folders).
struct Root {
  std::string name;  // "ONNX 1.12"
  std::filesystem::path folder;
};

struct CaseResult {
  std::string suite, name;                   // "node", "node/test_relu"
  std::array<std::optional<Outcome>, 2> of;  // by engine; nullopt: not run
};

struct Release {
  std::string name;
  std::vector<CaseResult> cases;  // by name
};

struct Options {
  std::vector<Root> roots;
  std::string filter;                      // a regular expression that is found in "node/test_relu"
  std::array<bool, 2> run = {true, true};  // by engine
  size_t jobs = 1;                         // processes
  double seconds = 10;                     // of one case, before it counts as hung
  std::filesystem::path keep;              // the generated C stays here; empty: it does not stay
  std::filesystem::path include;           // where mrvl/device.h is
  std::string compiler = "gcc", cflags = "-O1 -w";
};

// An error only when the run itself fails; what fails in a case is its outcome.
Result<std::vector<Release>> run(const Options& options);

// Counts of an engine, over the cases of a suite or, with an empty name, over all.
struct Tally {
  std::array<int, kVerdicts> by = {};
  std::vector<std::pair<std::string, int>> codes;  // of refusals, most frequent first
  int of(Verdict verdict) const { return by[static_cast<size_t>(verdict)]; }
  int total() const;
};
Tally tally(const Release& release, std::string_view suite, Engine engine);
std::vector<std::string> suites(const Release& release);

std::string text_report(const std::vector<Release>& releases, bool refusals);
std::string json_report(const std::vector<Release>& releases);
std::string markdown_report(const std::vector<Release>& releases);

}  // namespace mrvlc::conformance

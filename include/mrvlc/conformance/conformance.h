// Runs ONNX's backend tests (a model, inputs, expected outputs) through the reference interpreter and through
// generated C, and says of each whether it passed. The rules are written down in docs/conformance.md, which
// this writes.
#pragma once
#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "mrvlc/support/result.h"
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::conformance {

enum class Verdict : uint8_t {
  Passed,
  Wrong,    // other outputs than expected
  Refused,  // with a code
  Crashed,  // ended by a signal, hung, an internal error, or C that does not compile
  Unfit,    // the case contradicts itself
};
inline constexpr size_t kVerdicts = 5;
std::string_view name(Verdict verdict);  // "passed", ...

struct Outcome {
  Verdict verdict = Verdict::Passed;
  std::string code;     // of a refusal: "MRV0207"
  std::string message;  // of everything that did not pass; else what ran on an accelerator
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

// Of an output of a case, what differs from the expected one; empty: it is as it should be.
using Difference =
    std::function<std::string(const std::filesystem::path& case_folder, const std::filesystem::path& data_set,
                              size_t output, const Tensor& actual, const Tensor& expected)>;

struct Options {
  std::vector<Root> roots;
  std::string filter;                      // a regular expression that is found in "node/test_relu"
  std::array<bool, 2> run = {true, true};  // by engine
  size_t jobs = 1;                         // processes
  double seconds = 10;                     // of one case, before it counts as hung
  std::filesystem::path keep;              // the generated C stays here; empty: it does not stay
  std::filesystem::path include;           // where mrvl/device.h is
  std::string compiler = "gcc", cflags = "-O1 -w";
  // Of generated C: what the rules give to the accelerator runs in the simulator, through the device
  // interface. Models of which nothing does are not run. "host": no accelerator.
  std::string target = "host";
  bool exported = false;  // the interpreter runs models that were written by onnx::to_onnx and read again
  Difference difference;  // instead of the tolerances of docs/conformance.md
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

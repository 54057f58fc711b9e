// docs/conformance.md.
#include <fmt/format.h>

#include "mrvlc/conformance/conformance.h"

namespace mrvlc::conformance {
namespace {

constexpr std::string_view kIntroduction = R"(# Conformance

The backend tests that ONNX publishes hold a model, inputs and expected outputs each. `scripts/conformance.sh` runs them
through mrvlc's reference interpreter and through the C that it generates, compiled with gcc, and writes this page.

A case **passed**, gave a **wrong** answer, was **refused** with a diagnostic code, or **crashed**: a signal, an internal
error, more than ten seconds, or C that does not compile. **Unfit** are cases whose data contradict their own model:
nothing can be right.

## What counts as right

* The element types, ranks and shapes of the outputs are the expected ones.
* Integers, truth values, strings and floats of eight bits and less agree exactly; float and double to
  |a-b| <= 1e-3 (1+|b|), where ONNX's own runner allows a relative 1e-3; float16 and bfloat16 to 5e-3. NaNs and infinities
  are at the same places. Sequences and optionals agree item by item.
* Models that draw random numbers are checked as far as ONNX defines them: Bernoulli's outputs are 0 and 1, without choice
  where the probability is 0 or 1; Dropout's are 0 or the scaled input, and its mask says which; other draws are finite.
* Dimensions that a model leaves open are given the sizes of the data, as a user does with `--input-shape`.
* bfloat16 data that a release holds as uint16 are taken as the bits they are.
* In C, memory behind each output and behind the arena is checked to be untouched.
)";

std::string cell(const Release& release, const std::string& suite, Engine engine) {
  const Tally t = tally(release, suite, engine);
  return fmt::format("{} | {} | {} | {}", t.of(Verdict::Passed), t.of(Verdict::Wrong), t.of(Verdict::Refused),
                     t.of(Verdict::Crashed));
}

void suite_row(std::string& out, const Release& release, const std::string& suite) {
  const Tally t = tally(release, suite, Engine::C);
  out += fmt::format("| {} | {} | {} | {} | {} |\n", suite.empty() ? "**all**" : suite, t.total(),
                     cell(release, suite, Engine::Interpreter), cell(release, suite, Engine::C),
                     t.of(Verdict::Unfit));
}

bool has_passed(const std::optional<Outcome>& outcome) {
  return !outcome || outcome->verdict == Verdict::Passed;
}

std::string text_of(const Outcome& outcome) {
  std::string text;
  for (char c : outcome.message) text += c == '|' ? std::string("\\|") : std::string(1, c);
  return fmt::format("{} {} | {}", name(outcome.verdict), outcome.code, text);
}

// One row when both engines say the same.
void case_rows(std::string& out, const CaseResult& c) {
  const auto &a = c.of[0], &b = c.of[1];
  const bool same = a && b && text_of(*a) == text_of(*b);
  for (Engine engine : kEngines) {
    const auto& outcome = c.of[static_cast<size_t>(engine)];
    if (has_passed(outcome) || (same && engine == Engine::C)) continue;
    out += fmt::format("| {} | {} | {} |\n", c.name, same ? "both" : name(engine), text_of(*outcome));
  }
}

void release_section(std::string& out, const Release& release) {
  out += fmt::format(
      "\n## {}\n\n"
      "| suite | cases | interpreter: passed | wrong | refused | crashed | C: passed | wrong | refused | "
      "crashed | unfit "
      "|\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
      release.name);
  for (const std::string& suite : suites(release)) suite_row(out, release, suite);
  suite_row(out, release, {});
  std::string rows;
  for (const CaseResult& c : release.cases) case_rows(rows, c);
  if (rows.empty()) return;
  out += "\nWhat did not pass:\n\n| case | engine | | why |\n|---|---|---|---|\n" + rows;
}

}  // namespace

std::string markdown_report(const std::vector<Release>& releases) {
  std::string out(kIntroduction);
  for (const Release& release : releases) release_section(out, release);
  return out;
}

}  // namespace mrvlc::conformance

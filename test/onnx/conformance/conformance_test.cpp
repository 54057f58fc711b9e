// Each conformance case of ONNX is refused with a code, or the reference interpreter computes the expected
// outputs. MRVLC_TEST_VERBOSE lists the refusals.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>

#include "cases.h"
#include "mrvlc/interp/interp.h"

namespace mrvlc::test {
namespace {

struct Tally {
  int passed = 0, bound = 0, wrong = 0, excluded = 0;
  std::map<std::string, int> refused;  // by code

  void add(const Tally& other);
  void print(std::string_view suite) const;
};

void Tally::add(const Tally& other) {
  passed += other.passed;
  bound += other.bound;
  wrong += other.wrong;
  excluded += other.excluded;
  for (const auto& [code, count] : other.refused) refused[code] += count;
}

void Tally::print(std::string_view suite) const {
  int sum = 0;
  std::string codes;
  for (const auto& [code, count] : refused) {
    sum += count;
    codes += fmt::format(" {} {}", code, count);
  }
  std::cout << fmt::format(
      "{}: {} passed, {} passed with inputs as constants, {} wrong, {} excluded, {} refused{}{}\n", suite,
      passed, bound, wrong, excluded, sum, codes.empty() ? "" : ":", codes);
}

void count_refusal(const Case& c, Tally& tally) {
  const Diag* error = first_error(c);
  REQUIRE(error != nullptr);
  CHECK(error->exit_class() != ExitClass::Internal);
  ++tally.refused[std::string(diag_info(error->code).name)];
  if (std::getenv("MRVLC_TEST_VERBOSE") != nullptr) std::cout << format_diag(c.shown, *error) << "\n";
}

Result<std::string> run_case(const Case& c) {
  MRVLC_ASSIGN(auto inputs, read_inputs(c));
  MRVLC_ASSIGN(auto actual, interp::run(c.model->graph, inputs));
  return check_outputs(c, actual);
}

void check_case(const Case& c, Tally& tally) {
  INFO(c.shown);
  if (!c.model) return count_refusal(c, tally);
  if (is_excluded(c)) {
    ++tally.excluded;
    return;
  }
  auto outcome = run_case(c);
  std::string wrong = outcome.ok() ? *outcome : format_diag(c.shown, outcome.error());
  ++(!wrong.empty() ? tally.wrong : c.bound ? tally.bound : tally.passed);
  INFO(wrong);
  CHECK(wrong.empty());
}

}  // namespace

TEST_CASE("ONNX's conformance cases", "[conformance]") {
  Tally all;
  bool installed = false;
  for (std::string_view suite : kSuites) {
    Tally tally;
    for (const auto& folder : cases_in(suite)) {
      installed = true;
      check_case(load_case(folder), tally);
    }
    tally.print(suite);
    all.add(tally);
  }
  all.print("all");
  // A table that refuses everything would be wrong nowhere.
  if (installed) CHECK(all.passed + all.bound > 750);
}

}  // namespace mrvlc::test

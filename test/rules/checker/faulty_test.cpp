// Faulty rule files and what the checker says about each. A case of test/rules/checker/faulty/*.txt reads
//   # RUN: kind of fault
//   rules
//   # EXPECT
//   messages
// MRVLC_BLESS=1 ctest -R rules_checker   rewrites the expected parts.
#include <catch2/catch.hpp>
#include <set>

#include "mrvlc/partition/library.h"
#include "mrvlc/partition/rules.h"
#include "support/golden.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

std::set<std::string> kinds_seen;

std::string run_case(const GoldenCase& c) {
  INFO(c.header);
  CHECK(kinds_seen.insert(c.command()).second);  // each kind once
  // Those of a library have words of their own.
  const std::vector<rules::RuleFile> files = {{"my.rules", c.input}};
  const rules::LoadResult r = c.command().starts_with(" call: ") ? partition::load_library_rules(files)
                                                                 : partition::load_rules(false, files);
  std::string out;
  for (const Diag& d : r.diagnostics.list()) out += format_diag("my.rules", d) + "\n";
  for (const Diag& d : r.advice.list()) out += format_diag("my.rules", d) + "\n";
  CHECK_FALSE(out.empty());
  return out;
}

}  // namespace

TEST_CASE("every kind of faulty file has its message, with the place") {
  for (const auto& file : golden_files(MRVLC_FAULTY_RULES)) {
    INFO(file.string());
    check_golden_file(file, run_case);
  }
  CHECK(kinds_seen.size() >= 35);
}

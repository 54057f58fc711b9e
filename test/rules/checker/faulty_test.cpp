// Faulty rule files and what the checker says about each. A case of test/rules/checker/faulty/*.txt reads
//   # RUN: kind of fault
//   rules
//   # EXPECT
//   messages
// The rules are the file my.rules; a line `# FILE name` begins another one.
// MRVLC_BLESS=1 ctest -R rules_checker   rewrites the expected parts.
#include <catch2/catch.hpp>
#include <set>
#include <sstream>

#include "mrvlc/partition/library.h"
#include "mrvlc/partition/rules.h"
#include "support/golden.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

std::set<std::string> kinds_seen;

std::vector<rules::RuleFile> files_of(const std::string& input) {
  std::vector<rules::RuleFile> files = {{"my.rules", ""}};
  std::istringstream lines(input);
  const std::string_view mark = "# FILE ";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(mark))
      files.push_back({line.substr(mark.size()), ""});
    else
      files.back().text += line + "\n";
  }
  return files;
}

std::string run_case(const GoldenCase& c) {
  INFO(c.header);
  CHECK(kinds_seen.insert(c.command()).second);  // each kind once
  // Those of a library have words of their own.
  const std::vector<rules::RuleFile> files = files_of(c.input);
  const rules::LoadResult r = c.command().starts_with(" call: ") ? partition::load_library_rules(files)
                                                                 : partition::load_rules({}, files);
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

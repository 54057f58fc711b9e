// Golden files: cases of text in, text out. A case of a file reads
//   # RUN: word word...
//   input
//   # EXPECT
//   result
// With MRVLC_BLESS set in the environment the expected parts are rewritten.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace mrvlc::test {

struct GoldenCase {
  std::string comment;  // lines before the RUN line of the first case
  std::string header;   // the RUN line
  std::string input, expected;
  std::string command() const;  // what stands behind "RUN:"
  std::vector<std::string> words() const;
};

// The .txt files of a folder, by name.
std::vector<std::filesystem::path> golden_files(const std::filesystem::path& folder);
// Compares each case's result with what the file expects, or rewrites the file.
void check_golden_file(const std::filesystem::path& file,
                       const std::function<std::string(const GoldenCase&)>& run);

}  // namespace mrvlc::test

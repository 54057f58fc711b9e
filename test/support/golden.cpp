#include "golden.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>

#include "mrvlc/support/file.h"

namespace mrvlc::test {
namespace {

constexpr std::string_view kRun = "# RUN:", kExpect = "# EXPECT\n";

std::vector<GoldenCase> split(const std::string& text) {
  std::vector<GoldenCase> cases;
  size_t at = text.find(kRun);
  std::string comment = text.substr(0, std::min(at, text.size()));
  while (at != std::string::npos) {
    size_t next = text.find(kRun, at + 1), line = text.find('\n', at) + 1;
    std::string body = text.substr(line, next == std::string::npos ? next : next - line);
    size_t expect = body.find(kExpect);
    GoldenCase c{comment, text.substr(at, line - at - 1), body.substr(0, expect), ""};
    if (expect != std::string::npos) c.expected = body.substr(expect + kExpect.size());
    comment.clear();
    cases.push_back(std::move(c));
    at = next;
  }
  return cases;
}

}  // namespace

std::string GoldenCase::command() const {
  return header.substr(kRun.size());
}

std::vector<std::string> GoldenCase::words() const {
  std::istringstream text(command());
  std::vector<std::string> out;
  for (std::string w; text >> w;) out.push_back(w);
  return out;
}

std::vector<std::filesystem::path> golden_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void check_golden_file(const std::filesystem::path& file,
                       const std::function<std::string(const GoldenCase&)>& run) {
  const bool bless = std::getenv("MRVLC_BLESS") != nullptr;
  auto text = read_file(file);
  REQUIRE(text.ok());
  const std::vector<GoldenCase> cases = split(*text);
  REQUIRE_FALSE(cases.empty());
  std::string blessed;
  for (const GoldenCase& c : cases) {
    INFO(c.header << "\n" << c.input);
    std::string result = run(c);
    blessed += c.comment + c.header + "\n" + c.input + std::string(kExpect) + result;
    if (!bless) CHECK(result == c.expected);
  }
  if (bless) REQUIRE(write_file_atomic(file, blessed).ok());
}

}  // namespace mrvlc::test

// Every code that can be said has a page, and every page a code.
#include "mrvlc/support/codes.h"

#include <re2/re2.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "paths.h"

namespace mrvlc {
namespace {

// Read from the headers, not from the table that the build makes of them.
std::set<std::string> declared_codes() {
  std::set<std::string> codes;
  const re2::RE2 declaration("MRVLC_DIAG\\(([0-9]{4}),");
  for (const auto& file :
       std::filesystem::directory_iterator(MRVLC_SOURCE_DIR "/include/mrvlc/support/diag")) {
    std::ifstream in(file.path());
    const std::string text(std::istreambuf_iterator<char>(in), {});
    re2::StringPiece rest(text);
    for (std::string number; re2::RE2::FindAndConsume(&rest, declaration, &number);)
      codes.insert("MRV" + number);
  }
  return codes;
}

TEST_CASE("every code has a page that says what it means, why, and what to do") {
  std::set<std::string> found;
  for (const CodePage& page : code_pages()) {
    CAPTURE(page.code->name);
    for (std::string_view part : {page.what, page.why, page.cure}) {
      CHECK(part.size() > 10);
      CHECK((part.ends_with('.') || part.ends_with(')')));
    }
    CHECK(found.insert(std::string(page.code->name)).second);
  }
  CHECK(found == declared_codes());
}

TEST_CASE("every page is about a code that there is, and one of a kind") {
  std::set<std::string> pages;
  for (std::string_view code : paged_codes()) {
    CAPTURE(code);
    CHECK(pages.insert(std::string(code)).second);
  }
  CHECK(pages == declared_codes());
}

TEST_CASE("pages come in the order of their codes") {
  const auto pages = code_pages();
  CHECK(std::ranges::is_sorted(pages, {}, [](const CodePage& p) { return p.code->name; }));
}

TEST_CASE("a code may be typed in small letters and without zeros") {
  CHECK(as_code("MRV0131") == "MRV0131");
  CHECK(as_code("mrv131") == "MRV0131");
  CHECK(as_code("MRV9999") == "MRV9999");
  for (const char* other : {"", "MRV", "MRV12345", "MRV12a", "OUT", "MR0131", "mrv-1"})
    CHECK(as_code(other).empty());
}

TEST_CASE("the text of a page holds the message, its exit code and the three parts") {
  const auto pages = code_pages();
  const auto page = std::ranges::find(pages, "MRV0131", [](const CodePage& p) { return p.code->name; });
  REQUIRE(page != pages.end());
  const std::string text = code_text(*page);
  CHECK(text.starts_with("MRV0131 (error, exit code 1)\n  input '...': dimension ... (...) is not known;"));
  CHECK(text.find("\nWhy\n  ") != std::string::npos);
  CHECK(text.find("\nWhat to do\n  Give the shape") != std::string::npos);
}

}  // namespace
}  // namespace mrvlc

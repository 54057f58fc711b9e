#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "example.h"
#include "mrvlc/report/measured_page.h"

using namespace mrvlc;
using Json = nlohmann::json;

namespace {

size_t occurrences(std::string_view text, std::string_view part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

Json data_of(const std::string& html) {
  const std::string before = "<script type=\"application/json\" id=\"data\">";
  size_t begin = html.find(before) + before.size();
  return Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

// A reader of its own for what pack.h writes.
class Numbers {
 public:
  explicit Numbers(const std::string& base64) {
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t word = 0;
    int bits = 0;
    for (char c : base64) {
      if (c == '=') break;
      word = word << 6 | static_cast<uint32_t>(digits.find(c));
      if ((bits += 6) < 8) continue;
      bits -= 8;
      bytes_.push_back(static_cast<uint8_t>(word >> bits));
    }
  }
  uint64_t next() {
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
      uint8_t byte = bytes_.at(at_++);
      v |= uint64_t{byte & 127u} << shift;
      if (byte < 128) return v;
    }
  }
  uint64_t next_from(uint64_t last) {
    uint64_t n = next();
    return n % 2 == 0 ? last + n / 2 : last - (n + 1) / 2;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::vector<uint8_t> bytes_;
  size_t at_ = 0;
};

}  // namespace

TEST_CASE("the same data gives the same bytes, and nothing of the page is left open") {
  std::string a = report::html(test::example_page(20)), b = report::html(test::example_page(20));
  CHECK(a == b);
  for (const char* mark : {"@POLICY@", "@STYLE@", "@DATA@", "@SCRIPT@"}) CHECK(a.find(mark) == a.npos);
  CHECK(a.ends_with("</html>\n"));
  CHECK(a.find("default-src 'none'") != a.npos);
  CHECK(a.find("://") == a.npos);
}

TEST_CASE("bars come back as they were") {
  report::Page page = test::example_page(20);
  Json region = data_of(report::html(page))["regions"][0];
  CHECK(region["instructions"] == 40);
  CHECK(region["bars_merged_below"] == 0);
  Numbers n(region["bars"]);
  size_t seen = 0;
  for (uint64_t lane = 0; lane < 8; ++lane) {
    uint64_t start = 0, instruction = 0, layer = 0;
    for (uint64_t left = n.next(); left > 0; --left, ++seen) {
      uint64_t begin = (start += n.next()) + n.next(), moved = begin + n.next(), end = moved + n.next();
      uint64_t wait = n.next(), bytes = n.next(), count = n.next(), bound = n.next();
      instruction = n.next_from(instruction);
      layer = n.next_from(layer);
      const report::Bar& bar = page.regions[0].bars.at(instruction);
      CHECK(std::tie(start, begin, moved, end) == std::tie(bar.start, bar.begin, bar.moved, bar.end));
      CHECK(std::tie(wait, bytes) == std::tie(bar.wait, bar.bytes));
      CHECK(layer == bar.layer);
      CHECK(bound == bar.bound);
      CHECK(count == 1);
      CHECK(lane == bar.tile * 4u + bar.queue);
    }
  }
  CHECK(seen == 40);
  CHECK(n.at_end());
}

TEST_CASE("memory comes back as it was, every name once") {
  report::Page page = test::example_page(20);
  for (auto& use : page.regions[0].memory) use.name = use.layer % 2 == 0 ? "even" : "odd";
  Json region = data_of(report::html(page))["regions"][0];
  CHECK(region["memory_names"] == Json({"even", "odd"}));
  Numbers n(region["memory"]);
  uint64_t left = n.next(), start = 0;
  CHECK(left == 20);
  for (const report::MemoryUse& use : page.regions[0].memory) {
    CHECK(n.next() == use.layer % 2);
    CHECK(n.next() == use.kind);
    CHECK(n.next() == use.tiles);
    CHECK(n.next() == use.begin);
    CHECK(n.next() == use.end - use.begin);
    CHECK(n.next() == use.layer);
    CHECK(n.next() == use.stop - use.start);
    start = n.next_from(start);
    CHECK(start == use.start);
  }
  CHECK(n.at_end());
}

TEST_CASE("no text of the model leaves its place") {
  const std::string clean = report::html(test::example_page(3));
  std::string bad = "</script><script>alert(1)</script><!--\"'\\ &amp; ";
  bad += '\0';
  bad += "\n\x01\x7f\xff\xc0\xaf\xed\xa0\x80\xe2\x80\xa8\xe2\x80\xae]]>";
  report::Page page = test::example_page(3);
  page.model = page.sha256 = page.target = page.precision = bad;
  for (auto& l : page.regions[0].layers) l.operators = l.kind = l.rule = l.cut = bad;
  for (auto& u : page.regions[0].memory) u.name = bad;
  page.regions[0].file = bad;
  page.fallbacks.push_back({bad, bad, bad, bad});
  std::string html = report::html(page);
  CHECK(occurrences(html, "<script") == occurrences(clean, "<script"));
  CHECK(occurrences(html, "</script") == occurrences(clean, "</script"));
  CHECK(occurrences(html, "<!--") == occurrences(clean, "<!--"));
  for (char c : html) {
    INFO(static_cast<int>(c));
    CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
    if (c == '\x7f') FAIL("a control character");
  }
  Json data = data_of(html);  // throws when it is no valid UTF-8
  const std::string shown = data["model"];
  CHECK(shown.starts_with("</script><script>alert(1)</script><!--\"'\\ &amp; \\x00\\x0a\\x01\\x7f\\xff"));
  CHECK(data["regions"][0]["layers"][0][1] == shown);
  CHECK(data["fallbacks"][0][3] == shown);
}

TEST_CASE("what is too much is merged or left out, with a notice") {
  report::Page page = test::example_page(5000);
  page.fallbacks.assign(50, {"main/1", "node", "TopK", "no"});
  page.regions[0].layers[7].operators.assign(5000, 'x');
  report::Limits limits;
  limits.bars = 1000;
  limits.stretches = 500;
  limits.memory_uses = 400;
  limits.fallbacks = 10;
  std::string html = report::html(page, limits);
  Json data = data_of(html), region = data["regions"][0];
  CHECK(region["instructions"] == 10000);
  CHECK(region["bars_merged_below"] > 0);
  CHECK(region["path_merged_below"] > 0);
  CHECK(region["memory_left_out"] == 4600);
  CHECK(data["fallbacks"].size() == 10);
  CHECK(data["fallbacks_left_out"] == 40);
  CHECK(region["layers"][7][1].get<std::string>().size() == limits.text + 3);
  Numbers n(region["bars"]);
  uint64_t bars = 0, count = 0;
  for (int lane = 0; lane < 8; ++lane) {
    for (uint64_t left = n.next(); left > 0; --left, ++bars) {
      for (int i = 0; i < 6; ++i) n.next();
      count += n.next();
      for (int i = 0; i < 3; ++i) n.next();
    }
  }
  CHECK(n.at_end());
  CHECK(bars <= 1000);
  CHECK(count == 10000);
}

TEST_CASE("limits hold for all regions together") {
  report::Page page = test::example_page(300);
  page.regions.resize(20, page.regions[0]);
  report::Limits limits;
  limits.memory_uses = 1000;
  Json data = data_of(report::html(page, limits));
  size_t left_out = 0;
  for (const Json& r : data["regions"]) left_out += r["memory_left_out"].get<size_t>();
  CHECK(left_out == 5000);
}

TEST_CASE("measured times come into a report and nothing else does") {
  const std::string written = report::html(test::example_page(3));
  const nlohmann::ordered_json measured = {{"on", "</script><script>alert(1)</script>&"}, {"steps", {1, 2}}};
  const auto page = report::measured_page(written, measured);
  REQUIRE(page);
  CHECK(occurrences(*page, "</script>") == occurrences(written, "</script>"));
  Json data = data_of(*page);
  CHECK(data["measured"] == Json(measured));
  data.erase("measured");
  CHECK(data == data_of(written));
  CHECK(*report::measured_page(written, measured) == *page);
  // Of an older version: nothing of it would show what was measured.
  std::string old = written;
  old.replace(old.find("<section id=\"measured\""), 21, "<section id=\"another_\"");
  CHECK_FALSE(report::measured_page(old, measured));
  CHECK_FALSE(report::measured_page("", measured));
}

TEST_CASE("a page without regions") {
  report::Page page;
  page.model = "net";
  page.target = "host";
  Json data = data_of(report::html(page));
  CHECK(data["regions"].empty());
  CHECK(data["fallbacks"].empty());
}

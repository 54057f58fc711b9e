#include <catch2/catch.hpp>
#include <random>

#include "mrvlc/support/diag/rules.h"
#include "table.h"

using namespace mrvlc;
using test::load;

namespace {

const char* const kGood = R"(# a comment
group act = Relu | Clip
rule a {
  layer conv
  priority 100
  why "because"
  match {
    %c = Conv(%x, %w, %b?)
    %s = Add(%c, %k)?
    %r = @act|LeakyRelu(%s, ...)*
  }
  where constant(%w), rank(%x) in 3..4, elem(%x) in {f16, f32} or not constant(%b), attr(%c, "strides") == [1, 1]
}
)";

// Errors are expected on the line that carries the text MARK.
void expect_error(const std::string& text, const std::string& code, const std::string& in_message = "") {
  CAPTURE(text);
  rules::LoadResult r = load(text);
  REQUIRE(r.diagnostics.has_errors());
  const Diag& d = r.diagnostics.list().front();
  CAPTURE(d.message);
  CHECK(diag_info(d.code).name == code);
  CHECK(d.message.find(in_message) != std::string::npos);
  size_t mark = text.find("MARK");
  REQUIRE(mark != std::string::npos);
  auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mark), '\n');
  CHECK(d.message.rfind("my.rules:" + std::to_string(line) + ":", 0) == 0);
  CHECK(r.set.rules().empty());
}

}  // namespace

TEST_CASE("a rule is read with all its parts") {
  rules::LoadResult r = load(kGood);
  for (const Diag& d : r.diagnostics.list()) FAIL(d.message);
  REQUIRE(r.set.rules().size() == 1);
  const rules::Rule& rule = r.set.rules()[0];
  CHECK(rule.name == "a");
  CHECK(rule.layer == "conv");
  CHECK(rule.priority == 100);
  CHECK(rule.why == "because");
  CHECK(rule.origin == "my.rules");
  REQUIRE(rule.pattern.size() == 3);
  CHECK(rule.pattern[0].operands[2].optional);
  CHECK(rule.pattern[1].repeat == rules::Element::Repeat::Optional);
  CHECK(rules::operators_text(rule.pattern[2]) == "Relu|Clip|LeakyRelu");
  CHECK(rule.pattern[2].repeat == rules::Element::Repeat::Many);
  REQUIRE(rule.where.size() == 4);
  CHECK(rule.where[1].text == "rank(%x) in 3..4");
  CHECK(rule.where[2].any_of.size() == 2);
  CHECK(rule.where[2].any_of[1].negated);
  CHECK(rule.text.rfind("rule a {", 0) == 0);
  CHECK(rule.text.back() == '}');
}

TEST_CASE("syntax errors name file, line and column") {
  expect_error("rule a {\n layer conv\n nonsense # MARK\n}", "MRV0301", "'nonsense'");
  expect_error("rule a {\n why \"open # MARK\n}", "MRV0301", "not closed");
  expect_error("rule a {\n match { %c = (%x) } # MARK\n}", "MRV0301", "expected an operator");
  expect_error("rule a {\n match { %c = Conv(..., %x) } # MARK\n}", "MRV0301", "last operand");
  expect_error("rule a {\n priority 99999999999999999999 # MARK\n}", "MRV0301", "out of range");
  expect_error("rule a {\n match { %c = @none(%x) } # MARK\n}", "MRV0301", "no group 'none'");
  expect_error("rule a {\n layer conv\n layer conv # MARK\n}", "MRV0301", "twice");
  expect_error("rule a { $ } # MARK", "MRV0301", "unexpected character");
  expect_error("junk # MARK", "MRV0301", "expected 'rule', 'group', 'condition' or 'include'");
  rules::LoadResult r = load("rule a {\n  layer conv\n  why 3\n}");
  CHECK(r.diagnostics.list().front().message.rfind("my.rules:3:7: ", 0) == 0);
}

TEST_CASE("reading goes on after an error") {
  rules::LoadResult r = load("rule a { bad }\nrule b { worse }\nrule c {");
  CHECK(r.diagnostics.list().size() == 3);
}

TEST_CASE("nesting and sizes are bounded") {
  std::string deep = "rule a { where ";
  for (int i = 0; i < 100000; ++i) deep += "f(";
  CHECK(load(deep).diagnostics.has_errors());
  CHECK(load(std::string(size_t{2} << 20, ' ')).diagnostics.list().front().code == DiagCode::MRV0313);
  std::string many;
  for (int i = 0; i < 20000; ++i) many += "rule r" + std::to_string(i) + " { bad }\n";
  CHECK(load(many).diagnostics.list().size() <= 64);
}

TEST_CASE("no text crashes the parser") {
  std::mt19937 random(7);
  const std::string good = kGood;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    int edits = 1 + static_cast<int>(random() % 8);
    for (int e = 0; e < edits && !text.empty(); ++e) {
      size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          text.erase(at, random() % 20);
          break;
        case 2:
          text.insert(at, good.substr(random() % good.size(), random() % 30));
          break;
        default:
          text.resize(at + 1);
      }
    }
    rules::LoadResult r = load(text);
    if (r.diagnostics.has_errors()) CHECK(r.set.rules().empty());
    if (!r.diagnostics.has_errors()) continue;
    CHECK(r.diagnostics.list().front().message.find("my.rules:") == 0);
  }
}

#include <catch2/catch.hpp>

#include "table.h"

using namespace mrvlc;
using test::load;

namespace {

std::string rule(const std::string& name, const std::string& match, const std::string& where = "",
                 int priority = 1, const std::string& layer = "conv") {
  std::string text =
      "rule " + name + " {\nlayer " + layer + "\npriority " + std::to_string(priority) + "\nwhy \"w\"\n";
  text += "match { " + match + " }\n";
  if (!where.empty()) text += "where " + where + "\n";
  return text + "}\n";
}

// The only diagnostics expected: the code, and the line and column it points to.
void expect(const std::string& text, const std::string& code, const std::string& at) {
  CAPTURE(text);
  rules::LoadResult r = load(text);
  REQUIRE(r.diagnostics.list().size() == 1);
  const Diag& d = r.diagnostics.list().front();
  CAPTURE(d.message);
  CHECK(diag_info(d.code).name == code);
  CHECK(d.message.rfind("my.rules:" + at + ":", 0) == 0);
}

void accept(const std::string& text) {
  CAPTURE(text);
  rules::LoadResult r = load(text);
  for (const Diag& d : r.diagnostics.list()) FAIL_CHECK(d.message);
}

}  // namespace

TEST_CASE("operators, predicates, attributes and layer kinds must exist") {
  expect(rule("a", "%c = Convx(%x, %w)"), "MRV0302", "5:14");
  expect(rule("a", "%c = my.domain::Conv(%x, %w)"), "MRV0302", "5:14");
  expect(rule("a", "%c = Conv(%x, %w)", "nearly(%x)"), "MRV0303", "6:7");
  expect(rule("a", "%c = Conv(%x, %w)", "attr(%c, \"groups\") == 1"), "MRV0314", "6:16");
  expect(rule("a", "%c = Conv(%x, %w)", "", 1, "convolution"), "MRV0309", "2:7");
}

TEST_CASE("numbers and kinds of operands and arguments are checked") {
  expect(rule("a", "%c = Conv(%x)"), "MRV0304", "5:9");
  expect(rule("a", "%c = Relu(%x, %y)"), "MRV0304", "5:9");
  expect(rule("a", "%c = Conv(%x, %w)", "constant(%w, %x)"), "MRV0304", "6:7");
  expect(rule("a", "%c = Conv(%x, %w)", "constant(3)"), "MRV0304", "6:16");
  expect(rule("a", "%c = Conv(%x, %w)", "attr(%x, \"group\") == 1"), "MRV0304", "6:12");
  expect(rule("a", "%c = Conv(%x, %w)", "attr(%c, \"group\") == \"1\""), "MRV0304", "6:28");
  expect(rule("a", "%c = Conv(%x, %w)", "elem(%x) < f32"), "MRV0304", "6:18");
  expect(rule("a", "%c = Conv(%x, %w)", "elem(%x) == 4"), "MRV0304", "6:19");
  expect(rule("a", "%c = Conv(%x, %w)", "rank(%x)"), "MRV0304", "6:7");
  expect(rule("a", "%c = Conv(%x, %w)", "constant(%w) == 1"), "MRV0304", "6:7");
  expect(rule("a", "%c = Conv(%x, %w)", "elem(%x) == float"), "MRV0304", "6:19");
  accept(rule("a", "%c = Conv(%x, %w)",
              "attr(%c, \"group\") == 1, attr(%c, \"strides\") in 1..2, attr(%c, \"auto_pad\") == "
              "\"NOTSET\", uses(%c) == 1, "
              "dim(%x, -1) == dim(%w, 1)"));
}

TEST_CASE("a layer kind begins with its own operators") {
  expect(rule("a", "%c = Concat(%x, %y)"), "MRV0316", "5:9");
  expect(rule("a", "%c = Conv|Concat|MatMul(%x, %y)"), "MRV0316", "5:9");
  expect("group g = Relu | MatMul\n" + rule("a", "%c = @g(%x, ...)"), "MRV0316", "6:9");
  accept(rule("a", "%c = Conv(%x, %w) %r = Sigmoid(%c)"));  // what follows is for legality to say
  accept(rule("a", "%c = Concat(%x, %y)", "", 1, "cpu"));
  auto message = [](const std::string& text) {
    const std::string all = load(text).diagnostics.list().at(0).message;
    return all.substr(0, all.find('\n'));
  };
  CHECK(message(rule("a", "%c = Clip(%x)")) ==
        "my.rules:5:9: a layer of kind 'conv' cannot begin with Clip, it begins with Conv, Add, Relu; Clip "
        "begins "
        "layers of kind elementwise");
  CHECK(message(rule("a", "%c = Concat|Clip(%x)")) ==
        "my.rules:5:9: a layer of kind 'conv' cannot begin with Concat, Clip, it begins with Conv, Add, "
        "Relu; no layer "
        "of the accelerator begins with Concat, so take it out or write 'layer cpu'");
}

// Files from before legality was asked of every match.
TEST_CASE("the clause accelerator_can(layer) says nothing any more") {
  rules::LoadResult r = load(rule("a", "%c = Conv(%x, %w)", "rank(%x) == 4, accelerator_can(layer)"));
  REQUIRE(r.diagnostics.list().size() == 1);
  CHECK_FALSE(r.diagnostics.has_errors());
  CHECK(diag_info(r.diagnostics.list()[0].code).name == "MRV0317");
  CHECK(r.diagnostics.list()[0].message.starts_with("my.rules:6:22: 'accelerator_can(layer)'"));
  REQUIRE(r.set.rules().size() == 1);
  CHECK(r.set.rules()[0].where.size() == 1);
  // Anything else that it could have been part of has lost its meaning.
  expect(rule("a", "%c = Conv(%x, %w)", "not accelerator_can(layer)"), "MRV0304", "6:11");
  expect(rule("a", "%c = Conv(%x, %w)", "accelerator_can(layer) or rank(%x) == 4"), "MRV0304", "6:7");
  expect(rule("a", "%c = Conv(%x, %w)", "accelerator_can(%c)"), "MRV0304", "6:7");
}

TEST_CASE("captures must be bound") {
  expect(rule("a", "%c = Conv(%x, %w)", "constant(%b)"), "MRV0305", "6:16");
  expect(rule("a", "%c = Conv(%x, %w) %r = Add(%c, %k)*", "constant(%k)"), "MRV0304", "6:16");
  accept(rule("a", "%c = Conv(%x, %w, %b?) %r = Add(%c, %k)?", "constant(%k), constant(%b)"));
}

TEST_CASE("patterns must be chains from a fixed anchor") {
  expect(rule("a", "%c = Conv(%x, %w)?"), "MRV0311", "5:9");
  expect(rule("a", "%c = Conv(%x, %w) %r = Relu(%y)"), "MRV0311", "5:27");
  expect(rule("a", "%c = Conv(%x, %w) %c = Relu(%c)"), "MRV0306", "5:27");
  accept(rule("a", "%c = Conv(%x, %w) %s = Add(%c, %r) %r = Relu(%c)"));
}

TEST_CASE("clauses and names") {
  expect("rule a { layer conv priority 1 match { %c = Conv(%x, %w) } }", "MRV0310", "1:6");
  expect("rule a { layer conv priority 1 why \"\" match { %c = Conv(%x, %w) } }", "MRV0310", "1:6");
  expect(rule("a", "%c = Conv(%x, %w)") + rule("a", "%c = Relu(%x)"), "MRV0306", "7:6");
}

TEST_CASE("rules that overlap at equal priority are refused unless a condition keeps them apart") {
  std::string one = "%c = Conv(%x, %w)", other = "%k = Conv(%in, %weights)";
  expect(rule("a", one, "constant(%w)") + rule("b", other, "rank(%in) == 4"), "MRV0307", "8:6");
  accept(rule("a", one, "rank(%x) == 3") + rule("b", other, "rank(%in) == 4"));
  accept(rule("a", one, "constant(%w)") + rule("b", other, "not constant(%weights)"));
  accept(rule("a", one, "attr(%c, \"group\") == 1") + rule("b", other, "attr(%k, \"group\") > 1"));
  accept(rule("a", one, "attr(%c, \"group\") == 1") + rule("b", other, "attr(%k, \"group\") != 1"));
  accept(rule("a", one, "elem(%x) in {f16, f32}") + rule("b", other, "elem(%in) == i8"));
  accept(rule("a", one) + rule("b", other + " %r = Relu(%k)"));
  expect(rule("a", one, "rank(%x) in 3..4") + rule("b", other, "rank(%in) in 4..5"), "MRV0307", "8:6");
  // An absent operand fulfils both conditions.
  expect(rule("a", "%c = Conv(%x, %w, %b?)", "rank(%b) == 1") +
             rule("b", "%c = Conv(%x, %w, %b?)", "rank(%b) == 2"),
         "MRV0307", "8:6");
}

TEST_CASE("rules that can never win are refused") {
  std::string one = "%c = Conv(%x, %w)", other = "%k = Conv(%in, %weights)";
  expect(rule("a", one, "constant(%w)", 1) + rule("b", other, "constant(%weights)", 2), "MRV0308", "1:6");
  expect(rule("a", one, "constant(%w), rank(%x) == 4", 1) + rule("b", other, "constant(%weights)", 2),
         "MRV0308", "1:6");
  accept(rule("a", one, "constant(%w)", 1) + rule("b", other, "constant(%weights), rank(%in) == 4", 2));
  // Legality of its own kind of layer is a condition of every rule that makes one.
  accept(rule("a", one, "", 1) + rule("b", other, "", 2, "elementwise"));
  accept(rule("a", one, "", 1, "cpu") + rule("b", other, "", 2));
  expect(rule("a", one, "", 1) + rule("b", other, "", 2, "cpu"), "MRV0308", "1:6");
}

TEST_CASE("priority, then size, then name decide, not the order in the file") {
  std::string a = rule("a", "%c = Conv(%x, %w)", "rank(%x) == 4", 5),
              b = rule("b", "%c = Conv(%x, %w) %r = Relu(%c)", "", 5),
              c = rule("c", "%c = Conv(%x, %w)", "rank(%x) == 3", 5),
              d = rule("d", "%c = Conv(%x, %w)", "rank(%x) == 2", 9);
  auto names = [](const std::string& text) {
    std::string out;
    rules::LoadResult r = load(text);
    for (const Diag& diag : r.diagnostics.list()) FAIL_CHECK(diag.message);
    for (const rules::Rule& one : r.set.rules()) out += one.name;
    return out;
  };
  CHECK(names(a + b + c + d) == "dbac");
  CHECK(names(d + c + b + a) == "dbac");
}

// Patterns of any shape: roots at the end, leading elements, groups, lists, outputs; and what conditions
// compute.
#include <catch2/catch.hpp>

#include "table.h"

using namespace mrvlc;

namespace {

std::string rule(const std::string& match, const std::string& where = "", const std::string& before = "") {
  return before + "rule r { match { " + match + " } " + (where.empty() ? "" : "where " + where) +
         " layer cpu priority 1 why \"w\" }";
}

constexpr const char* kShape = " : f32[1,2,4,4]\n";

// Operators of the first match, "Conv Relu ", or why there is none.
std::string first(const std::string& rule_text, const std::string& body) {
  CAPTURE(rule_text, body);
  rules::LoadResult loaded = test::load(rule_text);
  for (const Diag& d : loaded.diagnostics.list()) FAIL(d.message);
  auto g = ir::parse(
      "graph \"g\" {\n input %x : f32[1,2,4,4]\n input %y : f32[1,2,4,4]\n"
      " const %w : f32[2,2,1,1] = [1, 2, 3, 4]\n const %k : f32[2,1,1] = [1, 2]\n" +
          body + "}\n",
      test::Registry());
  if (!g.ok()) FAIL(g.error().message);
  const rules::Rule& r = loaded.set.rules()[0];
  const rules::MachineNumbers machine = {{"ocm_bytes", 1024}};
  rules::MatchOptions options;
  options.machine = &machine;
  std::string why = "no anchor";
  for (ir::NodeId n : g->topological_order()) {
    if (!rules::anchors(r, g->node(n))) continue;
    const rules::Outcome o = rules::try_rule(r, *g, n, options);
    why = o.condition;
    if (!o.match) continue;
    std::string out;
    for (ir::NodeId m : o.match->nodes) out += std::string(g->node(m).op->name) + " ";
    return out;
  }
  return why;
}

std::string node(const std::string& text) {
  return " " + text + kShape;
}

}  // namespace

TEST_CASE("elements stand in any order, and the match lists producers first") {
  const std::string body =
      node("%c = Conv(%x, %w)") + node("%r = Relu(%c)") + node("%a = Add(%y, %r)") + " output %a\n";
  CHECK(first(rule("%a = Add(%b, %r) %r = Relu(%c) %c = Conv(%x, %w)"), body) == "Conv Relu Add ");
  CHECK(first(rule("%r = Relu(%c) %a = Add(%b, %r) %c = Conv(%x, %w)"), body) == "Conv Relu Add ");
}

TEST_CASE("branches that meet have one result that is read outside") {
  const std::string r = rule("%p = MatMul(%q, %h) %q = Relu(%x) %h = Sigmoid(%x)");
  const std::string body =
      node("%q = Relu(%x)") + node("%h = Sigmoid(%x)") + node("%p = MatMul(%q, %h)") + " output %p\n";
  CHECK(first(r, body) == "Relu Sigmoid MatMul ");
  CHECK(first(r, body + " output %q\n") == "one result");
  CHECK(first(r, node("%q = Relu(%x)") + node("%h = Sigmoid(%y)") + node("%p = MatMul(%q, %h)") +
                     " output %p\n") == "%h = Sigmoid(%x)");
  // Siblings are found by the value that both read, and not without what joins them.
  const std::string beside = rule("%q = Relu(%x) %h = Sigmoid(%x) %p = MatMul(%q, %h)");
  CHECK(first(beside, body) == "Relu Sigmoid MatMul ");
}

TEST_CASE("a path through the outside is no match") {
  // %s reads %c by way of %o, which the pattern does not have.
  const std::string body = node("%c = Conv(%x, %w)") + node("%o = Sigmoid(%c)") + node("%r = Relu(%o)") +
                           node("%a = Add(%c, %r)") + " output %a\n";
  CHECK(first(rule("%a = Add(%c, %r) %c = Conv(%x, %w) %r = Relu(%o)"), body) == "one result");
}

TEST_CASE("a leading element may be missing or there many times") {
  const std::string conv = node("%c = Conv(%x, %w)") + " output %c\n";
  const std::string led = node("%l = Relu(%x)") + node("%c = Conv(%l, %w)") + " output %c\n";
  const std::string optional = rule("%l = Relu(%in)? %c = Conv(%l, %w)", "rank(%in) == 4");
  CHECK(first(optional, conv) == "Conv ");
  CHECK(first(optional, led) == "Relu Conv ");
  // Read elsewhere as well, it is left out.
  CHECK(first(optional, node("%l = Relu(%x)") + node("%c = Conv(%l, %w)") + " output %c\n output %l\n") ==
        "Conv ");
  const std::string many = rule("%l = Relu|Sigmoid(%in)* %c = Conv(%l, %w)");
  CHECK(first(many, conv) == "Conv ");
  CHECK(first(many, node("%a = Sigmoid(%x)") + node("%b = Relu(%a)") + node("%c = Conv(%b, %w)") +
                        " output %c\n") == "Sigmoid Relu Conv ");
}

TEST_CASE("groups are there as a whole") {
  const std::string r = rule("%c = Conv(%x, %w) ( %s = Sigmoid(%c) %m = Mul(%c, %s) )? %r = Relu(%m)");
  const std::string conv = node("%c = Conv(%x, %w)");
  CHECK(first(r, conv + node("%r = Relu(%c)") + " output %r\n") == "Conv Relu ");
  CHECK(first(r, conv + node("%s = Sigmoid(%c)") + node("%m = Mul(%s, %c)") + node("%r = Relu(%m)") +
                     " output %r\n") == "Conv Sigmoid Mul Relu ");
  CHECK(first(r, conv + node("%s = Sigmoid(%c)") + node("%r = Relu(%s)") + " output %r\n") ==
        "%m = Mul(%c, %s)");
  const std::string leading = rule("( %s = Sigmoid(%in) %l = Relu(%s) )? %c = Conv(%l, %w)");
  CHECK(first(leading, conv + " output %c\n") == "Conv ");
  CHECK(first(leading, node("%s = Sigmoid(%x)") + node("%l = Relu(%s)") + node("%c = Conv(%l, %w)") +
                           " output %c\n") == "Sigmoid Relu Conv ");
}

TEST_CASE("one of several groups") {
  const std::string r =
      rule("%c = Conv(%x, %w) ( %s = Sigmoid(%c) %r = Mul(%c, %s) | %r = Relu(%c) ) %a = Add(%r, %k)",
           "constant(%k)");
  const std::string conv = node("%c = Conv(%x, %w)"), add = node("%a = Add(%r, %k)") + " output %a\n";
  CHECK(first(r, conv + node("%r = Relu(%c)") + add) == "Conv Relu Add ");
  CHECK(first(r, conv + node("%s = Sigmoid(%c)") + node("%r = Mul(%s, %c)") + add) ==
        "Conv Sigmoid Mul Add ");
  CHECK(first(r, conv + node("%r = Sigmoid(%c)") + add) != "Conv Sigmoid Add ");
}

TEST_CASE("rounds of a group, each with operands of its own") {
  const std::string r = rule("%c = Conv(%x, %w) ( %m = Mul(%c, %f) %d = Add(%m, %g) )* %r = Relu(%d)");
  std::string body = node("%c = Conv(%x, %w)");
  CHECK(first(r, body + node("%r = Relu(%c)") + " output %r\n") == "Conv Relu ");
  body += node("%m0 = Mul(%c, %k)") + node("%d0 = Add(%m0, %x)");
  CHECK(first(r, body + node("%r = Relu(%d0)") + " output %r\n") == "Conv Mul Add Relu ");
  body += node("%m1 = Mul(%y, %d0)") + node("%d1 = Add(%m1, %k)");
  CHECK(first(r, body + node("%r = Relu(%d1)") + " output %r\n") == "Conv Mul Add Mul Add Relu ");
  CHECK(first(r, body + node("%m2 = Mul(%d1, %k)") + node("%r = Relu(%m2)") + " output %r\n") ==
        "%d = Add(%m, %g)");
}

TEST_CASE("lists of operands") {
  const std::string r = rule("%o = Concat(%r...) %r... = Relu(%c...) %c... = Conv(%x, %w...)",
                             "count(%r) in 2..3, constant(%w), rank(%c) == 4");
  auto body = [](int n, const std::string& last) {
    std::string text, all;
    for (int i = 0; i < n; ++i) {
      const std::string k = std::to_string(i);
      text += node("%c" + k + " = Conv(%x, %w)") +
              node("%r" + k + " = " + (i + 1 == n ? last : "Relu") + "(%c" + k + ")");
      all += (i > 0 ? ", %r" : "%r") + k;
    }
    return text + node("%o = Concat(" + all + ")") + " output %o\n";
  };
  CHECK(first(r, body(2, "Relu")) == "Conv Relu Conv Relu Concat ");
  CHECK(first(r, body(3, "Relu")).size() == std::string("Conv Relu Conv Relu Conv Relu Concat ").size());
  CHECK(first(r, body(4, "Relu")) == "count(%r) in 2..3");
  CHECK(first(r, body(2, "Sigmoid")) == "%r... = Relu(%c...)");
  CHECK(first(rule("%o = Concat(%first, %rest...)", "count(%rest) == 2"), body(3, "Relu")) == "Concat ");
}

TEST_CASE("conditions compute") {
  const std::string body = node("%c = Conv(%x, %w)") + " output %c\n";
  auto holds = [&](const std::string& where, const std::string& before = "") {
    return first(rule("%c = Conv(%x, %w, %b?)", where, before), body) == "Conv ";
  };
  for (const char* where :
       {"dim(%x, 1) * dim(%x, 2) <= 8", "dim(%x, 1) + 1 == 3", "elements(%x) / 5 == 6",
        "elements(%x) mod 5 == 2", "10 - elements(%x) / 4 * 2 == -6", "(10 - elements(%x) / 4) * 2 == 4",
        "shape(%x) == [1, 2, 4, 4]", "value(%w) in 1..4", "value(%w) == [1, 2, 3, 4]",
        "elements(%x) * 4 <= machine(\"ocm_bytes\")", "not present(%b)", "count(%b) == 0", "count(%x) == 1",
        "tensor(%x) like \"x*\"", "made_of(%c, \"Co?v\")", "rank(%b) == 77 or rank(%x) == 3",
        "elements(%x) * 0.5 == 16.0",
        // Elements of lists.
        "shape(%x)[-1] == 4", "shape(%x)[rank(%x) - 3] == 2", "[3, 5][1] == 5", "(shape(%x) * 2)[1] == 4",
        "value(%w)[3] - 1 == 3",
        // Functions of numbers.
        "floor(-1.5) == -2", "round(2.5) == 2", "round(3.5) == 4", "round(-2.5) == -2",
        "round(0 - 0.75) == -1", "min(dim(%x, 1), 7) == 2", "max(dim(%x, 1), 7.5) == 7.5", "pow2(10) == 1024",
        "q31(0.75) == 1610612736", "q31_shift(3) == 2", "q31(1e-12) == 0",
        "floor(value(%w) / 2.0) == [0, 1, 1, 2]", "pow2(q31_shift(min(elements(%x), 8) * 1.0)) == 16"}) {
    CAPTURE(where);
    CHECK(holds(where));
  }
  for (const char* where :
       {"dim(%x, 1) * dim(%x, 2) < 8", "elements(%x) / (rank(%x) - 4) == 1",
        "elements(%x) mod (rank(%x) - 4) != 1", "9223372036854775807 + rank(%x) > 0", "value(%x) == 1",
        "value(%w) == 1", "value(%w) == [1, 2, 3]", "present(%b)", "tensor(%x) like \"y*\"",
        "made_of(%c, \"MatMul\")",
        // What there is not equals nothing.
        "shape(%x)[4] != 4", "shape(%x)[-5] >= 0", "shape(%x)[9223372036854775807] >= 0", "pow2(63) > 0",
        "pow2(-1) >= 0", "q31(-1) >= 0", "q31(1e300) >= 0", "floor(1e300) > 0",
        "floor(1 / (rank(%x) - 4)) >= 0", "min(1, pow2(64)) <= 1", "sums(%x, 0) >= 0", "sums(%w, 0) >= 0"}) {
    CAPTURE(where);
    CHECK_FALSE(holds(where));
  }
  const std::string named =
      "condition small(%v, %n) = rank(%v) == 4, elements(%v) <= %n\n"
      "condition tiny(%v) = small(%v, 8)\n";
  CHECK(holds("small(%x, 32)", named));
  CHECK_FALSE(holds("small(%x, 31)", named));
  CHECK(holds("tiny(%w)", named));
  CHECK(holds("not tiny(%x)", named));
  CHECK(holds("tiny(%x) or small(%x, 64)", named));
}

#include <catch2/catch.hpp>

#include "table.h"

using namespace mrvlc;

namespace {

struct Tried {
  std::string nodes;  // names of the matched nodes
  rules::Outcome outcome;
};

class Fixture {
 public:
  Fixture(const std::string& rule_text, const std::string& graph_text)
      : loaded_(test::load(rule_text)), graph_(ir::parse(graph_text, test::Registry())) {
    for (const Diag& d : loaded_.diagnostics.list()) FAIL(d.message);
    if (!graph_.ok()) FAIL(graph_.error().message);
  }
  Tried at_first(const rules::MatchOptions& options = {}) {
    const ir::Graph& g = *graph_;
    const rules::Rule& rule = loaded_.set.rules()[0];
    for (ir::NodeId n : g.topological_order()) {
      if (!rules::anchors(rule, g.node(n))) continue;
      Tried t{"", rules::try_rule(rule, g, n, options)};
      if (t.outcome.match) {
        for (ir::NodeId m : t.outcome.match->nodes) t.nodes += std::string(g.node(m).op->name) + " ";
      }
      return t;
    }
    return {};
  }

 private:
  rules::LoadResult loaded_;
  Result<ir::Graph> graph_;
};

std::string rule(const std::string& match, const std::string& where = "") {
  return "rule r { match { " + match + " } " + (where.empty() ? "" : "where " + where) +
         " layer conv priority 1 why \"w\" }";
}

std::string graph(const std::string& body) {
  return R"(graph "g" {
  input %x : f32[1,2,4,4]
  input %y : f32[1,2,4,4]
  const %w : f32[2,2,1,1] = [1, 2, 3, 4]
  const %k : f32[2,1,1] = [1, 2]
)" + body +
         "}\n";
}

const std::string kShape = " : f32[1,2,4,4]\n";
std::string node(const std::string& text) {
  return "  " + text + kShape;
}
const std::string kConv = node("%c = Conv(%x, %w)");
const std::string kEpilogue = rule("%c = Conv(%x, %w, %b?) %e = Add|Mul|Relu|Clip(%c, ...)*", "constant(%w)");

}  // namespace

TEST_CASE("repeated elements take the whole chain") {
  Tried t = Fixture(kEpilogue, graph(kConv + node("%a = Add(%c, %k)") + node("%r = Relu(%a)") +
                                     node("%m = Mul(%k, %r)") + "output %m\n"))
                .at_first();
  CHECK(t.nodes == "Conv Add Relu Mul ");
  REQUIRE(t.outcome.match);
  CHECK(t.outcome.match->find("b")->absent);
  CHECK_FALSE(t.outcome.match->find("e")->absent);
}

TEST_CASE("commutative operators match in either order, others do not") {
  CHECK(Fixture(kEpilogue, graph(kConv + node("%a = Add(%k, %c)") + "output %a\n")).at_first().nodes ==
        "Conv Add ");
  std::string sub = rule("%c = Conv(%x, %w) %s = Sub(%c, %k)?");
  CHECK(Fixture(sub, graph(kConv + node("%a = Sub(%c, %k)") + "output %a\n")).at_first().nodes ==
        "Conv Sub ");
  CHECK(Fixture(sub, graph(kConv + node("%a = Sub(%k, %c)") + "output %a\n")).at_first().nodes == "Conv ");
}

TEST_CASE("a value read outside the match ends the chain in front of it") {
  std::string two_users = kConv + node("%a = Relu(%c)") + node("%r = Relu(%a)") + node("%o = Sigmoid(%a)") +
                          "output %r\noutput %o\n";
  CHECK(Fixture(kEpilogue, graph(two_users)).at_first().nodes == "Conv Relu ");
  CHECK(
      Fixture(kEpilogue, graph(kConv + node("%a = Relu(%c)") + "output %a\noutput %c\n")).at_first().nodes ==
      "Conv ");
}

TEST_CASE("optional elements stand for what they would have read") {
  std::string r = rule("%c = Conv(%x, %w) %a = Add(%c, %k)? %r = Relu(%a)?", "constant(%k)");
  CHECK(Fixture(r, graph(kConv + node("%r = Relu(%c)") + "output %r\n")).at_first().nodes == "Conv Relu ");
  CHECK(Fixture(r, graph(kConv + node("%a = Add(%c, %k)") + node("%r = Relu(%a)") + "output %r\n"))
            .at_first()
            .nodes == "Conv Add Relu ");
}

TEST_CASE("shorter matches are tried when a condition fails for the longest") {
  std::string r = rule("%c = Conv(%x, %w) %a = Add(%c, %k)? %r = Relu(%a)?", "constant(%k)");
  CHECK(Fixture(r, graph(kConv + node("%a = Add(%c, %y)") + node("%r = Relu(%a)") + "output %r\n"))
            .at_first()
            .nodes == "Conv ");
}

TEST_CASE("several readers inside the pattern are one match") {
  std::string r = rule("%c = Conv(%x, %w) %s = Sigmoid(%c) %m = Mul(%c, %s)");
  CHECK(Fixture(r, graph(kConv + node("%s = Sigmoid(%c)") + node("%m = Mul(%s, %c)") + "output %m\n"))
            .at_first()
            .nodes == "Conv Sigmoid Mul ");
  std::string outside = kConv + node("%s = Sigmoid(%c)") + node("%m = Mul(%s, %c)") + node("%r = Relu(%c)") +
                        "output %m\noutput %r\n";
  CHECK_FALSE(Fixture(r, graph(outside)).at_first().outcome.match);
}

TEST_CASE("an output of the model is never inside of a match") {
  CHECK(
      Fixture(kEpilogue, graph(kConv + node("%r = Relu(%c)") + "output %c\noutput %r\n")).at_first().nodes ==
      "Conv ");
  // Nothing reads on from the branch: only the whole match shows that it lies inside.
  std::string r = rule("%c = Conv(%x, %w) %s = Sigmoid(%c) %m = Mul(%c, %s)");
  std::string branch = kConv + node("%s = Sigmoid(%c)") + node("%m = Mul(%s, %c)") + "output %m\n";
  CHECK(Fixture(r, graph(branch)).at_first().outcome.match);
  CHECK_FALSE(Fixture(r, graph(branch + "output %s\n")).at_first().outcome.match);
}

TEST_CASE("operators without '...' have just the inputs written") {
  auto matches = [](const std::string& pattern, const std::string& conv) {
    return Fixture(rule(pattern), graph(node(conv) + "output %c\n")).at_first().outcome.match.has_value();
  };
  CHECK(matches("%c = Conv(%x, %w)", "%c = Conv(%x, %w)"));
  CHECK_FALSE(matches("%c = Conv(%x, %w)", "%c = Conv(%x, %w, %k)"));
  CHECK(matches("%c = Conv(%x, %w, ...)", "%c = Conv(%x, %w, %k)"));
  CHECK(matches("%c = Conv(%x, %w, %b?)", "%c = Conv(%x, %w, %k)"));
  CHECK_FALSE(matches("%c = Conv(%x, %w, %b)", "%c = Conv(%x, %w)"));
}

TEST_CASE("the same capture twice means the same value") {
  std::string r = rule("%a = Add(%x, %y) %m = Mul(%a, %x)");
  CHECK(Fixture(r, graph(node("%a = Add(%x, %y)") + node("%m = Mul(%a, %x)") + "output %m\n"))
            .at_first()
            .nodes == "Add Mul ");
  CHECK_FALSE(Fixture(r, graph(node("%a = Add(%x, %y)") + node("%m = Mul(%a, %k)") + "output %m\n"))
                  .at_first()
                  .outcome.match);
}

TEST_CASE("a failed condition says what was compared with what") {
  auto failed = [](const std::string& where, const std::string& body = kConv + "output %c\n") {
    Tried t = Fixture(rule("%c = Conv(%x, %w, %b?)", where), graph(body)).at_first();
    REQUIRE_FALSE(t.outcome.match);
    return t.outcome;
  };
  rules::Outcome o = failed("rank(%x) in 1..3");
  CHECK(o.condition == "rank(%x) in 1..3");
  CHECK(o.actual == "4");
  CHECK(o.limit == "1..3");
  CHECK(o.reason == "rank(%x) is 4; the rule takes 1..3.");
  CHECK(failed("attr(%c, \"group\") > 1").actual == "1");
  CHECK(failed("attr(%c, \"group\") > 1").limit == "more than 1");
  CHECK(failed("attr(%c, \"strides\") == 1").actual == "absent");
  CHECK(failed("elem(%x) in {f16, i8}").limit == "f16 or i8");
  CHECK(failed("dim(%x, -1) == dim(%x, 1)").limit == "2");
  CHECK(failed("dim(%x, 9) < 5").actual == "absent");
  CHECK(failed("not constant(%w)").limit == "it does not hold");
  CHECK(failed("rank(%x) == 3 or elements(%w) < 4").reason ==
        "rank(%x) is 4; the rule takes 3. elements(%w) is 4; the rule takes less than 4.");
  CHECK(failed("rank(%x) == 4, constant(%x)").actual == "an input of the model");
}

TEST_CASE("conditions hold up to their limits and not beyond") {
  auto holds = [](const std::string& where) {
    CAPTURE(where);
    return Fixture(rule("%c = Conv(%x, %w, %b?)", where),
                   graph(node("%c = Conv(%x, %w) {strides = [1, 2]}") + "output %c\n"))
        .at_first()
        .outcome.match.has_value();
  };
  for (const char* where :
       {"rank(%x) <= 4", "rank(%x) >= 4", "rank(%x) < 5", "rank(%x) > 3", "rank(%x) in 4..5",
        "rank(%x) in 3..4", "not rank(%x) in 5..6", "elem(%x) in {f16, f32}",
        // A list: every element.
        "attr(%c, \"strides\") in 1..2", "attr(%c, \"strides\") >= 1", "attr(%c, \"strides\") <= 2",
        // Dimensions from either end; %w is 2x2x1x1, and no dimension is there beyond the ends.
        "dim(%w, 0) == 2", "dim(%w, -1) == 1", "dim(%w, -2) == 1", "dim(%w, -3) == 2", "dim(%w, -4) == 2"}) {
    CHECK(holds(where));
  }
  for (const char* where :
       {"rank(%x) <= 3", "rank(%x) >= 5", "rank(%x) < 4", "rank(%x) > 4", "rank(%x) in 5..6",
        "rank(%x) in 2..3", "not rank(%x) in 4..4", "elem(%x) in {f16, i8}", "attr(%c, \"strides\") == 1",
        "attr(%c, \"strides\") == 2", "attr(%c, \"strides\") > 1", "dim(%w, 4) >= 0", "dim(%w, -5) >= 0",
        // What is not there equals nothing, not even what is not there either.
        "dim(%w, 4) == dim(%x, 4)", "dim(%w, 4) != dim(%x, 4)"}) {
    CHECK_FALSE(holds(where));
  }
}

TEST_CASE("an output is unused when neither an operator nor the model reads it") {
  auto unused = [](int output, const std::string& readers) {
    Tried t = Fixture(rule("%c = Conv(%x, %w)", "output_unused(%c, " + std::to_string(output) + ")"),
                      graph("  %c, %i = Conv(%x, %w) : f32[1,2,4,4], f32[1,2,4,4]\n" + readers))
                  .at_first();
    return t.outcome.match ? "unused" : t.outcome.actual;
  };
  CHECK(unused(1, "output %c\n") == "unused");
  CHECK(unused(2, "output %c\n") == "unused");  // there is none
  CHECK(unused(0, "output %c\n") == "1 uses");
  CHECK(unused(1, "output %c\noutput %i\n") == "1 uses");
  CHECK(unused(1, node("%r = Relu(%i)") + "output %c\noutput %r\n") == "1 uses");
  CHECK(unused(1, node("%r = Relu(%i)") + "output %i\noutput %r\n") == "2 uses");
}

TEST_CASE("conditions on absent operands hold") {
  CHECK(Fixture(rule("%c = Conv(%x, %w, %b?)", "rank(%b) == 77"), graph(kConv + "output %c\n"))
            .at_first()
            .outcome.match);
}

TEST_CASE("a missing element is named") {
  Tried t = Fixture(rule("%c = Conv(%x, %w) %r = Relu(%c)"), graph(kConv + "output %c\n")).at_first();
  REQUIRE_FALSE(t.outcome.match);
  CHECK(t.outcome.condition == "%r = Relu(%c)");
  CHECK(t.outcome.limit == "Relu");
}

TEST_CASE("legality is asked of every match, after its conditions, and availability is respected") {
  Fixture f(rule("%c = Conv(%x, %w) %r = Relu(%c)?", "rank(%x) == 4"),
            graph(kConv + node("%r = Relu(%c)") + "output %r\n"));
  rules::MatchOptions options;
  options.legal = [](const rules::Match& m) {
    return m.nodes.size() < 2 ? rules::Verdict() : rules::Verdict{false, "size", "2", "1", "too large."};
  };
  CHECK(f.at_first(options).nodes == "Conv ");
  options.legal = [](const rules::Match&) { return rules::Verdict{false, "size", "2", "1", "too large."}; };
  rules::Outcome refused = f.at_first(options).outcome;
  CHECK(refused.condition == "size");
  CHECK(refused.limit == "1");
  int asked = 0;
  options.legal = [&](const rules::Match&) { return ++asked, rules::Verdict(); };
  Fixture never(rule("%c = Conv(%x, %w) %r = Relu(%c)?", "rank(%x) == 5"), graph(kConv + "output %c\n"));
  CHECK(never.at_first(options).outcome.condition == "rank(%x) == 5");
  CHECK(asked == 0);
  options.legal = nullptr;
  options.starts_region = [](ir::NodeId n) { return n.index() == 1; };
  CHECK(f.at_first(options).nodes == "Conv ");
}

TEST_CASE("the search is bounded") {
  std::string body = kConv;
  std::string previous = "%c";
  for (int i = 0; i < 3000; ++i) {
    std::string name = "%v" + std::to_string(i);
    body += node(name + " = Relu(" + previous + ")");
    previous = name;
  }
  std::string r =
      rule("%c = Conv(%x, %w) %a = Relu(%c)* %b = Relu(%a)* %d = Relu(%b)* %e = Relu(%d)*", "rank(%x) == 9");
  CHECK_FALSE(Fixture(r, graph(body + "output " + previous + "\n")).at_first().outcome.match);
}

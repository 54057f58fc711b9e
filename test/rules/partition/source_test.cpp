// Rules of the imported graph: what the passes made of their nodes becomes the layer, or a reason says why
// not.
#include "build.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/source_rules.h"
#include "mrvlc/passes/pass.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

struct Placed {
  ir::Graph graph;
  partition::SourceMatches matches;
  partition::Partition partition;
};

// As the driver does it: canonical rules are asked on a graph that keeps integer weights.
partition::SourceMatches matches_on_integers(const ir::Graph& imported, const rules::RuleSet& set) {
  ir::Graph graph = imported;
  passes::RunOptions options;
  options.context.stays = [](const ir::Graph&, const ir::Node& n) { return n.is(Op::DequantizeLinear); };
  REQUIRE(passes::run_passes(graph, passes::default_pipeline(), options).ok());
  return partition::match_integers(graph, set, machine());
}

Placed place(const std::string& body, const std::string& rules_text) {
  auto parsed = ir::parse("graph \"g\" {\n" + body + "}\n", ops::registry());
  if (!parsed.ok()) FAIL(parsed.error().message);
  Placed p{*parsed, {}, {}};
  partition::Options options;
  options.turns = {{rules_of(true, rules_text)}};
  for (const Diag& d : options.turns.front().rules->diagnostics.list()) FAIL(d.message);
  p.matches = partition::match_sources(p.graph, options.turns.front().rules->set, machine());
  for (partition::SourceMatch& m : matches_on_integers(p.graph, options.turns.front().rules->set))
    p.matches.push_back(m);
  REQUIRE(passes::run_passes(p.graph, passes::default_pipeline()).ok());
  auto placed = partition::partition(p.graph, &accelerator(), options, p.matches);
  if (!placed.ok()) FAIL(placed.error().message);
  p.partition = std::move(*placed);
  return p;
}

// The trial of the rule that says the most.
const partition::RuleTrial* trial(const Placed& p, const std::string& rule) {
  const partition::RuleTrial* found = nullptr;
  for (const auto& d : p.partition.decisions) {
    for (const auto& t : d.trials) {
      if (t->rule == rule && (found == nullptr || t->accepted)) found = t.get();
    }
  }
  return found;
}

const std::string kNorm =
    " input %x : f32[1,4,8]\n const %axes : i64[1] = [-1]\n const %two : f32[] = [2]\n const %eps : f32[] = "
    "[0.00001]\n %m = ReduceMean(%x, %axes) : f32[1,4,1]\n %d = Sub(%x, %m) : f32[1,4,8]\n"
    " %q = Pow(%d, %two) : f32[1,4,8]\n %v = ReduceMean(%q, %axes) : f32[1,4,1]\n %e = Add(%v, %eps) : "
    "f32[1,4,1]\n"
    " %s = Sqrt(%e) : f32[1,4,1]\n %n = Div(%d, %s) : f32[1,4,8]\n output %n\n";

std::string norm_rule(const std::string& layer, const std::string& end = "%n = Div(%d, %s)") {
  return "rule written { layer " + layer +
         " priority 300 why \"w\" stage source match { %m = ReduceMean(%x, _) %d = Sub(%x, %m) %q = Pow(%d, "
         "%two) "
         "%v = ReduceMean(%q, _) %e = Add(%v, %eps) %s = Sqrt(%e) " +
         end + " } where value(%two) == 2 }";
}

}  // namespace

TEST_CASE("a formula as the user sees it becomes the layer that the passes make of it") {
  const Placed p = place(kNorm, norm_rule("norm"));
  REQUIRE(p.matches.size() == 1);
  CHECK(p.matches[0].sources.size() == 7);
  REQUIRE(trial(p, "written") != nullptr);
  CHECK(trial(p, "written")->accepted);
}

TEST_CASE("a match of the imported graph can be kept on the CPU") {
  const Placed p = place(kNorm, norm_rule("cpu"));
  for (const auto& d : p.partition.decisions) {
    CHECK_FALSE(d.accelerator);
    CHECK(d.rule == "written");
  }
}

TEST_CASE("a kind of layer that does not fit is refused with a reason") {
  const Placed p = place(kNorm, norm_rule("reduce"));
  const partition::RuleTrial* t = trial(p, "written");
  REQUIRE(t != nullptr);
  CHECK_FALSE(t->accepted);
  CHECK_FALSE(t->reason.empty());
}

TEST_CASE("what became a part of something else is refused with a reason") {
  // The passes make one operator of the whole formula; the rule matched its beginning only.
  const Placed p = place(kNorm,
                         "rule written { layer reduce priority 300 why \"w\" stage source match { %m = "
                         "ReduceMean(%x, _) } where "
                         "uses(%x) == 2 }");
  REQUIRE(p.matches.size() == 1);
  const partition::RuleTrial* t = trial(p, "written");
  REQUIRE(t != nullptr);
  CHECK_FALSE(t->accepted);
  CHECK(t->reason.find("together with") != std::string::npos);
}

namespace {

const std::string kQuantized =
    " input %x : f32[1,1,4,4]\n const %q : i8[2,1,1,1] = [3, -5]\n const %s : f32[] = [0.5]\n"
    " %w = DequantizeLinear(%q, %s) : f32[2,1,1,1]\n %c = Conv(%x, %w) : f32[1,2,4,4]\n"
    " %r = Relu(%c) : f32[1,2,4,4]\n output %r\n";

std::string integers_rule(const std::string& layer) {
  return "rule integers { layer " + layer +
         " priority 300 why \"w\" match { %c = Conv(_, %w) %w = DequantizeLinear(%q, %s) %r = Relu(%c)? } "
         "where "
         "elem(%q) == i8, value(%s) == 0.5 }";
}

}  // namespace

TEST_CASE("a canonical rule sees integer weights, and what becomes of its match is the layer") {
  const Placed p = place(kQuantized, integers_rule("conv"));
  REQUIRE(p.matches.size() == 1);
  CHECK(p.matches[0].sources.size() == 3);
  REQUIRE(trial(p, "integers") != nullptr);
  CHECK(trial(p, "integers")->accepted);
  REQUIRE(p.partition.regions.size() == 1);
  CHECK(p.partition.regions[0].layers[0].rule == "integers");
}

TEST_CASE("a rule with an element in front of its anchor that may be missing is tried at the anchor") {
  const Placed p =
      place(kQuantized,
            "rule leading { layer conv priority 300 why \"w\" match { %p = Sigmoid(_)? %c = Conv(%p, _) } }");
  REQUIRE(trial(p, "leading") != nullptr);
  CHECK(trial(p, "leading")->accepted);
}

// Conditions about ranges: what is proved, what calibration data showed, and what nothing is known of.
#include "build.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/range/known.h"

using namespace mrvlc;

namespace {

const std::string kTaken =
    "rule taken { layer elementwise priority 500 why \"w\" match { %y = Relu(%x) } where ";
const std::string kBody = test::node("%c = Mul(%x, %k)") + test::node("%y = Relu(%c)") + " output %y\n";

// The first condition of the rule that failed at %y, or that it was accepted.
partition::RuleTrial tried(const std::string& where, const range::Stated& stated,
                           const std::optional<range::Interval>& observed = {}) {
  const ir::Graph g = test::image_graph(kBody);
  std::map<ir::ValueId, range::Interval> seen;
  if (observed) seen[*g.find_value("c")] = *observed;
  const range::Knowledge known(g, stated, seen);
  partition::Options options;
  options.turns = {{test::rules_of(false, kTaken + where + " }")}};
  options.known = &known;
  const partition::Partition p = test::split(g, options);
  for (const partition::NodeDecision& d : p.decisions)
    if (g.node(d.node).is(Op::Relu) && !d.trials.empty()) return *d.trials.front();
  FAIL("the rule was not tried");
  return {};
}

}  // namespace

TEST_CASE("a value is safe in fp16 where that is proved or was observed") {
  const range::Stated small = {{0, {-1, 1}}}, large = {{0, {0, 65535}}};
  CHECK(tried("fp16_safe(%x)", small).accepted);
  const auto beyond = tried("fp16_safe(%x)", large);
  CHECK_FALSE(beyond.accepted);
  CHECK(beyond.condition == "fp16_safe(%x)");
  CHECK(beyond.limit == "65504");
  CHECK(std::stod(beyond.actual) == Approx(4 * 65535));
  CHECK(beyond.reason.find("%x ('c') may reach 26214") == 0);
  CHECK(beyond.reason.find("(proved), beyond 65504.") != std::string::npos);
  const auto unknown = tried("fp16_safe(%x)", {});
  CHECK_FALSE(unknown.accepted);
  CHECK(unknown.actual == "unknown");
  // Data say more than a bound that is too large; what is proved to fit needs none.
  CHECK(tried("fp16_safe(%x)", large, range::Interval{-3, 1000}).accepted);
  const auto seen = tried("fp16_safe(%x)", {}, range::Interval{-70000, 0});
  CHECK(seen.actual == "70000");
  CHECK(seen.reason == "%x ('c') reached 70000 (observed), beyond 65504.");
  CHECK(tried("fp16_safe(%x)", small, range::Interval{-70000, 0}).accepted);
}

TEST_CASE("magnitudes are compared, and one that is not known equals nothing") {
  const range::Stated stated = {{0, {-2, 1}}};
  CHECK(tried("max_abs(%x) <= 8.001", stated).accepted);
  CHECK(tried("max_abs(%x) >= 8", stated).accepted);
  CHECK_FALSE(tried("max_abs(%x) < 8", stated).accepted);
  CHECK_FALSE(tried("max_abs(%x) < 8", {}).accepted);
  CHECK_FALSE(tried("max_abs(%x) >= 8", {}).accepted);
  CHECK(tried("not fp16_safe(%x), not max_abs(%x) <= 65504", {}).accepted);
}

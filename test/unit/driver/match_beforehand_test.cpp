// Weights behind DequantizeLinear stay integers where a rule keeps them on the CPU, and nowhere else.
#include <algorithm>
#include <catch2/catch.hpp>

#include "mrvlc/backends/open.h"
#include "mrvlc/driver/place.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/rules.h"

using namespace mrvlc;

namespace {

// Two convolutions of integer weights, one of 8 bits without sign.
ir::Graph quantized() {
  auto g = ir::parse(
      "graph \"g\" {\n input %x : f32[1,1,4,4]\n const %q : i8[1,1,1,1] = [3]\n const %u : u8[1,1,1,1] = "
      "[5]\n"
      " const %s : f32[] = [0.5]\n %w = DequantizeLinear(%q, %s) : f32[1,1,1,1]\n"
      " %c = Conv(%x, %w) : f32[1,1,4,4]\n %v = DequantizeLinear(%u, %s) : f32[1,1,1,1]\n"
      " %d = Conv(%c, %v) : f32[1,1,4,4]\n output %d\n}\n",
      ops::registry());
  if (!g.ok()) FAIL(g.error().message);
  return std::move(g).value();
}

// How many matches the rule has, and how many DequantizeLinear the passes then leave.
std::pair<size_t, size_t> left_of(const std::string& clauses) {
  auto rules = partition::sound_rules(
      {}, {{"my.rules", "rule r { priority 1 why \"w\" " + clauses + " where elem(%q) == i8 }"}});
  if (!rules.ok()) FAIL(rules.error().message);
  auto backend = backends::open_default({});
  REQUIRE(backend.ok());
  ir::Graph graph = quantized();
  passes::RunOptions run;
  auto matches = driver::match_beforehand(graph, {{*rules}}, **backend, run);
  REQUIRE(matches.ok());
  REQUIRE(passes::run_passes(graph, passes::default_pipeline(), run).ok());
  const auto order = graph.topological_order();
  const auto left =
      std::ranges::count_if(order, [&](ir::NodeId n) { return graph.node(n).is(Op::DequantizeLinear); });
  return {matches->size(), static_cast<size_t>(left)};
}

using Counts = std::pair<size_t, size_t>;
const std::string kPattern = " match { %c = Conv(_, %w) %w = DequantizeLinear(%q, _) }";

}  // namespace

TEST_CASE("integer weights stay where a rule keeps them on the CPU") {
  CHECK(left_of("layer cpu" + kPattern) == Counts{1, 1});
  CHECK(left_of("layer cpu stage source" + kPattern) == Counts{1, 1});
}

TEST_CASE("integer weights of what the accelerator takes are folded") {
  CHECK(left_of("layer conv" + kPattern) == Counts{1, 0});
  CHECK(left_of("layer conv stage source" + kPattern) == Counts{1, 0});
}

TEST_CASE("rules that do not name DequantizeLinear keep nothing") {
  CHECK(left_of("layer cpu match { %c = Conv(%q, _) }") == Counts{0, 0});
}

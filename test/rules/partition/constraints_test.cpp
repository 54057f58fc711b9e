// Constraints that are resolved before the passes hold behind them.
#include "mrvlc/partition/constraints.h"

#include "build.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/ineffective_constraints.h"
#include "mrvlc/passes/fences.h"
#include "mrvlc/passes/pass.h"

using namespace mrvlc;
using partition::Constraint;

namespace {

Constraint of(std::vector<std::string> nodes) {
  Constraint c;
  c.given_as = "it";
  c.nodes = std::move(nodes);
  return c;
}
Constraint cpu(const std::string& node) {
  Constraint c = of({node});
  c.on = Constraint::Target::Cpu;
  return c;
}
Constraint border(const std::string& node) {
  Constraint c = of({node});
  c.before = true;
  return c;
}
Constraint together(std::vector<std::string> nodes) {
  Constraint c = of(std::move(nodes));
  c.together = true;
  return c;
}

// "R0 C:g R1", or the code of the error.
std::string steps(ir::Graph g, const std::vector<Constraint>& constraints, size_t* layers = nullptr) {
  auto pins = partition::Pins::resolve(g, constraints);
  if (!pins.ok()) return std::string(diag_info(pins.error().code).name);
  passes::raise_fences(g, [&](ir::ValueId v, ir::NodeId u) { return pins->fence(g, v, u); });
  REQUIRE(passes::run_passes(g, passes::default_pipeline()).ok());
  pins->borders = passes::take_fences(g);
  partition::Options options;
  options.pins = std::make_shared<partition::Pins>(*pins);
  auto p = partition::partition(g, &test::accelerator(), options);
  if (!p.ok()) return std::string(diag_info(p.error().code).name) + " " + p.error().message;
  if (layers != nullptr) *layers = p->regions.at(0).layers.size();
  return test::steps(g, *p);
}

ir::Graph model() {
  return test::conv_swish_conv(" output %d\n");
}

}  // namespace

TEST_CASE("nothing fuses with a node that is kept on the CPU") {
  CHECK(steps(model(), {}) == "R0");
  CHECK(steps(model(), {cpu("g")}) == "R0 C:g R1");
  CHECK(steps(model(), {cpu("op:Sigmoid")}) == "R0 C:g R1");
  CHECK(steps(model(), {cpu("tensor:g")}) == "R0 C:g R1");
  const std::string bn = steps(model(), {cpu("BatchNormalization")});
  CHECK(bn.starts_with("R0 C:"));
  CHECK(bn.ends_with("R1"));
}

TEST_CASE("nothing fuses across a border, and a border sends nothing to the CPU") {
  CHECK(steps(model(), {border("n")}) == "R0 R1");
  CHECK(steps(model(), {border("Conv")}) == "R0 R1");  // the first has nothing of the accelerator in front
  CHECK(steps(model(), {border("d"), border("n"), border("a")}) == "R0 R1 R2 R3");
  Constraint after = of({"c"});
  after.after = true;
  CHECK(steps(model(), {after}) == "R0 R1");
}

TEST_CASE("a group is a region of its own, or is refused with the way out of it") {
  CHECK(steps(model(), {together({"n", "g", "m"})}) == "R0 R1 R2");
  const std::string said = steps(model(), {together({"n", "m"})});
  CHECK(said.starts_with("MRV0412 it cannot be kept: a way leads out of them through "));
  CHECK(steps(model(), {together({"n"}), together({"n", "g"})}) == "MRV0411");
  CHECK(steps(model(), {together({"n"}), cpu("n")}) == "MRV0411");
}

TEST_CASE("what names nothing is an error, what is folded asks for nothing") {
  CHECK(steps(model(), {cpu("tensor:nothing")}) == "MRV0401");
  CHECK(steps(model(), {cpu("nothing")}).starts_with("MRV0401"));
  CHECK(steps(model(), {cpu("k2")}) == "R0");
  Constraint way = of({});
  way.to = {"nothing"};
  way.on = Constraint::Target::Cpu;
  CHECK(steps(model(), {way}) == "MRV0409");
  way.to = {"c"}, way.from = {"m"};
  CHECK(steps(model(), {way}) == "MRV0410");
  way.from = {"n"}, way.to = {"m"};
  CHECK(steps(model(), {way}).find("C:g") != std::string::npos);
}

TEST_CASE("regions hold no more layers, and there are no more of them, than is asked") {
  Constraint layers = of({"*"});
  layers.max_layers = 1;
  size_t count = 0;
  CHECK(steps(model(), {layers}, &count).starts_with("R0 R1"));
  CHECK(count == 1);
  Constraint regions = of({"*"});
  regions.max_regions = 1;
  const std::string left = steps(model(), {border("d"), regions});
  CHECK(left.find("R0") != std::string::npos);
  CHECK(left.find("R1") == std::string::npos);
}

namespace {

// Two convolutions of integers, with `between` them and the second's DequantizeLinear.
ir::Graph integers() {
  return test::image_graph(
      " const %s : f32[] = [0.5]\n const %z : i8[] = [1]\n const %f : f32[] = [2]\n"
      " const %v : i8[4,4,1,1] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7]\n"
      " %q = QuantizeLinear(%x, %s, %z) : i8[1,4,8,8]\n" +
      test::node("%a = DequantizeLinear(%q, %s, %z)") +
      " %b = DequantizeLinear(%v, %f, %z) : f32[4,4,1,1]\n" + test::node("%c = Conv(%a, %b)") +
      " %d = QuantizeLinear(%c, %f, %z) : i8[1,4,8,8]\n" + test::node("%e = DequantizeLinear(%d, %f, %z)") +
      test::node("%g = Conv(%e, %b)") + " %h = QuantizeLinear(%g, %f, %z) : i8[1,4,8,8]\n output %h\n");
}

}  // namespace

TEST_CASE("a border behind DequantizeLinear stands in front of it: integers cross") {
  Constraint behind = of({"e"});
  behind.after = true;
  for (const Constraint& c : {behind, border("g"), border("e")}) {
    ir::Graph g = integers();
    auto pins = partition::Pins::resolve(g, {c});
    REQUIRE(pins.ok());
    passes::raise_fences(g, [&](ir::ValueId v, ir::NodeId u) { return pins->fence(g, v, u); });
    REQUIRE(passes::run_passes(g, passes::default_pipeline()).ok());
    pins->borders = passes::take_fences(g);
    partition::Options options;
    options.pins = std::make_shared<partition::Pins>(*pins);
    const partition::Partition p = test::split(g, options);
    CHECK(test::steps(g, p) == "C:q R0 R1");
    REQUIRE(p.regions.size() == 2);
    for (const partition::Region& r : p.regions) {
      REQUIRE(r.layers.size() == 1);
      CHECK(g.node(r.layers[0].anchor).is(Op::QLinearConv));
    }
    CHECK(partition::integers_in_half(g, p, test::accelerator()).empty());
  }
}

TEST_CASE("a product of integers that is torn apart is said to be computed in fp16") {
  ir::Graph g = integers();
  const auto pins = partition::Pins::resolve(g, {cpu("e")});
  REQUIRE(pins.ok());
  passes::raise_fences(g, [&](ir::ValueId v, ir::NodeId u) { return pins->fence(g, v, u); });
  REQUIRE(passes::run_passes(g, passes::default_pipeline()).ok());
  passes::take_fences(g);
  partition::Options options;
  options.pins = std::make_shared<partition::Pins>(*pins);
  const partition::Partition p = test::split(g, options);
  CHECK(test::steps(g, p) == "C:q R0 C:e R1");
  const std::vector<Diag> said = partition::integers_in_half(g, p, test::accelerator());
  REQUIRE(said.size() == 1);
  CAPTURE(said[0].message);
  CHECK(said[0].message.find("'g' (Conv): a product of what 'e' (DequantizeLinear) makes of integers") !=
        std::string::npos);
}

TEST_CASE("constraints hold between integers of quantised networks, and not where shapes are computed") {
  const ir::Graph g = test::image_graph(
      " const %s : f32[] = [0.1]\n const %z : i8[] = [0]\n"
      " %q = QuantizeLinear(%x, %s, %z) : i8[1,4,8,8]\n %d = DequantizeLinear(%q, %s, %z) : f32[1,4,8,8]\n"
      " %i = Shape(%d) : i64[4]\n %n = Add(%i, %i) : i64[4]\n output %d\n output %n\n");
  const auto fence = [&](const Constraint& c, const char* value, const char* user) {
    auto pins = partition::Pins::resolve(g, {c});
    REQUIRE(pins.ok());
    return pins->fence(g, *g.find_value(value), g.value(*g.find_value(user)).producer);
  };
  CHECK(fence(border("d"), "q", "d") != 0);
  CHECK(fence(cpu("d"), "q", "d") != 0);
  CHECK(fence(together({"d"}), "q", "d") != 0);
  CHECK(fence(border("n"), "i", "n") == 0);
}

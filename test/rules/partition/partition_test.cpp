#include "mrvlc/partition/partition.h"

#include "build.h"

using namespace mrvlc;
using test::decision;
using test::image_graph;
using test::node;
using test::split;
using test::steps;

namespace {

const std::string kTwoConvs = node("%c = Conv(%x, %w)") + node("%b = Add(%c, %k)") + node("%r = Relu(%b)") +
                              node("%d = Conv(%r, %w)") + node("%s = Add(%d, %r)") + node("%t = Relu(%s)") +
                              " output %t\n";

}  // namespace

TEST_CASE("the built-in rules pass the checker, and each is documented") {
  rules::LoadResult r = partition::load_rules(test::accelerator().rule_file(), {});
  for (const Diag& d : r.diagnostics.list()) FAIL_CHECK(d.message);
  CHECK(r.set.rules().size() >= 15);
  for (const rules::Rule& rule : r.set.rules()) CHECK(rule.origin == "cn10ka.rules");
}

TEST_CASE("a supported network is one region of fused layers") {
  ir::Graph g = image_graph(kTwoConvs);
  partition::Partition p = split(g);
  CHECK(steps(g, p) == "R0");
  REQUIRE(p.regions.size() == 1);
  REQUIRE(p.regions[0].layers.size() == 2);
  CHECK(p.regions[0].layers[0].nodes.size() == 3);
  CHECK(p.regions[0].layers[1].nodes.size() == 3);  // residual and activation in the epilogue
  CHECK(p.regions[0].layers[1].kind == LayerKind::Conv);
  CHECK(p.regions[0].inputs == std::vector<ir::ValueId>{g.inputs()[0]});
  CHECK(p.regions[0].outputs == std::vector<ir::ValueId>{g.outputs()[0]});
  CHECK(p.decisions.size() == 6);
  CHECK(decision(g, p, "r").rule == "conv");
  CHECK(decision(g, p, "r").accelerator);
  CHECK_FALSE(decision(g, p, "r").reason.empty());
}

TEST_CASE("an operator of the CPU in the middle makes two regions") {
  ir::Graph g = image_graph(node("%c = Conv(%x, %w)") + node("%r = Hardmax(%c)") + node("%d = Conv(%r, %w)") +
                            " output %d\n");
  partition::Partition p = split(g);
  CHECK(steps(g, p) == "R0 C:r R1");
  CHECK_FALSE(decision(g, p, "r").accelerator);
  CHECK(decision(g, p, "r").reason == "No rule takes operator Hardmax.");
}

TEST_CASE("what is rounded to integers next stays on the CPU") {
  ir::Graph g = image_graph(node("%c = Conv(%x, %w)") + node("%d = Conv(%c, %w)") + node("%e = Relu(%d)") +
                            node("%r = Floor(%e)") + node("%f = Conv(%r, %w)") + " output %f\n");
  partition::Partition p = split(g);
  CHECK(steps(g, p) == "R0 C:d C:e C:r R1");
  CHECK(decision(g, p, "d").reason.str().find("rounded to integers next") != std::string::npos);
  partition::Options options;
  options.accel = {"d", "e"};
  auto forced = partition::partition(g, &test::accelerator(), options);
  REQUIRE(forced.ok());
  CHECK(steps(g, *forced) == "R0 C:r R1");
}

TEST_CASE("what becomes an angle by arithmetic alone stays on the CPU") {
  const auto placed = [](const std::string& angle) {
    const ir::Graph g = image_graph(node("%c = Conv(%x, %w)") + angle + node("%s = Sin(%a)") +
                                    node("%m = Mul(%c, %s)") + node("%d = Conv(%m, %w)") + " output %d\n");
    return steps(g, split(g));
  };
  CHECK(placed(node("%n = Neg(%x)") + node("%a = Mul(%n, %k)")) == "C:n C:a C:s R0");
  // A sum of many products is not exact to begin with.
  CHECK(placed(node("%a = Mul(%c, %k)")) == "R0 C:s R1");
  const ir::Graph g = image_graph(node("%c = Conv(%x, %w)") + node("%a = Mul(%x, %k)") +
                                  node("%s = Cos(%a)") + node("%m = Mul(%c, %s)") + " output %m\n");
  CHECK(decision(g, split(g), "a").why == partition::Why::Sensitive);
  CHECK(decision(g, split(g), "a").reason.str().find("'s' (Cos) reads what it makes") == 0);
  partition::Options options;
  options.accel = {"a"};
  auto forced = partition::partition(g, &test::accelerator(), options);
  REQUIRE(forced.ok());
  CHECK(decision(g, *forced, "a").accelerator);
}

TEST_CASE("angles that are known to be small may be fp16") {
  const ir::Graph g = image_graph(node("%c = Conv(%x, %w)") + node("%a = Mul(%x, %k)") +
                                  node("%s = Sin(%a)") + node("%m = Mul(%c, %s)") + " output %m\n");
  const auto in_range = [&](double most) {
    const range::Knowledge known(g, {{0, {-most, most}}}, {});
    partition::Options options;
    options.known = &known;
    auto p = partition::partition(g, &test::accelerator(), options);
    REQUIRE(p.ok());
    return decision(g, *p, "a").why == partition::Why::Sensitive;
  };
  CHECK_FALSE(in_range(1e-3));
  CHECK(in_range(1e6));
}

TEST_CASE("a branch on the CPU beside the accelerator does not cut it") {
  ir::Graph g = image_graph(node("%c = Conv(%x, %w)") + node("%s = Hardmax(%x)") + node("%d = Conv(%c, %w)") +
                            node("%a = Add(%d, %s)") + " output %a\n");
  partition::Partition p = split(g);
  CHECK(steps(g, p) == "C:s R0");
  CHECK(p.regions[0].inputs.size() == 2);
}

TEST_CASE("layers are moved to the region that reads them") {
  // %e does not depend on the first region, but only the second reads it.
  ir::Graph g = image_graph(node("%c = Conv(%x, %w)") + node("%e = Conv(%x, %w)") + node("%r = Hardmax(%c)") +
                            node("%d = Conv(%r, %w)") + node("%m = Mul(%d, %e)") + " output %m\n");
  partition::Partition p = split(g);
  CHECK(steps(g, p) == "R0 C:r R1");
  CHECK(decision(g, p, "e").region == 1);
  CHECK(p.regions[0].outputs.size() == 1);
}

TEST_CASE("parts without a convolution or matrix product go back to the CPU") {
  ir::Graph g = image_graph(node("%a = Relu(%x)") + node("%b = Sigmoid(%a)") + " output %b\n");
  partition::Partition p = split(g);
  CHECK(p.regions.empty());
  CHECK(steps(g, p) == "C:a C:b");
  CHECK(decision(g, p, "a").reason.str().find("no convolution") != std::string::npos);
  partition::Options options;
  options.accel = {"Relu", "b"};
  CHECK(split(g, options).regions.size() == 1);
}

TEST_CASE("--cpu keeps nodes by operator, name and pattern") {
  ir::Graph g = image_graph(kTwoConvs);
  partition::Options options;
  options.cpu = {"Rel?"};
  partition::Partition p = split(g, options);
  CHECK(steps(g, p) == "R0 C:r R1 C:t");
  CHECK(decision(g, p, "r").reason == "It is kept on the CPU because --cpu 'Rel?' names it.");
  options.cpu = {"d"};  // sources of hand-written nodes are named after their output
  CHECK(steps(g, split(g, options)).find("C:d") != std::string::npos);
}

TEST_CASE("patterns that match nothing, contradict each other or ask the impossible are errors") {
  ir::Graph g = image_graph(node("%c = Conv(%x, %w)") + node("%r = Hardmax(%c)") + " output %r\n");
  auto code = [&](const partition::Options& o) {
    auto p = partition::partition(g, &test::accelerator(), o);
    REQUIRE_FALSE(p.ok());
    return std::string(diag_info(p.error().code).name) + " " + p.error().op_type;
  };
  partition::Options options;
  options.cpu = {"nothing*"};
  CHECK(code(options) == "MRV0401 ");
  options.cpu = {};
  options.borders = {"nothing"};
  CHECK(code(options) == "MRV0401 ");
  options.borders = {};
  options.accel = {"Hardmax"};
  CHECK(code(options) == "MRV0402 Hardmax");
  options.accel = {"Conv"};
  options.cpu = {"C*"};
  CHECK(code(options) == "MRV0403 Conv");
  options = {};
  options.batch = 256;
  CHECK(code(options) == "MRV0404 ");
  // A warning in front of it changes nothing.
  const std::string warns =
      "rule r { layer softmax priority 500 why \"w\" match { %s = Softmax(%x) } where accelerator_can(layer) "
      "}\n";
  for (const std::string& before : {std::string(), warns}) {
    auto faulty =
        partition::sound_rules(test::accelerator().rule_file(), {{"my.rules", before + "rule x {}"}});
    REQUIRE_FALSE(faulty.ok());
    CHECK(std::string(diag_info(faulty.error().code).name) == "MRV0310");
  }
}

TEST_CASE("borders start a new region") {
  ir::Graph g = image_graph(kTwoConvs);
  partition::Options options;
  options.borders = {"d"};
  partition::Partition p = split(g, options);
  CHECK(steps(g, p) == "R0 R1");
  CHECK(decision(g, p, "r").region == 0);
  CHECK(decision(g, p, "d").region == 1);
  options.borders = {"b"};  // in front of an epilogue: the chain is not fused across it
  p = split(g, options);
  CHECK(steps(g, p) == "R0 R1");
  CHECK(decision(g, p, "c").region == 0);
  CHECK(decision(g, p, "b").region == 1);
}

TEST_CASE("the user's rules stand beside the built-in ones or in their place") {
  ir::Graph g = image_graph(kTwoConvs);
  partition::Options options;
  const std::string stay =
      R"(rule stay { layer cpu priority 1000 why "activations are watched" match { %r = Relu(%x) } })";
  options.turns = {{test::rules_of(true, stay)}};
  partition::Partition p = split(g, options);
  CHECK(steps(g, p) == "R0 C:r R1 C:t");
  CHECK(decision(g, p, "r").rule == "stay");
  CHECK(decision(g, p, "r").reason == "Rule 'stay' keeps it on the CPU: activations are watched.");
  options.turns = {{test::rules_of(false, stay)}};
  CHECK(split(g, options).regions.empty());
  const std::string only = R"(rule only { layer conv priority 1 why "w" match { %c = Conv(%x, %w) } })";
  options.turns = {{test::rules_of(false, only)}};
  CHECK(steps(g, split(g, options)) == "R0 C:b C:r R1 C:s C:t");
}

TEST_CASE("a node on the CPU says which condition failed, with the value and the limit") {
  ir::Graph g = image_graph(" %c = Conv(%x, %x) : f32[1,1,1,1]\n output %c\n");
  partition::Partition p = split(g);
  const partition::NodeDecision& d = decision(g, p, "c");
  REQUIRE(d.trials.size() == 1);
  CHECK(d.trials[0]->rule == "conv");
  CHECK_FALSE(d.trials[0]->accepted);
  CHECK(d.trials[0]->condition == "layer conv: constant(weights)");
  CHECK(d.trials[0]->actual == "an input of the model");
  CHECK(d.trials[0]->limit == "a constant");
  CHECK(d.reason ==
        "Rule 'conv' does not take it: operand 1 ('x'), weights, is an input of the model; the accelerator "
        "needs it "
        "at compile time.");
}

TEST_CASE("the host alone") {
  ir::Graph g = image_graph(kTwoConvs);
  partition::Options options;
  partition::Partition p = split(g, options, nullptr);
  CHECK(p.regions.empty());
  CHECK(p.steps.size() == 6);
  CHECK(p.decisions[0].reason == "The model is compiled for the host CPU alone.");
}

TEST_CASE("limits on layers and ports split regions") {
  std::string body, previous = "%x";
  for (int i = 0; i < 1300; ++i) {
    std::string name = "%c" + std::to_string(i);
    body += node(name + " = Conv(" + previous + ", %w)");
    previous = name;
  }
  ir::Graph g = image_graph(body + " output " + previous + "\n");
  partition::Partition p = split(g);
  CHECK(steps(g, p) == "R0 R1 R2");
  CHECK(p.regions[0].layers.size() == 512);

  std::string wide;
  for (int i = 0; i < 40; ++i) wide += node("%c" + std::to_string(i) + " = Conv(%x, %w)");
  for (int i = 0; i < 40; ++i) wide += " output %c" + std::to_string(i) + "\n";
  ir::Graph many = image_graph(wide);
  p = split(many);
  REQUIRE(p.regions.size() == 2);
  CHECK(p.regions[0].outputs.size() == 32);
}

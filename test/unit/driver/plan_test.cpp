// Which steps of --accuracy are taken, and which are given back: on errors and costs made up for it.
#include "explore/plan.h"

#include <catch2/catch.hpp>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"

using namespace mrvlc;
using driver::Plan;

namespace {

// Layers of one node each, in a chain; the result of each is rounded, and makes and reader are its layers.
struct Network {
  ir::Graph graph;
  driver::RegionRoundings found;
  std::vector<ir::ValueId> values;

  void add(double error, double pair_cycles, double host_cycles) {
    const std::string name = std::to_string(found.layers.size());
    const TensorType type{ElementType::F32, {4}};
    if (values.empty()) values.push_back(graph.add_input("x", type));
    const ir::SourceId source = graph.add_source({"main/" + name, name, "Relu", "", {"v" + name}});
    const ir::OpSchema& relu = ops::op_def(Op::Relu);
    const ir::NodeId node = graph.add_node(relu, name, {values.back()}, ir::default_attrs(relu), {type},
                                           {"v" + name}, {{source}, {}, "import", ""});
    values.push_back(graph.node(node).outputs[0]);
    found.layers.push_back({{node}, host_cycles, 1, false});
    driver::RegionRounding r;
    r.rounding.values = {values.back()};
    r.layers = {found.layers.size() - 1};
    if (pair_cycles > 0) {
      r.pairs[values.back()] = {partition::Precision::Kind::Pair, 0};
      r.pair_cycles[r.layers[0]] = pair_cycles;
    }
    r.error = error;
    found.roundings.push_back(std::move(r));
  }
  Plan plan(double plain = 0) const { return Plan(graph, found, plain); }
  bool pair(const Plan& plan, size_t i) const { return plan.choice().precisions.contains(values[i + 1]); }
  driver::Trial trial(const std::vector<double>& cycles) const {
    driver::Trial t;
    for (size_t i = 0; i < cycles.size(); ++i) t.layers[found.layers[i].nodes[0]] = cycles[i];
    return t;
  }
};

constexpr double kPlenty = 1e100;

}  // namespace

TEST_CASE("what buys most for its time comes first, and the prediction is a root of squares") {
  Network n;
  n.add(3, 100, 1e6), n.add(4, 1000, 1e6);
  Plan plan = n.plan();
  CHECK(plan.predicted() == Approx(5));
  double room = kPlenty;
  REQUIRE(plan.step(true, room));
  CHECK(n.pair(plan, 0));
  CHECK_FALSE(n.pair(plan, 1));
  CHECK(plan.predicted() == Approx(4));
  CHECK(n.plan(10).predicted() == Approx(10));  // more was measured than one by one
}

TEST_CASE("what has no room, and what moves to the CPU") {
  Network n;
  n.add(3, 100, 10), n.add(4, 0, 1000);
  Plan plan = n.plan();
  double room = 50;
  CHECK_FALSE(plan.step(false, room));
  REQUIRE(plan.step(true, room));
  CHECK(plan.choice().on_cpu == std::set<std::string>{"main/0"});
  REQUIRE(plan.step(true, room));
  CHECK(plan.host_cycles() == Approx(1010));
  CHECK(plan.predicted() == 0);
  CHECK_FALSE(plan.step(true, room));
}

TEST_CASE("a layer that is held does not move, whatever it would buy") {
  Network n;
  n.add(100, 0, 1), n.add(1, 0, 1000);
  n.found.layers[0].held = true;
  Plan plan = n.plan();
  double room = kPlenty;
  REQUIRE(plan.step(true, room));
  CHECK_FALSE(plan.step(true, room));
  CHECK(plan.choice().on_cpu == std::set<std::string>{"main/1"});
  Plan all = n.plan();
  all.move_all();
  CHECK(all.choice().on_cpu == std::set<std::string>{"main/1"});
  CHECK(all.predicted() == Approx(100));
}

TEST_CASE("steps that a larger one made needless are given back") {
  Network n;
  n.add(2, 10, 1e6);    // the best for its time, alone not enough
  n.add(10, 900, 1e6);  // needed
  const Plan plan = n.plan().cheapest(3);
  CHECK_FALSE(n.pair(plan, 0));
  CHECK(n.pair(plan, 1));
  CHECK(plan.predicted() == Approx(2));
  const Plan both = n.plan().cheapest(1);
  CHECK(n.pair(both, 0));
  CHECK(n.pair(both, 1));
  CHECK_FALSE(both.same_steps(plan));
  CHECK(both.same_steps(n.plan().cheapest(1)));
}

TEST_CASE("a move is given back as well") {
  Network n;
  n.add(2, 0, 10), n.add(10, 900, 1e6);
  const Plan plan = n.plan().cheapest(3);
  CHECK(plan.choice().on_cpu.empty());
  CHECK(n.pair(plan, 1));
}

TEST_CASE("what pairs took is what they are taken to cost") {
  Network n;
  n.add(4, 100, 1e6), n.add(4, 110, 1e6);
  CHECK(n.pair(n.plan().cheapest(5), 0));
  Plan both = n.plan().cheapest(1);
  both.learn(n.trial({100, 100}), n.trial({300, 150}));
  const Plan learnt = both.cheapest(5);
  CHECK_FALSE(n.pair(learnt, 0));
  CHECK(n.pair(learnt, 1));
}

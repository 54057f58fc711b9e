// The choice by cost among several targets: no worse than the best of all choices, and the same in every
// order of --target.
#include "exhaustive.h"

using namespace mrvlc;

namespace {

constexpr double kRegret = 1.05;

std::string chain(int layers) {
  std::string body, last = "%x";
  for (int i = 0; i < layers; ++i) {
    const std::string name = "%v" + std::to_string(i);
    const char* const ops[] = {"Conv(", "Relu(", "Tanh("};
    body += test::node(name + " = " + ops[i % 3] + last + (i % 3 == 0 ? ", %w)" : ")"));
    last = name;
  }
  return body + " output " + last + "\n";
}

}  // namespace

TEST_CASE("random graphs: as good as the best of all choices, in every order of the targets") {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    const ir::Graph g = test::random_graph_of(seed, 3 + static_cast<int>(seed % 3));
    const partition::Costs costs = test::random_costs(seed);
    std::map<test::Names, test::Chosen> by_set;
    for (const test::Names& names : test::orders_of(test::all_targets())) {
      const test::Chosen now = test::choose(g, names, costs);
      test::Names set = names;
      std::ranges::sort(set);
      const auto [first, fresh] = by_set.emplace(set, now);
      INFO("seed " << seed << ", " << names.front() << " and " << names.size() - 1 << " more");
      CHECK(first->second.seconds == now.seconds);
      CHECK(first->second.targets == now.targets);
      if (!fresh) continue;
      test::NamedTargets targets(names);
      targets.options().costs = &costs;
      const auto least = test::least_seconds(g, targets.accelerator(), targets.options(), 50'000);
      REQUIRE(least.has_value());
      CHECK(now.seconds <= kRegret * *least);
      CHECK(now.seconds >= *least * (1 - 1e-9));
      CHECK(now.gap <= 0.05);
    }
  }
}

TEST_CASE("the cheaper of two machines takes the layers, whichever is named first") {
  const ir::Graph g = test::image_graph(chain(12));
  partition::Costs costs = test::random_costs(1);
  costs.host.rates["default"] = {1000, 1000};
  for (const test::Names& names : {test::Names{"quarter", "cn10ka"}, test::Names{"cn10ka", "quarter"}}) {
    const test::Chosen c = test::choose(g, names, costs);
    // Small layers: the launch, a quarter of the other's, is most of what they take.
    CHECK(c.targets.at("v0") == "quarter");
    CHECK(c.gap == 0);
  }
}

TEST_CASE("of targets that take as long the one that is named first has the layer") {
  const ir::Graph g = test::image_graph(" %a = Relu(%x) : f32[1,4,8,8]\n output %a\n");
  partition::Costs costs = test::random_costs(2);
  costs.host.rates["default"] = {0.01, 0.01};
  costs.host.call_ns = 0;
  // The library's Relu has no cost of its own: it is taken to be the host's.
  CHECK(test::choose(g, {"library"}, costs).targets.at("a") == "library");
  CHECK(test::choose(g, {"cn10ka", "library"}, costs).targets.at("a") == "library");
}

TEST_CASE("what else would take a node, and what that costs, is said") {
  const ir::Graph g =
      test::image_graph(" %a = Conv(%x, %w) : f32[1,4,8,8]\n %b = Relu(%a) : f32[1,4,8,8]\n output %b\n");
  const partition::Costs costs = test::random_costs(3);
  test::NamedTargets targets({"cn10ka", "vector", "library"});
  targets.options().costs = &costs;
  auto p = partition::partition(g, targets.accelerator(), targets.options());
  REQUIRE(p.ok());
  const auto& costs_of_b = test::decision(g, *p, "b").costs;
  REQUIRE(costs_of_b != nullptr);
  std::vector<std::string> names;
  for (const partition::TargetCost& c : *costs_of_b) {
    names.push_back(c.target);
    CHECK(c.seconds > 0);
  }
  CHECK(std::ranges::is_sorted(*costs_of_b, {}, &partition::TargetCost::seconds));
  CHECK(std::ranges::find(names, "host") != names.end());
  CHECK(std::ranges::find(names, "vector") != names.end());
}

TEST_CASE("a wide graph has a gap that is said, and takes what its nodes take") {
  std::string body;
  std::string names;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "%v" + std::to_string(i);
    body += test::node(name + " = Conv(%x, %w)");
    names += (i == 0 ? "" : ", ") + name;
  }
  body += " %c = Concat(" + names + ") {axis = 1} : f32[1,1200,8,8]\n output %c\n";
  const ir::Graph g = test::image_graph(body);
  const partition::Costs costs = test::random_costs(4);
  const test::Chosen one = test::choose(g, {"cn10ka", "vector"}, costs);
  const test::Chosen other = test::choose(g, {"vector", "cn10ka"}, costs);
  CHECK(one.targets == other.targets);
  CHECK(one.gap >= 0);
  CHECK(one.gap == other.gap);
}

TEST_CASE("constraints hold among several targets") {
  const ir::Graph g = test::image_graph(chain(6));
  const partition::Costs costs = test::random_costs(5);
  test::NamedTargets targets(test::all_targets());
  targets.options().costs = &costs;
  targets.options().cpu = {"Relu"};
  targets.options().accel = {"Conv"};
  auto p = partition::partition(g, targets.accelerator(), targets.options());
  REQUIRE(p.ok());
  for (const char* conv : {"v0", "v3"}) CHECK(test::decision(g, *p, conv).accelerator);
  for (const char* relu : {"v1", "v4"}) {
    CHECK_FALSE(test::decision(g, *p, relu).on_target());
    CHECK(test::decision(g, *p, relu).why == partition::Why::HostOption);
  }
}

TEST_CASE("a choice is made again on the graph that was widened") {
  const ir::Graph g = test::image_graph(chain(6));
  const partition::Costs costs = test::random_costs(6);
  test::NamedTargets targets(test::all_targets());
  targets.options().costs = &costs;
  auto first = partition::partition(g, targets.accelerator(), targets.options());
  REQUIRE(first.ok());
  targets.options().before = &*first;
  auto again = partition::partition(g, targets.accelerator(), targets.options());
  REQUIRE(again.ok());
  CHECK(test::targets_of(g, *first, targets.accelerator()) ==
        test::targets_of(g, *again, targets.accelerator()));
}

// Partitions by cost: what is wished holds, what does not pay is given back, what pays is taken without a
// product.
#include <random>

#include "mrvlc/partition/costs.h"
#include "mrvlc/partition/partition.h"
#include "partition/build.h"

using namespace mrvlc;

namespace {

partition::Costs costs_with(
    double host_ns,
    std::function<std::optional<double>(const ir::Graph&, const partition::Region&)> measured = {}) {
  partition::HostModel host;
  host.call_ns = 10;
  host.to_device_ns = host.from_device_ns = 1;
  host.cast_to_device_ns = host.cast_from_device_ns = host.permute_ns = 1;
  host.rates["default"] = {host_ns, host_ns};
  return {host, std::move(measured)};
}

bool all_on_host(const partition::Partition& p) {
  return std::ranges::none_of(p.decisions, [](const auto& d) { return d.accelerator; });
}

const char* const kConvRelu =
    " %a = Conv(%x, %w) : f32[1,4,8,8]\n %b = Relu(%a) : f32[1,4,8,8]\n output %b\n";

}  // namespace

TEST_CASE("a small convolution does not pay for its launch on a fast host") {
  const ir::Graph g = test::image_graph(kConvRelu);
  const partition::Costs costs = costs_with(0.1);
  partition::Options options;
  CHECK(!all_on_host(test::split(g, options)));
  options.costs = &costs;
  const partition::Partition p = test::split(g, options);
  CHECK(all_on_host(p));
  CHECK(test::decision(g, p, "a").why == partition::Why::CheaperOnHost);
  CHECK(p.chosen_seconds <= p.greedy_seconds);
  options.accel = {"Conv"};
  CHECK(test::decision(g, test::split(g, options), "a").accelerator);
}

TEST_CASE("on a slow host layers without a product are taken, but not those that --cpu names") {
  const ir::Graph g =
      test::image_graph(" %a = Tanh(%x) : f32[1,4,8,8]\n %b = Sigmoid(%a) : f32[1,4,8,8]\n output %b\n");
  const partition::Costs costs = costs_with(1000);
  partition::Options options;
  CHECK(all_on_host(test::split(g, options)));
  options.costs = &costs;
  CHECK(test::decision(g, test::split(g, options), "a").accelerator);
  options.cpu = {"Tanh", "Sigmoid"};
  CHECK(all_on_host(test::split(g, options)));
}

TEST_CASE("what is measured decides over what is estimated") {
  constexpr double kNear = 4;
  const ir::Graph g = test::image_graph(kConvRelu);
  const partition::Costs slow =
      costs_with(kNear, [](const ir::Graph&, const partition::Region&) { return std::optional<double>(1); });
  const partition::Costs refused =
      costs_with(kNear, [](const ir::Graph&, const partition::Region&) { return std::optional<double>(); });
  const partition::Costs plain = costs_with(kNear);
  partition::Options options;
  options.costs = &plain;
  CHECK(!all_on_host(test::split(g, options)));
  for (const partition::Costs* c : {&slow, &refused}) {
    options.costs = c;
    CHECK(all_on_host(test::split(g, options)));
  }
}

TEST_CASE("another partition than the greedy one and the host alone has to promise five per cent") {
  // Both results go to the host; the second is cheaper made there from the first than handed over.
  const ir::Graph g = test::image_graph(
      " %a = Conv(%x, %w) : f32[1,4,8,8]\n %b = Sigmoid(%a) : f32[1,4,8,8]\n output %a\n output %b\n");
  partition::Options options;
  for (const bool little : {true, false}) {
    std::vector<size_t> layers;  // of the regions that were compiled
    partition::Costs costs = costs_with(20, [&](const ir::Graph&, const partition::Region& r) {
      layers.push_back(r.layers.size());
      return std::optional<double>(r.layers.size() == 2 ? 1e-6 : little ? 5.8e-6 : 2e-6);
    });
    costs.host.from_device_ns = costs.host.cast_from_device_ns = 20;
    costs.host.rates["Sigmoid"] = {0, 0};
    options.costs = &costs;
    const partition::Partition p = test::split(g, options);
    CAPTURE(little, p.chosen_seconds, p.greedy_seconds);
    CHECK(test::decision(g, p, "a").accelerator);
    CHECK(test::decision(g, p, "b").accelerator == little);
    CHECK((p.chosen_seconds == p.greedy_seconds) == little);
    CHECK(layers == std::vector<size_t>{2, 1});  // each region once
  }
}

TEST_CASE("values that are kept more exactly count with what they take") {
  // By shapes the accelerator is far ahead, of a model too large for compiling it to make sure.
  std::string text =
      "graph \"g\" {\n input %x : f32[1,4,512,512]\n const %w : f32[4,4,1,1] = [1,1,1,1, 1,1,1,1, 1,1,1,1, "
      "1,1,1,1]\n";
  std::string last = "%x";
  for (int i = 0; i < 30; ++i) {
    const std::string name = "%v" + std::to_string(i);
    text += " " + name + (i == 20 ? " = Round(" + last + ")" : " = Conv(" + last + ", %w)") +
            " : f32[1,4,512,512]\n";
    last = name;
  }
  const auto g = ir::parse(text + " output " + last + "\n}\n", ops::registry());
  REQUIRE(g.ok());
  partition::Options options;
  for (const double times : {1.0, 1e4}) {
    // Regions that begin with the input are `times` as slow as those behind Round.
    partition::Costs costs = costs_with(1, [&](const ir::Graph& graph, const partition::Region& r) {
      const bool slow = graph.value(r.inputs.at(0)).kind == ir::ValueKind::Input;
      CHECK(r.precisions.size() == 1);
      return std::optional<double>((slow ? times : 1) * 1e-4 * static_cast<double>(r.layers.size()));
    });
    costs.keep = [](const ir::Graph&, partition::Region& r) {
      r.precisions[r.inputs.at(0)] = {partition::Precision::Kind::Pair};
    };
    options.costs = &costs;
    const partition::Partition p = test::split(*g, options);
    CAPTURE(times);
    CHECK(test::decision(*g, p, "v3").accelerator == (times == 1));
    CHECK(test::decision(*g, p, "v25").accelerator);
  }
  // What cannot be kept so is not taken, however clear shapes are.
  partition::Costs refused =
      costs_with(1, [](const ir::Graph&, const partition::Region&) { return std::optional<double>(); });
  options.costs = &refused;
  CHECK(!all_on_host(test::split(*g, options)));
  refused.keep = [](const ir::Graph&, partition::Region&) {};
  CHECK(all_on_host(test::split(*g, options)));
}

TEST_CASE("what was decided is decided again") {
  const ir::Graph g = test::image_graph(kConvRelu);
  std::vector<bool> host(g.node_slots(), false);
  partition::Options options;
  options.decided = &host;
  CHECK(!all_on_host(test::split(g, options)));
  for (ir::NodeId n : g.topological_order()) host[n.index()] = true;
  CHECK(all_on_host(test::split(g, options)));
}

TEST_CASE("never above the greedy partition or the host alone, wherever costs lie") {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    std::string body, last = "%x";
    for (int i = 0; i < 12; ++i) {
      const std::string name = "%v" + std::to_string(i);
      const char* const ops[] = {"Relu", "Round", "Tanh"};
      body +=
          test::node(name + (random() % 2 == 0 ? " = Conv(" + last + ", %w)"
                                               : " = " + std::string(ops[random() % 3]) + "(" + last + ")"));
      last = name;
    }
    const ir::Graph g = test::image_graph(body + " output " + last + "\n");
    const partition::Costs costs = costs_with(0.1 + static_cast<double>(random() % 100));
    partition::Options options;
    options.costs = &costs;
    const partition::Partition p = test::split(g, options);
    double host = 0;
    for (double s : partition::node_seconds(g, costs.host)) host += s;
    INFO("seed " << seed);
    CHECK(p.chosen_seconds <= p.greedy_seconds);
    CHECK(p.chosen_seconds <= host * (1 + 1e-9));
    CHECK(p.decisions.size() == g.topological_order().size());
  }
}

TEST_CASE("what crosses a border: once for all regions that take it alike, permuted where a window reads") {
  const ir::Graph g = test::image_graph(
      " %a = Conv(%x, %w) : f32[1,4,8,8]\n %b = Hardmax(%a) : f32[1,4,8,8]\n"
      " %c = Conv(%b, %w) : f32[1,4,8,8]\n %d = Add(%c, %x) : f32[1,4,8,8]\n output %d\n");
  partition::Options options;
  const partition::Partition p = test::split(g, options);
  REQUIRE(p.regions.size() == 2);
  std::vector<std::string> said;
  for (const partition::Crossing& c : partition::crossings(g, p, test::accelerator())) {
    CHECK(c.casts);
    CHECK(c.permutes);
    said.push_back(std::to_string(c.region) + (c.to_device ? " in " : " out ") + g.value(c.value).name);
  }
  // The second region reads x as the first left it.
  CHECK(said == std::vector<std::string>{"0 in x", "0 out a", "1 in b", "1 out d"});
}

TEST_CASE("what crosses a border by the forms that regions were compiled to") {
  const ir::Graph g = test::image_graph(
      " %a = Conv(%x, %w) : f32[1,4,8,8]\n %b = Hardmax(%a) : f32[1,4,8,8]\n"
      " %c = Conv(%b, %w) : f32[1,4,8,8]\n %d = Add(%c, %x) : f32[1,4,8,8]\n output %d\n");
  const partition::Partition p = test::split(g);
  REQUIRE(p.regions.size() == 2);
  const auto value = [&](const char* name) { return *g.find_value(name); };
  using Form = partition::DeviceForm;
  const auto said = [&](const Form& first_x, const Form& second_x, const Form& result) {
    std::string out;
    const std::vector<partition::RegionForms> forms = {
        {{first_x}, {{value("a"), false, false, {0, 1, 2, 3}}}},
        {{{value("b"), true, false, {0, 1, 2, 3}}, second_x}, {result}},
    };
    for (const partition::Crossing& c : partition::crossings(g, p, forms))
      out += std::to_string(c.region) + (c.to_device ? " in " : " out ") + g.value(c.value).name +
             (c.casts ? " cast" : "") + (c.permutes ? " permuted" : "") + "\n";
    return out;
  };
  const Form last{value("x"), true, true, {0, 2, 3, 1}}, turned{value("x"), true, true, {0, 3, 2, 1}},
      half{value("x"), true, false, {0, 1, 2, 3}};
  const Form same{value("d"), false, false, {0, 1, 2, 3}}, moved{value("d"), false, true, {0, 2, 3, 1}};
  CHECK(said(last, last, same) == "0 in x cast permuted\n1 in b cast\n");
  // In another order it is another form, though the host does the same to both.
  CHECK(said(last, turned, same) == "0 in x cast permuted\n1 in b cast\n1 in x cast permuted\n");
  CHECK(said(half, last, moved) == "0 in x cast\n1 in b cast\n1 in x cast permuted\n1 out d permuted\n");
}

TEST_CASE("what one region leaves in another form than the next one takes goes by way of the host") {
  const ir::Graph g =
      test::image_graph(" %a = Conv(%x, %w) : f32[1,4,8,8]\n %c = Conv(%a, %w) : f32[1,4,8,8]\n output %c\n");
  partition::Options options;
  options.borders = {"c"};
  const partition::Partition p = test::split(g, options);
  REQUIRE(p.regions.size() == 2);
  const auto value = [&](const char* name) { return *g.find_value(name); };
  const auto count = [&](std::vector<int64_t> left, std::vector<int64_t> taken) {
    const std::vector<partition::RegionForms> forms = {
        {{{value("x"), false, false, {}}}, {{value("a"), true, true, std::move(left)}}},
        {{{value("a"), true, true, std::move(taken)}}, {{value("c"), false, false, {}}}},
    };
    return partition::crossings(g, p, forms).size();
  };
  CHECK(count({0, 2, 3, 1}, {0, 2, 3, 1}) == 0);
  CHECK(count({0, 2, 3, 1}, {0, 3, 2, 1}) == 2);  // out, and in again
}

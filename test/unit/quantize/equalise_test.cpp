// Channels made alike: the same network, with ranges that are nearer to each other.
#include "equalise.h"

#include <cmath>

#include "build.h"
#include "mrvlc/ir/rewriter.h"
#include "mrvlc/interp/interp.h"

namespace mrvlc::quantize {
namespace {

using quantize_test::Net;

// Channel c of the layer's results is 4^c times as large.
void spread(Net& net, ValueId result) {
  const Node& n = net.graph.node(net.graph.value(result).producer);
  const Tensor& w = *net.graph.constant(n.inputs[1]);
  Tensor scaled = w;
  const int64_t each = w.elements() / w.shape()[0];
  for (int64_t i = 0; i < w.elements(); ++i) scaled.set_double(i, w.as_double(i) * std::exp2(2 * (i / each)));
  const NodeId from[] = {n.id};
  ir::Rewriter rw(net.graph, "test");
  rw.set_input(n.id, 1, rw.constant(std::move(scaled), from, "spread"));
}

// The largest range of a channel over the smallest.
double unlike(const Graph& graph, const std::vector<Sample>& samples, const std::string& name) {
  std::vector<double> reach;
  const auto look = [&](ValueId v, Tensor& t) {
    if (graph.value(v).name != name) return;
    reach.resize(static_cast<size_t>(t.shape()[1]), 0);
    const int64_t inner = t.elements() / t.shape()[1];
    for (int64_t i = 0; i < t.elements(); ++i)
      reach[static_cast<size_t>(i / inner)] = std::max(reach[static_cast<size_t>(i / inner)], std::fabs(t.as_double(i)));
  };
  REQUIRE(visit_samples(graph, samples, "", nullptr, look).ok());
  return *std::ranges::max_element(reach) / *std::ranges::min_element(reach);
}

struct Equalised {
  std::map<NodeId, double> factors;
  double before = 0, after = 0;
};

Equalised equalised(Net& net, const std::string& name) {
  const auto samples = net.samples(6);
  Graph graph = net.graph;
  const Plan plan = make_plan(graph, std::vector<bool>(graph.node_slots(), false));
  const auto factors = equalise(graph, plan, samples, nullptr);
  REQUIRE(factors.ok());
  for (const Sample& s : samples) {
    const auto a = interp::run(net.graph, s), b = interp::run(graph, s);
    REQUIRE((a.ok() && b.ok()));
    for (int64_t i = 0; i < (*a)[0].elements(); ++i)
      CHECK((*b)[0].as_double(i) == Approx((*a)[0].as_double(i)).epsilon(1e-4).margin(1e-3));
  }
  return {*factors, unlike(net.graph, samples, name), unlike(graph, samples, name)};
}

}  // namespace

TEST_CASE("channels between two layers", "[quantize]") {
  Net net(11);
  const auto a = net.conv(net.input("x", {1, 3, 8, 8}), 4, "a");
  spread(net, a);
  net.graph.add_output(net.conv(net.node("Relu", {a}, "r"), 3, "b"));
  const Equalised e = equalised(net, "r");
  CHECK(e.factors.size() == 1);
  CHECK(e.after < 0.5 * e.before);
}

TEST_CASE("channels in front of a depthwise layer become quite alike", "[quantize]") {
  Net net(12);
  const auto a = net.conv(net.input("x", {1, 3, 8, 8}), 4, "a");
  spread(net, a);
  const auto d = net.conv(net.node("Relu", {a}, "r"), 4, "d", 4);
  net.graph.add_output(net.conv(d, 3, "b"));
  CHECK(equalised(net, "r").after < 2.1);  // factors are powers of two
}

TEST_CASE("channels of a residual stream have the same factors in all of it", "[quantize]") {
  Net net(13);
  const auto a = net.conv(net.input("x", {1, 3, 8, 8}), 4, "a");
  const auto r = net.node("Relu", {a}, "r");
  const auto b = net.conv(r, 4, "b");
  spread(net, a);
  spread(net, b);
  const auto sum = net.node("Relu", {net.node("Add", {b, r}, "sum")}, "s");
  const auto pooled = net.node("GlobalAveragePool", {sum}, "p");
  net.graph.add_output(net.node("Gemm", {net.node("Flatten", {pooled}, "f"), net.constant({4, 5})}, "y"));
  const Equalised e = equalised(net, "s");
  CHECK(e.factors.size() == 2);  // b and the Gemm read it
  CHECK(e.after < 0.5 * e.before);
}

TEST_CASE("what is no power of its scale, and what is seen outside, is left alone", "[quantize]") {
  Net net(14);
  const auto a = net.conv(net.input("x", {1, 3, 8, 8}), 4, "a");
  spread(net, a);
  const auto s = net.node("Sigmoid", {a}, "s");
  const auto b = net.conv(s, 4, "b");
  spread(net, b);
  net.graph.add_output(b);
  net.graph.add_output(net.conv(b, 3, "c"));
  CHECK(equalised(net, "a").factors.empty());
}

}  // namespace mrvlc::quantize

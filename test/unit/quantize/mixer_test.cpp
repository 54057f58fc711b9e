// Some layers in integers, others in floats: what is chosen by times, and what is measured of fp16.
#include <algorithm>
#include <functional>
#include <map>

#include "build.h"
#include "judge.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/ir/verifier.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/quantize/quantize.h"

namespace mrvlc::quantize {
namespace {

using quantize_test::Net;

Net chain(uint64_t seed, int layers) {
  Net net(seed);
  ir::ValueId x = net.input("x", {1, 4, 8, 8});
  for (int i = 0; i < layers; ++i) {
    const std::string name = "c" + std::to_string(i) + "_";
    x = net.node("Relu", {net.conv(x, 4, name)}, name + "r");
  }
  net.graph.add_output(net.conv(x, 3, "y"));
  return net;
}

Options plain_options() {
  Options o;
  o.ranges = RangeMethod::Mse;
  o.equalise = false;
  o.cost = [](const ir::Graph& g, const ir::Node& n) { return ops::evaluation_work(g, n); };
  return o;
}

bool is_quantised(const ir::Graph& g, const ir::Node& n) {
  const ir::NodeId by = g.value(n.inputs[1]).producer;
  return by.valid() && g.node(by).is(Op::DequantizeLinear);
}

// Ten for a layer of floats; one of integers, `integer` by name or 4, and 3 for what makes its integers.
// Sums: 1, and 20 of integers.
struct Clock {
  std::map<std::string, double> integer;
  double quantise = 3;
  size_t runs = 0;

  Result<Times> operator()(const ir::Graph& g) {
    ++runs;
    Times out;
    for (ir::NodeId id : g.topological_order()) {
      const ir::Node& n = g.node(id);
      if (n.is(Op::Add)) {
        const ir::NodeId user = g.value(n.outputs[0]).users[0];
        out.parts.push_back({{id}, g.node(user).is(Op::QuantizeLinear) ? 20.0 : 1.0});
        out.all += out.parts.back().time;
      }
      if (!n.is(Op::Conv, Op::QuantizeLinear)) continue;
      const auto named = integer.find(n.name);
      const double of_layer = is_quantised(g, n) ? named == integer.end() ? 4 : named->second : 10;
      out.parts.push_back({{id}, n.is(Op::Conv) ? of_layer : quantise});
      out.all += out.parts.back().time;
    }
    return out;
  }
};

}  // namespace

TEST_CASE("a layer that is slower in integers stays in floats", "[quantize]") {
  Net net = chain(11, 3);
  const auto samples = net.samples(6);
  Clock clock;
  clock.integer["c1_"] = 25;
  Options o = plain_options();
  o.accuracy = 1e3;
  o.times = std::ref(clock);
  ir::Graph graph = net.graph;
  const auto report = quantize(graph, samples, o);
  REQUIRE(report.ok());
  CHECK(ir::verify(graph).ok());
  for (const LayerReport& l : report->layers) {
    CHECK(l.integers == (l.node != "c1_"));
    if (!l.integers) CHECK(l.why_float == "it would save no time in integers");
  }
  REQUIRE(report->choice);
  CHECK(*report->choice->time_of_floats == 40);
  CHECK(*report->choice->time_of_integers == 25 + 3 * 4 + 4 * 3);
  CHECK(*report->choice->time == 10 + 3 * 4 + 3 * 3);
}

TEST_CASE("what makes integers in front of a layer counts as its time", "[quantize]") {
  Net net = chain(12, 2);
  const auto samples = net.samples(4);
  Clock clock;
  clock.quantise = 7;  // 4 + 7 is more than 10
  Options o = plain_options();
  o.accuracy = 1e3;
  o.times = std::ref(clock);
  ir::Graph none = net.graph;
  const auto refused = quantize(none, samples, o);
  REQUIRE(!refused.ok());
  o.may_be_none = true;
  ir::Graph graph = net.graph;
  const auto report = quantize(graph, samples, o);
  REQUIRE(report.ok());
  CHECK(std::ranges::none_of(report->layers, &LayerReport::integers));
  CHECK(report->error == 0);
  CHECK(*report->choice->time == 30);
}

TEST_CASE("what lies between layers counts as the time of the one behind it", "[quantize]") {
  Net net(15);
  const auto a = net.node("Relu", {net.conv(net.input("x", {1, 4, 8, 8}), 4, "a")}, "ar");
  const auto sum = net.node("Add", {net.conv(a, 4, "b"), a}, "sum");
  net.graph.add_output(net.conv(sum, 3, "y"));
  const auto samples = net.samples(4);
  Clock clock;
  Options o = plain_options();
  o.accuracy = 1e3;
  o.times = std::ref(clock);
  ir::Graph graph = net.graph;
  const auto report = quantize(graph, samples, o);
  REQUIRE(report.ok());
  for (const LayerReport& l : report->layers) CHECK(l.integers == (l.node != "y"));
  CHECK(*report->choice->time == 4 + 4 + 3 + 3 + 1 + 10);
}

TEST_CASE("as many layers as an accuracy allows, and not one more", "[quantize]") {
  Net net = chain(13, 5);
  const auto samples = net.samples(6);
  ir::Graph all = net.graph;
  const auto whole = quantize(all, samples, plain_options());
  REQUIRE(whole.ok());
  size_t before = 0;
  for (const double share : {0.6, 0.8, 0.95}) {
    Options o = plain_options();
    o.accuracy = share * whole->error;
    ir::Graph graph = net.graph;
    const auto report = quantize(graph, samples, o);
    REQUIRE(report.ok());
    CHECK(report->error <= *o.accuracy);
    const auto n = static_cast<size_t>(std::ranges::count_if(report->layers, &LayerReport::integers));
    CHECK(n >= before);
    before = n;
    // What the file says is what was measured.
    double error = 0;
    for (const auto& sample : samples) {
      const auto now = interp::run(graph, sample), then = interp::run(net.graph, sample);
      REQUIRE((now.ok() && then.ok()));
      for (int64_t i = 0; i < (*now)[0].elements(); ++i) {
        const double a = (*now)[0].as_double(i), b = (*then)[0].as_double(i);
        error = std::max(error, std::abs(a - b) / (1 + std::abs(b)));
      }
    }
    CHECK(error == Approx(report->error));
  }
  CHECK(before >= 3);
}

TEST_CASE("floats of a machine with fp16 have their part in the error", "[quantize]") {
  Net net = chain(14, 1);
  const auto sample = net.samples(1)[0];
  const auto exact = run_on_machine(net.graph, sample, false), half = run_on_machine(net.graph, sample, true);
  REQUIRE((exact.ok() && half.ok()));
  double most = 0;
  for (int64_t i = 0; i < (*exact)[0].elements(); ++i)
    most = std::max(most, std::abs((*exact)[0].as_double(i) - (*half)[0].as_double(i)));
  CHECK((most > 1e-4 && most < 1e-1));

  // A network of integers alone has none but at its ends.
  Options o = plain_options();
  ir::Graph graph = net.graph;
  REQUIRE(quantize(graph, {sample}, o).ok());
  const auto a = run_on_machine(graph, sample, false), b = run_on_machine(graph, sample, true);
  REQUIRE((a.ok() && b.ok()));
  for (int64_t i = 0; i < (*a)[0].elements(); ++i) {
    const double x = (*a)[0].as_double(i), y = (*b)[0].as_double(i);
    CHECK(std::abs(x - y) <= std::abs(x) * 0x1p-11);
  }
}

}  // namespace mrvlc::quantize

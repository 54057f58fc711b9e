// Whole networks: near to floats, the same again, and as accurate as was asked.
#include "mrvlc/quantize/quantize.h"

#include <algorithm>
#include <cmath>

#include "build.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/ir/verifier.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/accuracy.h"

namespace mrvlc::quantize {
namespace {

using quantize_test::Net;

// A depthwise layer, a residual, a pool.
Net network(uint64_t seed) {
  Net net(seed);
  const auto x = net.input("x", {1, 3, 10, 10});
  const auto a = net.node("Relu", {net.conv(x, 8, "a")}, "ar");
  const auto d = net.node("Relu", {net.conv(a, 8, "d", 8)}, "dr");
  const auto sum = net.node("Add", {net.conv(d, 8, "e"), a}, "sum");
  const auto pooled = net.node("GlobalAveragePool", {net.node("Relu", {sum}, "sr")}, "pooled");
  const auto flat = net.node("Flatten", {pooled}, "flat");
  net.graph.add_output(
      net.node("Gemm", {flat, net.constant({5, 8}), net.constant({5})}, "y", {{"transB", int64_t{1}}}));
  return net;
}

Options options() {
  Options o;
  o.cost = [](const ir::Graph& g, const ir::Node& n) { return ops::evaluation_work(g, n); };
  return o;
}

}  // namespace

TEST_CASE("a network of integers is near to floats, and better for what is done", "[quantize]") {
  Net net = network(1);
  const auto samples = net.samples(24);
  ir::Graph graph = net.graph;
  const auto report = quantize(graph, samples, options());
  REQUIRE(report.ok());
  CHECK(ir::verify(graph).ok());
  REQUIRE(report->layers.size() == 4);
  for (const LayerReport& l : report->layers) CHECK((l.integers && *l.sqnr_db > 25));
  CHECK(report->outputs[0].sqnr_db > 30);
  CHECK(report->weight_bytes * 4 == report->float_weight_bytes);

  Options plain = options();
  plain.ranges = RangeMethod::MinMax;
  plain.learn_rounding = plain.correct_bias = plain.equalise = false;
  ir::Graph other = net.graph;
  const auto simple = quantize(other, samples, plain);
  REQUIRE(simple.ok());
  CHECK(report->outputs[0].sqnr_db > simple->outputs[0].sqnr_db);
}

TEST_CASE("ranges are tried on the outputs where the budget allows", "[quantize]") {
  Net net = network(6);
  // Values far out that the outputs hang on: what loses least squares is not what is best for them.
  auto samples = net.samples(8);
  for (auto& sample : samples)
    for (int64_t i = 0; i < 300; i += 37) sample[0].set_double(i, 9 * sample[0].as_double(i));
  double mean_error[2];
  bool tried[2] = {false, false};
  for (int k : {0, 1}) {
    Options o = options();
    o.equalise = o.learn_rounding = o.correct_bias = false;
    if (k == 0) o.budget = 1;
    o.progress = [&](std::string_view step, size_t, size_t) { tried[k] = tried[k] || step == "methods"; };
    ir::Graph graph = net.graph;
    const auto report = quantize(graph, samples, o);
    REQUIRE(report.ok());
    mean_error[k] = -report->outputs[0].sqnr_db;
    const bool all_mse = std::ranges::all_of(
        report->tensors, [](const TensorReport& t) { return t.method == RangeMethod::Mse; });
    CHECK(all_mse == (k == 0));
  }
  CHECK((!tried[0] && tried[1]));
  CHECK(mean_error[1] < mean_error[0]);
}

TEST_CASE("the same with any number of threads", "[quantize]") {
  Net net = network(2);
  const auto samples = net.samples(6);
  std::string texts[2];
  for (unsigned jobs : {1u, 3u}) {
    ir::Graph graph = net.graph;
    Options o = options();
    o.jobs = jobs;
    REQUIRE(quantize(graph, samples, o).ok());
    texts[jobs / 3] = ir::print(graph);
  }
  CHECK(texts[0] == texts[1]);
}

TEST_CASE("layers stay in floats until the outputs are near enough", "[quantize]") {
  Net net = network(3);
  const auto samples = net.samples(6);
  ir::Graph all = net.graph;
  const auto whole = quantize(all, samples, options());
  REQUIRE(whole.ok());
  Options o = options();
  o.accuracy = whole->error * 0.9;
  ir::Graph graph = net.graph;
  const auto report = quantize(graph, samples, o);
  REQUIRE(report.ok());
  CHECK(report->error <= *o.accuracy);
  size_t floats = 0;
  for (const LayerReport& l : report->layers) {
    CHECK(l.sensitivity.has_value());
    if (l.integers) continue;
    ++floats;
    CHECK(!l.why_float.empty());
  }
  CHECK((floats > 0 && floats < report->layers.size()));

  o.accuracy = 0;
  ir::Graph none = net.graph;
  const auto refused = quantize(none, samples, o);
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == DiagCode::MRV0913);
}

TEST_CASE("a network without layers is refused", "[quantize]") {
  Net net(4);
  net.graph.add_output(net.node("Relu", {net.input("x", {3})}, "y"));
  const auto refused = quantize(net.graph, net.samples(1), options());
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == DiagCode::MRV0912);
}

TEST_CASE("a bias that is large beside its weights fits into the sums", "[quantize]") {
  Net net(5);
  const auto x = net.input("x", {1, 3, 6, 6});
  const auto a = net.conv(x, 2, "a");
  Tensor bias(TensorType{ElementType::F32, {2}});
  bias.set_double(0, 1e6);
  const ir::ValueId large = net.graph.add_constant("large", bias);
  const ir::ValueId w = net.constant({2, 2, 1, 1}, 1e-6);
  net.graph.add_output(net.node("Conv", {a, w, large}, "y"));
  const auto report = quantize(net.graph, net.samples(4), options());
  REQUIRE(report.ok());
  CHECK(report->error < 1e-5);
}

}  // namespace mrvlc::quantize

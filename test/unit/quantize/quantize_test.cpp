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

namespace {

// Of the outputs, on these samples: the largest |a-b| / (1+|b|), and the mean of squares over squares.
std::pair<double, double> distance(const ir::Graph& integers, const ir::Graph& floats,
                                   const std::vector<std::vector<Tensor>>& samples) {
  double most = 0, mean = 0;
  for (const auto& sample : samples) {
    const auto a = (*interp::run(integers, sample))[0].to_doubles(),
               b = (*interp::run(floats, sample))[0].to_doubles();
    double noise = 0, signal = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      most = std::max(most, std::fabs(a[i] - b[i]) / (1 + std::fabs(b[i])));
      noise += (a[i] - b[i]) * (a[i] - b[i]);
      signal += b[i] * b[i];
    }
    mean += noise / signal / static_cast<double>(samples.size());
  }
  return {most, mean};
}

}  // namespace

TEST_CASE("errors are those of samples that nothing was made of", "[quantize]") {
  Net net = network(8);
  const auto samples = net.samples(24), others = net.samples(5);
  std::vector<std::vector<Tensor>> fourths;
  for (size_t i = 3; i < samples.size(); i += 4) fourths.push_back(samples[i]);
  for (bool given : {false, true}) {
    Options o = options();
    if (given) o.validation = others;
    ir::Graph graph = net.graph;
    const auto report = quantize(graph, samples, o);
    REQUIRE(report.ok());
    CHECK(report->samples == (given ? 24 : 18));
    CHECK(report->validation == (given ? 5 : 6));
    CHECK(report->error == Approx(distance(graph, net.graph, given ? others : fourths).first).epsilon(1e-6));
  }
  ir::Graph graph = net.graph;
  const auto few = quantize(graph, net.samples(7), options());
  REQUIRE(few.ok());
  CHECK((few->samples == 7 && few->validation == 0));
}

TEST_CASE("what is learned of few samples is kept where others agree", "[quantize]") {
  for (uint64_t seed : {11u, 12u, 13u, 14u}) {
    Net net = network(seed);
    const auto samples = net.samples(2);
    Options o = options(), simple = options();
    o.validation = simple.validation = net.samples(12);
    simple.ranges = RangeMethod::MinMax;
    simple.learn_rounding = simple.correct_bias = simple.equalise = false;
    ir::Graph graph = net.graph, plain = net.graph;
    REQUIRE(quantize(graph, samples, o).ok());
    REQUIRE(quantize(plain, samples, simple).ok());
    CHECK(distance(graph, net.graph, o.validation).second <=
          1.000001 * distance(plain, net.graph, o.validation).second);
  }
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
    if (k == 0) o.ranges = RangeMethod::Mse;
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
  Options o = options();
  o.budget = 1;
  o.progress = [](std::string_view step, size_t, size_t) { CHECK(step != "methods"); };
  CHECK(quantize(net.graph, samples, o).ok());
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

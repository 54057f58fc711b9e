// How far outputs move by one rounding: what is expected is computed by hand.
#include "mrvlc/calibration/sensitivity.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "graphs.h"
#include "mrvlc/calibration/file.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::calibration {
namespace {

using calibration_test::chain;
using calibration_test::floats;

// 1 + 2^-12 is rounded to 1, 3 + 2^-11 to 3; 2 stays.
const double kStep = std::ldexp(1, -12);
std::vector<Tensor> sample(const std::vector<double>& x) {
  const auto n = static_cast<int64_t>(x.size());
  return {floats({n}, x), Tensor(TensorType{ElementType::U8, {n}})};
}

std::vector<double> measured(const ir::Graph& graph, const std::vector<std::vector<Tensor>>& samples,
                             const std::vector<Rounding>& roundings, unsigned jobs = 1) {
  SensitivityOptions options;
  options.jobs = jobs;
  const auto got = sensitivities(graph, samples, roundings, graph.outputs(), options);
  REQUIRE(got.ok());
  return *got;
}

// y = x op constant, of one element.
ir::Graph product(const char* name, const TensorType& of_x, Tensor constant) {
  ir::Graph graph;
  const TensorType type{ElementType::F32, Shape(of_x.shape.size(), 1)};
  const ir::ValueId x = graph.add_input("x", of_x), c = graph.add_constant("k", std::move(constant));
  const ir::SourceId source = graph.add_source({"main/0", "scale", name, "", {}});
  const ir::OpSchema& op = *ops::find_op("", name);
  const ir::NodeId node =
      graph.add_node(op, "scale", {x, c}, ir::default_attrs(op), {type}, {"y"}, {{source}, {}, "import", {}});
  graph.add_output(graph.node(node).outputs[0]);
  return graph;
}
// y = x * k, the constant a vector of one.
ir::Graph product(double k) {
  return product("Mul", {ElementType::F32, {1}}, floats({1}, {k}));
}

TEST_CASE("an input's rounding moves the output by what it loses") {
  const ir::Graph graph = chain({"Neg", "Abs"}, {2});
  const ir::ValueId x = graph.inputs()[0], v0 = *graph.find_value("v0"), v1 = *graph.find_value("v1");
  const double expected = kStep / (2 + kStep);
  const auto errors =
      measured(graph, {sample({1 + kStep, 2})}, {{{x}, {}}, {{v0}, {}}, {{v1}, {}}, {{x, v0, v1}, {}}});
  for (double e : errors) CHECK(e == Approx(expected));  // what is rounded once stays
  CHECK(measured(graph, {sample({2, 0.5})}, {{{x}, {}}})[0] == 0);
}

// Four weights of 1 + 2^-12: each becomes 1, but what three lose makes one of them 1 + 2^-10.
TEST_CASE("weights are rounded as they are stored: errors of one sum cancel") {
  const double w = 1 + kStep;
  const ir::Graph graph = product("MatMul", {ElementType::F32, {1, 4}}, floats({4, 1}, {w, w, w, w}));
  Rounding stored{{}, {ir::NodeId(uint32_t{0})}}, nearest = stored;
  nearest.round = [](ir::ValueId, Tensor& t) {
    for (float& v : t.mutable_data<float>()) v = half_to_float(float_to_half(v));
  };
  const std::vector<std::vector<Tensor>> alike = {{floats({1, 4}, {1, 1, 1, 1})}},
                                         one = {{floats({1, 4}, {1, 0, 0, 0})}};
  CHECK(measured(graph, alike, {stored})[0] == 0);
  CHECK(measured(graph, alike, {nearest})[0] == Approx(4 * kStep / (5 + 4 * kStep)));
  CHECK(measured(graph, one, {stored})[0] == Approx(kStep / (2 + kStep)));
}

TEST_CASE("of several samples the worst counts, whatever the number of threads") {
  const ir::Graph graph = chain({"Neg", "Exp", "Neg", "Abs"}, {2});
  std::vector<Rounding> all;
  for (const char* name : {"x", "v0", "v1", "v2", "v3"}) all.push_back({{*graph.find_value(name)}, {}});
  const std::vector<std::vector<Tensor>> samples = {sample({2, 2}), sample({1 + kStep, 3 + 2 * kStep}),
                                                    sample({0.3, 5})};
  const auto one = measured(graph, samples, all), two = measured(graph, samples, all, 4);
  CHECK(one == two);
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto alone = measured(graph, {samples[i]}, all);
    for (size_t k = 0; k < all.size(); ++k) CHECK(alone[k] <= one[k]);
  }
}

TEST_CASE("an overflow is infinite, and behind a bound nothing") {
  const ir::Graph open = chain({"Neg"}, {1}), bound = chain({"Sigmoid"}, {1});
  CHECK(std::isinf(measured(open, {sample({1e5})}, {{{open.inputs()[0]}, {}}})[0]));
  CHECK(measured(bound, {sample({1e5})}, {{{bound.inputs()[0]}, {}}})[0] == 0);
}

TEST_CASE("constants are rounded for the nodes that are named") {
  const ir::Graph graph = product(1 + kStep);
  const ir::NodeId node = graph.topological_order()[0];
  const auto errors = measured(graph, {{floats({1}, {8})}}, {{{}, {node}}, {{graph.inputs()[0]}, {}}});
  CHECK(errors[0] == Approx(8 * kStep / (1 + 8 * (1 + kStep))));
  CHECK(errors[1] == 0);
}

TEST_CASE("what is reached lies behind what is rounded") {
  const ir::Graph graph = chain({"Neg", "Exp", "Abs"}, {1});
  const ir::ValueId v1 = *graph.find_value("v1");
  CHECK(nodes_reached(graph, {{v1}, {}}).size() == 2);  // its own node and the one behind
  CHECK(nodes_reached(graph, {{graph.inputs()[0]}, {}}).size() == 3);
  CHECK(measuring_cost(graph, {{v1}, {}}, [](const ir::Node&) { return int64_t{7}; }) == 14);
}

TEST_CASE("squares add up") {
  const std::vector<double> errors = {3e-3, 4e-3};
  CHECK(predicted_error(errors) == Approx(5e-3));
  CHECK(predicted_error({}) == 0);
}

TEST_CASE("records get theirs within a budget, and files keep them") {
  const ir::Graph graph = product(1 + kStep);
  const std::vector<std::vector<Tensor>> samples = {{floats({1}, {8})}, {floats({1}, {1 + kStep})}};
  Observer observer(graph);
  for (const auto& s : samples) REQUIRE(observer.add(s).ok());
  const auto of_node = [](const ir::Node&) { return int64_t{10}; };
  const Calibration plain = observer.result(std::string(64, 'a'));
  Calibration two = plain, one = plain, none = plain;
  REQUIRE(add_sensitivities(graph, samples, 1000, of_node, {}, two).ok());
  REQUIRE(add_sensitivities(graph, samples, 40, of_node, {}, one).ok());
  REQUIRE(add_sensitivities(graph, samples, 20, of_node, {}, none).ok());
  CHECK(none == plain);
  CHECK(one.sensitivity_samples == 1);
  CHECK(two.sensitivity_samples == 2);
  CHECK(one.find("x")->sensitivity == 0.0);
  CHECK(*two.find("x")->sensitivity ==
        Approx(kStep * (1 + kStep) / (1 + (1 + kStep) * (1 + kStep))).epsilon(0.01));
  CHECK(*two.find("y")->constants_sensitivity == Approx(8 * kStep / 9).epsilon(0.01));
  CHECK_FALSE(two.find("x")->constants_sensitivity.has_value());
  const auto read = parse(to_json(two), "cal.json");
  REQUIRE(read.ok());
  CHECK(*read == two);
  std::string broken = to_json(two);
  broken.replace(broken.find("\"sensitivity\": "), 15, "\"sensitivity\": -");
  CHECK_FALSE(parse(broken, "cal.json").ok());
}

}  // namespace
}  // namespace mrvlc::calibration

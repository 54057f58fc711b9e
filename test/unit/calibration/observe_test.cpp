// What is looked at when a model runs on data.
#include "mrvlc/calibration/observe.h"

#include <catch2/catch.hpp>

#include "graphs.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::calibration {
namespace {

using calibration_test::chain;
using calibration_test::floats;

std::vector<Tensor> sample(const std::vector<double>& x) {
  const Shape shape = {static_cast<int64_t>(x.size())};
  return {floats(shape, x), Tensor(TensorType{ElementType::U8, shape})};
}

TEST_CASE("every value is seen over all samples, inputs first") {
  const ir::Graph graph = chain({"Neg", "Exp"}, {2});
  Observer observer(graph);
  REQUIRE(observer.add(sample({1, -2})).ok());
  REQUIRE(observer.add(sample({0, 5})).ok());
  const Calibration got = observer.result("abc");
  CHECK(got.model_sha256 == "abc");
  CHECK(got.samples == 2);
  REQUIRE(got.values.size() == 4);
  CHECK(got.values[0].name == "x");
  CHECK(got.values[0].input);
  CHECK(got.values[1].name == "n");
  CHECK(got.values[1].elem == ElementType::U8);
  CHECK(got.values[2].name == "v0");
  CHECK_FALSE(got.values[2].input);
  CHECK(got.values[2].summary.min == -5);
  CHECK(got.values[2].summary.max == 2);
  CHECK(got.values[2].summary.elements == 4);
  CHECK(got.find("v1")->summary.max == Approx(std::exp(2.0)));
  CHECK(got.find("v2") == nullptr);
}

TEST_CASE("a run that fails adds no sample, and says so") {
  const ir::Graph graph = chain({"Neg"}, {2});
  Observer observer(graph);
  CHECK(observer.add(sample({1, 2, 3})).error().code == DiagCode::MRV0004);
  CHECK(observer.result("").samples == 0);
}

TEST_CASE("names that look alike are listed once") {
  ir::Graph graph;
  const TensorType type{ElementType::F32, {1}};
  graph.add_input("a\x01", type);
  graph.add_output(graph.add_input("a\\x01", type));
  Observer observer(graph);
  REQUIRE(observer.add({floats({1}, {1}), floats({1}, {2})}).ok());
  CHECK(observer.result("").values.size() == 1);
}

}  // namespace
}  // namespace mrvlc::calibration

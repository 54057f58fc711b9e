// The interpreter's own duties: order, lifetimes, limits, seeded inputs.
#include "mrvlc/interp/interp.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "mrvlc/ops/op.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/sim.h"

namespace mrvlc {
namespace {

using E = ElementType;

// y = x applied `depth` times to op, each value 4 KiB.
ir::Graph chain(std::string_view op_name, int depth) {
  ir::Graph graph;
  const ir::OpSchema& op = *ops::find_op("", op_name);
  TensorType type{E::F32, {1024}};
  ir::ValueId value = graph.add_input("x", type);
  for (int i = 0; i < depth; ++i) {
    ir::SourceId source = graph.add_source({"main/" + std::to_string(i), "n", std::string(op_name), "", {}});
    ir::NodeId node = graph.add_node(op, "n" + std::to_string(i), {value}, ir::default_attrs(op), {type},
                                     {""}, {{source}, {}, "import", {}});
    value = graph.node(node).outputs[0];
  }
  graph.add_output(value);
  return graph;
}

TEST_CASE("tensors die after their last use") {
  ir::Graph graph = chain("Neg", 5);
  std::vector<Tensor> inputs = interp::seeded_inputs(graph, 1);
  auto outputs = interp::run(graph, inputs, {.max_bytes = 2 * 4096});
  REQUIRE(outputs.ok());
  CHECK(outputs->at(0).as_double(7) == -inputs[0].as_double(7));
}

TEST_CASE("a run that needs more memory than allowed is refused") {
  ir::Graph graph = chain("Neg", 2);
  auto outputs = interp::run(graph, interp::seeded_inputs(graph, 1), {.max_bytes = 4096});
  REQUIRE_FALSE(outputs.ok());
  CHECK(outputs.error().code == DiagCode::MRV0008);
  CHECK(outputs.error().node == "n0");
}

TEST_CASE("memory is checked before there is any tensor, as the run would") {
  for (int length : {1, 2, 5}) {
    ir::Graph graph = chain("Neg", length);
    for (int64_t room : {4095, 4096, 8191, 8192, 12288}) {
      INFO(length << " nodes in " << room << " bytes");
      auto ran = interp::run(graph, interp::seeded_inputs(graph, 1), {.max_bytes = room});
      Status status = interp::check_memory(graph, {.max_bytes = room});
      CHECK(status.ok() == (room >= 8192));
      CHECK(status.ok() == ran.ok());
      if (!status.ok()) CHECK(status.error().node == (room < 4096 ? "" : "n0"));
    }
  }
}

TEST_CASE("inputs of another number or type are refused") {
  ir::Graph graph = chain("Neg", 1);
  CHECK(interp::run(graph, {}).error().code == DiagCode::MRV0707);
  CHECK(interp::run(graph, {Tensor(TensorType{E::F32, {3}})}).error().code == DiagCode::MRV0004);
}

TEST_CASE("every input is looked at") {
  ir::Graph graph;
  const TensorType type{E::F32, {2}};
  graph.add_output(graph.add_input("x", type));
  graph.add_input("y", type);
  CHECK(interp::run(graph, {Tensor(type), Tensor(type)}).ok());
  CHECK(interp::run(graph, {Tensor(type), Tensor(TensorType{E::F32, {3}})}).error().code ==
        DiagCode::MRV0004);
  CHECK(interp::run(graph, {Tensor(type), Tensor(TensorType{E::I32, {2}})}).error().code ==
        DiagCode::MRV0004);
}

TEST_CASE("seeded numbers lie in [0, 1) in every format") {
  for (E elem : {E::F32, E::F16, E::BF16, E::F64}) {
    ir::Graph graph;
    graph.add_output(graph.add_input("x", TensorType{elem, {20000}}));
    const std::vector<double> drawn = interp::seeded_inputs(graph, 7)[0].to_doubles();
    const auto [low, high] = std::ranges::minmax(drawn);
    CHECK(low >= 0);
    CHECK(high > 0.99);
    CHECK(high < 1);
  }
}

TEST_CASE("an input may be an output") {
  ir::Graph graph = chain("Neg", 0);
  std::vector<Tensor> inputs = interp::seeded_inputs(graph, 3);
  auto outputs = interp::run(graph, inputs);
  REQUIRE(outputs.ok());
  CHECK(outputs->at(0) == inputs[0]);
}

TEST_CASE("seeded inputs are one stream, in range and the same every time") {
  ir::Graph graph;
  for (E elem : {E::F32, E::F16, E::I64, E::Bool}) {
    graph.add_input("x" + std::to_string(static_cast<int>(elem)), TensorType{elem, {500}});
  }
  std::vector<Tensor> a = interp::seeded_inputs(graph, 42), b = interp::seeded_inputs(graph, 42);
  // mulberry32(42) starts with 0x99e1ef7c = 0.6011037519 * 2^32, by its published definition.
  CHECK(a[0].as_double(0) == static_cast<double>(0x99e1ef) * 0x1p-24);
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i] == b[i]);
    double limit = is_float(a[i].elem()) ? 1 : a[i].elem() == E::Bool ? 2 : 4;
    for (double v : a[i].to_doubles()) REQUIRE((v >= 0 && v < limit));
  }
  CHECK_FALSE(interp::seeded_inputs(graph, 43)[0] == a[0]);
}

}  // namespace
}  // namespace mrvlc

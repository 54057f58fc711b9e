// Forms of older operator sets that need a node in front of the operator.
#include "model_util.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::test {
namespace {

pb::ModelProto old_model(int64_t opset) {
  pb::ModelProto model = empty_model();
  model.mutable_opset_import(0)->set_version(opset);
  return model;
}

// Result of an imported graph whose inputs count 0, 1, 2, ...
std::vector<double> run_counting(const ir::Graph& graph) {
  std::vector<Tensor> inputs;
  for (ir::ValueId id : graph.inputs()) {
    Tensor tensor(graph.value(id).type);
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.set_double(i, static_cast<double>(i) - 2);
    inputs.push_back(std::move(tensor));
  }
  auto results = interp::run(graph, inputs);
  REQUIRE(results.ok());
  return (*results)[0].to_doubles();
}

}  // namespace

TEST_CASE("Add of opset 6 aligns a vector to an axis", "[onnx]") {
  pb::ModelProto model = old_model(6);
  add_input(model, "x", {1, 2, 2, 2});
  *model.mutable_graph()->add_initializer() = float_tensor("b", {2}, {10, 20});
  auto& add = add_node(model, "Add", {"x", "b"}, {"y"});
  add.set_name("add");
  add_int(add, "broadcast", 1);
  add_int(add, "axis", 1);
  add_output(model, "y", {1, 2, 2, 2});
  Outcome outcome = import(model);
  check_imported(outcome);
  const ir::Graph& graph = outcome.model->graph;
  CHECK(run_counting(graph) == std::vector<double>{8, 9, 10, 11, 22, 23, 24, 25});
  REQUIRE(graph.node_slots() == 2);
  const ir::Node &reshape = graph.node(ir::NodeId(size_t{0})), &sum = graph.node(ir::NodeId(size_t{1}));
  CHECK(reshape.is(Op::Reshape));
  CHECK(graph.value(reshape.outputs[0]).type.shape == Shape{2, 1, 1});
  CHECK(sum.inputs[1] == reshape.outputs[0]);
  const auto source = std::vector<ir::SourceId>{ir::SourceId(size_t{0})};
  CHECK(graph.lineage(ir::NodeId(size_t{0})).sources == source);
  CHECK(graph.lineage(ir::NodeId(size_t{1})).sources == source);
}

TEST_CASE("an axis in the middle, of a value computed at run time", "[onnx]") {
  pb::ModelProto model = old_model(6);
  add_input(model, "x", {2, 2, 2});
  add_input(model, "b", {2, 2});
  auto& mul = add_node(model, "Mul", {"x", "b"}, {"y"});
  add_int(mul, "broadcast", 1);
  add_int(mul, "axis", 0);
  add_output(model, "y", {2, 2, 2});
  Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(run_counting(outcome.model->graph) == std::vector<double>{4, 2, 0, -1, 0, 0, 4, 5});
}

TEST_CASE("an axis that leaves no room is refused", "[onnx]") {
  pb::ModelProto model = old_model(6);
  add_input(model, "x", {2, 2, 2});
  add_input(model, "b", {2, 2});
  auto& mul = add_node(model, "Mul", {"x", "b"}, {"y"});
  add_int(mul, "broadcast", 1);
  add_int(mul, "axis", 2);
  add_output(model, "y", {2, 2, 2});
  check_refused(import(model), DiagCode::MRV0205);
}

TEST_CASE("PRelu before opset 7 has a slope for each channel", "[onnx]") {
  pb::ModelProto model = old_model(6);
  add_input(model, "x", {1, 2, 3, 1});
  *model.mutable_graph()->add_initializer() = float_tensor("slope", {2}, {0.5, 2});
  add_node(model, "PRelu", {"x", "slope"}, {"y"});
  add_output(model, "y", {1, 2, 3, 1});
  Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(run_counting(outcome.model->graph) == std::vector<double>{-1, -0.5, 0, 1, 2, 3});
}

TEST_CASE("both inputs of one node may share an operand that is reshaped", "[onnx]") {
  pb::ModelProto model = old_model(6);
  add_input(model, "x", {2});
  auto& add = add_node(model, "Add", {"x", "x"}, {"y"});
  add_int(add, "broadcast", 1);
  add_int(add, "axis", 0);
  add_output(model, "y", {2});
  Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(run_counting(outcome.model->graph) == std::vector<double>{-4, -2});
}

}  // namespace mrvlc::test

// Forms of older operator sets that need a node in front of the operator.
#include <cmath>

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

// Softmax of the rows of a matrix: 0, 1, 2, ... in each row, whatever was in front.
std::vector<double> softmax_of_rows(int64_t rows, int64_t columns, const std::string& op) {
  std::vector<double> out;
  double sum = 0;
  for (int64_t c = 0; c < columns; ++c) sum += std::exp(static_cast<double>(c - columns + 1));
  for (int64_t i = 0; i < rows * columns; ++i) {
    const double x = static_cast<double>(i % columns - columns + 1);
    out.push_back(op == "Hardmax"   ? (x == 0 ? 1 : 0)
                  : op == "Softmax" ? std::exp(x) / sum
                                    : x - std::log(sum));
  }
  return out;
}

TEST_CASE("Softmax and its kin before opset 13 are over all dimensions from the axis on", "[onnx]") {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    for (int64_t opset : {1, 11, 12, 13}) {
      for (int64_t axis : {0, 1, 2, -2}) {
        if (opset < 11 && axis < 0) continue;
        CAPTURE(op, opset, axis);
        pb::ModelProto model = old_model(opset);
        add_input(model, "x", {2, 3, 4});
        add_int(add_node(model, op, {"x"}, {"y"}), "axis", axis);
        add_output(model, "y", {2, 3, 4});
        Outcome outcome = import(model);
        check_imported(outcome);
        const ir::Graph& graph = outcome.model->graph;
        const int64_t from = axis < 0 ? axis + 3 : axis;
        const bool flattens = opset < 13 && from < 2;
        CHECK(graph.node_slots() == (flattens ? 3 : 1));
        CHECK(graph.value(graph.outputs()[0]).name == "y");
        for (ir::NodeId id : graph.topological_order())
          CHECK(graph.lineage(id).sources == std::vector<ir::SourceId>{ir::SourceId(size_t{0})});
        if (opset >= 13 && from < 2) continue;
        constexpr int64_t kColumns[] = {24, 12, 4};
        const int64_t columns = kColumns[from];
        const auto expected = softmax_of_rows(24 / columns, columns, op), actual = run_counting(graph);
        for (size_t i = 0; i < expected.size(); ++i) CHECK(actual[i] == Approx(expected[i]));
      }
    }
  }
}

TEST_CASE("Softmax of opset 12 on shapes known at run time only", "[onnx]") {
  pb::ModelProto model = old_model(12);
  add_input(model, "x", {});
  auto* shape =
      model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const char* symbol : {"n", "c", "w"}) shape->add_dim()->set_dim_param(symbol);
  add_node(model, "Softmax", {"x"}, {"y"});
  model.mutable_graph()->add_output()->set_name("y");
  onnx::ImportOptions options;
  options.input_shapes["x"] = *onnx::parse_given_shape("1..2x1..3x1..4");
  Outcome outcome = import(model, options);
  check_imported(outcome);
  const ir::Graph& graph = outcome.model->graph;
  CHECK(to_string(graph.value(graph.outputs()[0]).type) == "f32[<=2,<=3,<=4]");
  Tensor x(TensorType{ElementType::F32, {2, 2, 3}});
  for (int64_t i = 0; i < 12; ++i) x.set_double(i, static_cast<double>(i));
  const auto results = interp::run(graph, {x});
  REQUIRE(results.ok());
  const auto expected = softmax_of_rows(2, 6, "Softmax"), actual = (*results)[0].to_doubles();
  CHECK((*results)[0].shape() == Shape{2, 2, 3});
  for (size_t i = 0; i < expected.size(); ++i) CHECK(actual[i] == Approx(expected[i]));
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

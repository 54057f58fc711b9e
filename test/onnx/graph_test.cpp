// Names, order and outputs of graphs.
#include "model_util.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::test {

TEST_CASE("values, nodes and sources of a small graph", "[onnx]") {
  Outcome outcome = import(relu_model());
  check_imported(outcome);
  const ir::Graph& graph = outcome.model->graph;
  REQUIRE(graph.node_slots() == 1);
  REQUIRE(graph.inputs().size() == 1);
  REQUIRE(graph.outputs().size() == 1);
  const ir::Node& node = graph.node(ir::NodeId(size_t{0}));
  CHECK(node.is(Op::Relu));
  CHECK(node.name == "relu");
  CHECK(graph.value(graph.outputs()[0]).name == "y");
  CHECK(graph.value(graph.outputs()[0]).type == TensorType{ElementType::F32, {2, 3}});
  REQUIRE(graph.sources().size() == 1);
  CHECK(graph.sources()[0].id == "main/0");
  CHECK(graph.sources()[0].outputs == std::vector<std::string>{"y"});
  CHECK(graph.lineage(node.id).pass == "import");
}

TEST_CASE("no graph, no outputs, no nodes", "[onnx]") {
  pb::ModelProto model = relu_model();
  model.clear_graph();
  check_refused(import(model), DiagCode::MRV0104);
  model = relu_model();
  model.mutable_graph()->clear_output();
  check_refused(import(model), DiagCode::MRV0105);
  model = relu_model();
  model.mutable_graph()->clear_node();
  check_refused(import(model), DiagCode::MRV0143);  // y is not defined
  model.mutable_graph()->mutable_output(0)->set_name("x");
  Outcome passed_on = import(model);
  check_imported(passed_on);
  CHECK(passed_on.model->graph.outputs() == passed_on.model->graph.inputs());
}

TEST_CASE("names defined twice", "[onnx]") {
  SECTION("inputs") {
    pb::ModelProto model = relu_model();
    add_input(model, "x", {2, 3});
    check_refused(import(model), DiagCode::MRV0110);
  }
  SECTION("initializers") {
    pb::ModelProto model = relu_model();
    for (int i = 0; i < 2; ++i) *model.mutable_graph()->add_initializer() = float_tensor("w", {1}, {1});
    check_refused(import(model), DiagCode::MRV0110);
  }
  SECTION("two nodes") {
    pb::ModelProto model = relu_model();
    add_node(model, "Relu", {"x"}, {"y"}).set_name("again");
    Outcome outcome = import(model);
    check_refused(outcome, DiagCode::MRV0110);
    CHECK(outcome.first(DiagCode::MRV0110).node == "again");
  }
  SECTION("a node and an input") {
    pb::ModelProto model = relu_model();
    add_node(model, "Relu", {"y"}, {"x"});
    check_refused(import(model), DiagCode::MRV0110);
  }
  SECTION("one node") {
    pb::ModelProto model = relu_model();
    model.mutable_graph()->mutable_node(0)->add_output("y");
    check_refused(import(model), DiagCode::MRV0110);
  }
  SECTION("outputs") {
    pb::ModelProto model = relu_model();
    add_output(model, "y", {2, 3});
    add_input(model, "y_2", {1});  // a name that is taken
    const Outcome outcome = import(model);
    check_imported(outcome);
    CHECK(outcome.has(DiagCode::MRV0149));
    const ir::Graph& graph = outcome.model->graph;
    REQUIRE(graph.outputs().size() == 2);
    CHECK(graph.value(graph.outputs()[0]).name == "y");
    CHECK(graph.value(graph.outputs()[1]).name == "y_3");
  }
}

TEST_CASE("empty and undefined names", "[onnx]") {
  pb::ModelProto model = relu_model();
  model.mutable_graph()->mutable_input(0)->set_name("");
  check_refused(import(model), DiagCode::MRV0114);
  model = relu_model();
  model.mutable_graph()->mutable_output(0)->set_name("");
  check_refused(import(model), DiagCode::MRV0114);
  model = relu_model();
  *model.mutable_graph()->add_initializer() = float_tensor("", {1}, {1});
  check_refused(import(model), DiagCode::MRV0114);
  model = relu_model();
  model.mutable_graph()->mutable_node(0)->set_output(0, "");
  check_refused(import(model), DiagCode::MRV0118);
  model = relu_model();
  model.mutable_graph()->mutable_node(0)->clear_output();
  check_refused(import(model), DiagCode::MRV0118);
  model = relu_model();
  model.mutable_graph()->mutable_node(0)->set_input(0, "nowhere");
  Outcome outcome = import(model);
  check_refused(outcome, DiagCode::MRV0111);
  CHECK(outcome.first(DiagCode::MRV0111).node == "relu");
}

TEST_CASE("a required input left out", "[onnx]") {
  pb::ModelProto model = relu_model();
  model.mutable_graph()->mutable_node(0)->set_input(0, "");
  check_refused(import(model), DiagCode::MRV0201);
  model.mutable_graph()->mutable_node(0)->clear_input();
  check_refused(import(model), DiagCode::MRV0201);
}

TEST_CASE("too many inputs or outputs", "[onnx]") {
  pb::ModelProto model = relu_model();
  model.mutable_graph()->mutable_node(0)->add_input("x");
  check_refused(import(model), DiagCode::MRV0201);
  model = relu_model();
  model.mutable_graph()->mutable_node(0)->add_output("z");
  CHECK_FALSE(import(model).model.has_value());
}

TEST_CASE("cycles", "[onnx]") {
  pb::ModelProto model = relu_model();
  model.mutable_graph()->mutable_node(0)->set_input(0, "y");  // itself
  check_refused(import(model), DiagCode::MRV0112);
  model = relu_model();
  model.mutable_graph()->mutable_node(0)->set_input(0, "b");
  add_node(model, "Relu", {"y"}, {"a"});
  add_node(model, "Relu", {"a"}, {"b"});
  Outcome outcome = import(model);
  check_refused(outcome, DiagCode::MRV0112);
  const std::string message = outcome.first(DiagCode::MRV0112).message;
  for (const char* name : {"'a'", "'b'", "'y'"}) CHECK(message.find(name) != std::string::npos);
}

TEST_CASE("unsorted nodes are sorted with a warning", "[onnx]") {
  pb::ModelProto model = relu_model();
  model.mutable_graph()->mutable_node(0)->set_input(0, "b");
  add_node(model, "Neg", {"a"}, {"b"});
  add_node(model, "Abs", {"x"}, {"a"});
  Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(outcome.count(DiagCode::MRV0113) == 1);
  const ir::Graph& graph = outcome.model->graph;
  CHECK(graph.node(ir::NodeId(size_t{0})).is(Op::Abs));
  CHECK(graph.node(ir::NodeId(size_t{2})).is(Op::Relu));
  CHECK(graph.sources()[0].op_type == "Relu");  // sources stay in the order of the file
  CHECK(graph.lineage(ir::NodeId(size_t{2})).sources[0] == ir::SourceId(size_t{0}));
}

TEST_CASE("one refused node is one message, and the others are still looked at", "[onnx]") {
  pb::ModelProto model = relu_model();
  model.mutable_graph()->mutable_node(0)->set_op_type("Frobnicate");
  add_node(model, "Relu", {"y"}, {"z"});
  add_node(model, "Abs", {"z"}, {"u"});
  add_node(model, "Defrobnicate", {"u"}, {"v"});
  Outcome outcome = import(model);
  check_refused(outcome, DiagCode::MRV0107);
  CHECK(outcome.diagnostics.list().size() == 2);
}

TEST_CASE("at most 50 errors", "[onnx]") {
  pb::ModelProto model = relu_model();
  for (int i = 0; i < 200; ++i) add_node(model, "Frobnicate", {"x"}, {"o" + std::to_string(i)});
  Outcome outcome = import(model);
  check_refused(outcome, DiagCode::MRV0107);
  CHECK(outcome.count(DiagCode::MRV0107) == 50);
  CHECK(outcome.count(DiagCode::MRV0119) == 1);
}

TEST_CASE("names may hold anything", "[onnx]") {
  const std::vector<std::string> names = {
      std::string("a\0b", 3),    "*/", "a\nb",  "\"'", "\xe2\x80\xae", "\xff\xfe", "int", "../x", "a b",
      std::string(1 << 20, 'n'), "%0", "main/0"};
  for (const std::string& name : names) {
    pb::ModelProto model = relu_model();
    model.mutable_graph()->mutable_node(0)->set_output(0, name);
    model.mutable_graph()->mutable_node(0)->set_name(name);
    model.mutable_graph()->mutable_output(0)->set_name(name);
    Outcome outcome = import(model);
    check_imported(outcome);
    CHECK(outcome.model->graph.value(outcome.model->graph.outputs()[0]).name == name);
    model.mutable_graph()->mutable_node(0)->set_op_type(name);
    Outcome refused = import(model);
    check_refused(refused, DiagCode::MRV0107);
    CHECK(refused.text().find('\0') == std::string::npos);
    CHECK(refused.text().size() < 2000);
  }
}

TEST_CASE("declared types that contradict", "[onnx]") {
  pb::ModelProto model = relu_model();
  add_node(model, "Relu", {"y"}, {"z"});
  *model.mutable_graph()->add_value_info() = value_info("z", {2, 4});
  Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(outcome.count(DiagCode::MRV0141) == 1);
  CHECK(value_named(outcome.model->graph, "z").type.shape == Shape{2, 3});

  model = relu_model();
  *model.mutable_graph()->mutable_output(0) = value_info("y", {7});
  outcome = import(model);
  check_imported(outcome);
  CHECK(outcome.has(DiagCode::MRV0141));

  *model.mutable_graph()->mutable_output(0) = value_info("y", {2, 3}, pb::TensorProto::INT8);
  check_refused(import(model), DiagCode::MRV0142);
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_sequence_type();
  check_refused(import(model), DiagCode::MRV0143);
}

TEST_CASE("constants: initializers, and inputs that have one", "[onnx]") {
  pb::ModelProto model = conv_model();
  add_input(model, "w", {3, 2, 3, 3});
  Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(outcome.has(DiagCode::MRV0136));
  CHECK(outcome.model->graph.inputs().size() == 1);
  const ir::Value& w = value_named(outcome.model->graph, "w");
  CHECK(w.kind == ir::ValueKind::Constant);
  CHECK(w.constant().as_double(53) == 0.5);
  CHECK(outcome.first(DiagCode::MRV0136).severity() == Severity::Warning);
  CHECK(outcome.text().find("--bind w=FILE.npy") != std::string::npos);
  CHECK(outcome.model->bound_inputs == std::vector<std::string>{"w"});
  onnx::ImportOptions options;
  options.bound_inputs["w"] = {"2", {}};
  const Outcome other = import(model, options);
  check_imported(other);
  CHECK_FALSE(other.has(DiagCode::MRV0136));
  CHECK(value_named(other.model->graph, "w").constant().as_double(53) == 2);
  model.set_ir_version(3);
  CHECK_FALSE(import(model).has(DiagCode::MRV0136));
}

}  // namespace mrvlc::test

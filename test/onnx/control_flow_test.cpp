// Subgraphs: If with a known condition is inlined; the rest is refused by name.
#include "model_util.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::test {

namespace {

void add_branch(pb::NodeProto& node, const std::string& name, const std::vector<pb::NodeProto>& nodes,
                const std::string& output) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(pb::AttributeProto::GRAPH);
  for (const auto& n : nodes) *attribute->mutable_g()->add_node() = n;
  attribute->mutable_g()->add_output()->set_name(output);
}

pb::TensorProto flag(const std::string& name, bool value) {
  pb::TensorProto t;
  t.set_name(name);
  t.set_data_type(pb::TensorProto::BOOL);
  t.set_raw_data(value ? "\1" : std::string(1, '\0'));
  return t;
}

// y = c ? Relu(x) : Abs(Neg(x)), c an initializer
pb::ModelProto if_model(bool condition) {
  pb::ModelProto model = relu_model();
  *model.mutable_graph()->add_initializer() = flag("c", condition);
  auto* node = model.mutable_graph()->mutable_node(0);
  *node = make_node("If", {"c"}, {"y"});
  node->set_name("choose");
  add_branch(*node, "then_branch", {make_node("Relu", {"x"}, {"t"})}, "t");
  add_branch(*node, "else_branch", {make_node("Neg", {"x"}, {"n"}), make_node("Abs", {"n"}, {"e"})}, "e");
  return model;
}

}  // namespace

TEST_CASE("If with a known condition", "[onnx]") {
  Outcome taken = import(if_model(true));
  check_imported(taken);
  const ir::Graph& graph = taken.model->graph;
  REQUIRE(graph.node_slots() == 1);
  CHECK(graph.node(ir::NodeId(size_t{0})).is(Op::Relu));
  CHECK(graph.value(graph.outputs()[0]).name == "y");
  std::vector<std::string> ids;
  for (const auto& source : graph.sources()) ids.push_back(source.id);
  CHECK(ids == std::vector<std::string>{"main/0", "main/0.else_branch/0", "main/0.else_branch/1",
                                        "main/0.then_branch/0"});

  Outcome other = import(if_model(false));
  check_imported(other);
  CHECK(other.model->graph.node_slots() == 2);
}

TEST_CASE("an input that is refused is the one error, also where branches read it", "[onnx]") {
  for (bool known : {true, false}) {
    pb::ModelProto model = if_model(true);
    if (!known) {
      model.mutable_graph()->clear_initializer();
      add_input(model, "c", {}, pb::TensorProto::BOOL);
    }
    model.mutable_graph()
        ->mutable_input(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->add_dim();
    Outcome outcome = import(model);
    INFO(outcome.text());
    check_refused(outcome, DiagCode::MRV0131);
    CHECK(outcome.diagnostics.list().size() == 1);
  }
}

TEST_CASE("a node that is refused is the one error, also where one branch alone reads its result", "[onnx]") {
  for (int depth : {1, 2}) {
    for (bool both : {false, true}) {
      CAPTURE(depth, both);
      pb::ModelProto model = relu_model();
      add_input(model, "c", {}, pb::TensorProto::BOOL);
      auto* nodes = model.mutable_graph()->mutable_node();
      *nodes->Mutable(0) = make_node("NoSuchOperator", {"x"}, {"t"});
      pb::NodeProto choice = make_node("If", {"c"}, {"y"});
      add_branch(choice, "then_branch", {make_node("Relu", {"t"}, {"a"})}, "a");
      add_branch(choice, "else_branch", {make_node("Neg", {both ? "t" : "x"}, {"b"})}, "b");
      if (depth == 2) {
        pb::NodeProto outer = make_node("If", {"c"}, {"y"});
        pb::NodeProto inner = choice;
        inner.set_output(0, "inner");
        add_branch(outer, "then_branch", {inner}, "inner");
        add_branch(outer, "else_branch", {make_node("Abs", {"x"}, {"d"})}, "d");
        choice = outer;
      }
      *nodes->Add() = choice;
      Outcome outcome = import(model);
      INFO(outcome.text());
      check_refused(outcome, DiagCode::MRV0107);
      CHECK(outcome.diagnostics.list().size() == 1);
    }
  }
}

TEST_CASE("external data that is missing is the one error, also where one branch alone reads it", "[onnx]") {
  pb::ModelProto model = relu_model();
  add_input(model, "c", {}, pb::TensorProto::BOOL);
  pb::TensorProto* w = model.mutable_graph()->add_initializer();
  *w = float_tensor("w", {2, 3}, {});
  w->clear_raw_data();
  w->set_data_location(pb::TensorProto::EXTERNAL);
  auto* entry = w->add_external_data();
  entry->set_key("location");
  entry->set_value("no-such-file.bin");
  pb::NodeProto choice = make_node("If", {"c"}, {"y"});
  add_branch(choice, "then_branch", {make_node("Add", {"x", "w"}, {"a"})}, "a");
  add_branch(choice, "else_branch", {make_node("Neg", {"x"}, {"b"})}, "b");
  *model.mutable_graph()->mutable_node(0) = choice;
  Outcome outcome = import(model);
  INFO(outcome.text());
  CHECK_FALSE(outcome.model.has_value());
  CHECK(outcome.has(DiagCode::MRV0124));
}

TEST_CASE("branches of different ranks name the input that decides", "[onnx]") {
  pb::ModelProto model = relu_model();
  add_input(model, "sr", {}, pb::TensorProto::INT64);
  *model.mutable_graph()->add_initializer() = int64_tensor("k", {}, {16000});
  *model.mutable_graph()->add_initializer() = int64_tensor("flat", {1}, {-1});
  auto* nodes = model.mutable_graph()->mutable_node();
  *nodes->Mutable(0) = make_node("Equal", {"sr", "k"}, {"c"});
  pb::NodeProto choice = make_node("If", {"c"}, {"y"});
  add_branch(choice, "then_branch", {make_node("Reshape", {"x", "flat"}, {"a"})}, "a");
  add_branch(choice, "else_branch", {make_node("Neg", {"x"}, {"b"})}, "b");
  *nodes->Add() = choice;
  model.mutable_graph()->mutable_output(0)->clear_type();
  Outcome outcome = import(model);
  check_refused(outcome, DiagCode::MRV0208);
  INFO(outcome.text());
  CHECK(outcome.text().find("--bind sr=16000") != std::string::npos);
  onnx::ImportOptions options;
  options.bound_inputs["sr"] = {"16000", std::nullopt};
  outcome = import(model, options);
  check_imported(outcome);
  CHECK(outcome.model->graph.inputs().size() == 1);
  CHECK(outcome.model->graph.value(outcome.model->graph.outputs()[0]).type.shape == Shape{6});
  CHECK(outcome.model->bound_inputs == std::vector<std::string>{"sr"});
  options.bound_inputs["sr"] = {"8000", std::nullopt};
  outcome = import(model, options);
  check_imported(outcome);
  CHECK(outcome.model->graph.value(outcome.model->graph.outputs()[0]).type.shape == Shape{2, 3});
}

TEST_CASE("a branch that only passes a value on", "[onnx]") {
  pb::ModelProto model = if_model(true);
  auto* branch = model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  branch->clear_node();
  branch->mutable_output(0)->set_name("x");
  Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(outcome.model->graph.node(ir::NodeId(size_t{0})).is(Op::Identity));
}

TEST_CASE("a branch with its own constants", "[onnx]") {
  pb::ModelProto model = if_model(true);
  auto* branch = model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  *branch->add_initializer() = float_tensor("k", {2, 3}, std::vector<float>(6, 1));
  *branch->mutable_node(0) = make_node("Add", {"x", "k"}, {"t"});
  check_imported(import(model));
}

TEST_CASE("If with a condition that is not known", "[onnx]") {
  pb::ModelProto model = if_model(true);
  model.mutable_graph()->clear_initializer();
  add_input(model, "c", {}, pb::TensorProto::BOOL);
  Outcome outcome = import(model);
  check_imported(outcome);
  const ir::Node& node = outcome.model->graph.node(ir::NodeId(size_t{0}));
  CHECK(node.is(Op::If));
  // The branches read x, which is an input of the node for each of them.
  CHECK(ir::bodies_of(node).size() == 2);
  CHECK(node.inputs.size() == 3);
}

namespace {

// Loop or Scan around a body of one Relu.
pb::ModelProto loop_model(const char* op, const std::vector<std::string>& formals) {
  pb::ModelProto model = relu_model();
  auto* node = model.mutable_graph()->mutable_node(0);
  *node = make_node(op, {"", "", "x"}, {"y"});
  node->set_name("again");
  add_branch(*node, "body", {make_node("Relu", {"v"}, {"t"}), make_node("Identity", {"c"}, {"d"})}, "d");
  auto* body = node->mutable_attribute(0)->mutable_g();
  body->add_output()->set_name("t");
  for (const auto& name : formals) body->add_input()->set_name(name);
  return model;
}

}  // namespace

TEST_CASE("Loop", "[onnx]") {
  Outcome outcome = import(loop_model("Loop", {"i", "c", "v"}));
  check_imported(outcome);
  const ir::Node& node = outcome.model->graph.node(ir::NodeId(size_t{0}));
  CHECK(node.int_attr("formals") == 3);
  CHECK(outcome.model->graph.value(node.outputs[0]).type.shape == Shape{2, 3});
}

TEST_CASE("a body of the wrong number of inputs", "[onnx]") {
  Outcome outcome = import(loop_model("Loop", {"i", "c", "v", "w"}));
  check_refused(outcome, DiagCode::MRV0140);
  CHECK(outcome.first(DiagCode::MRV0140).node == "again");
}

TEST_CASE("Scan without a number of scanned inputs", "[onnx]") {
  Outcome outcome = import(loop_model("Scan", {"i", "c", "v"}));
  CHECK_FALSE(outcome.model.has_value());
  CHECK(outcome.diagnostics.exit_code() == 1);
}

namespace {

// Scan of opset 8: s[3,2] goes round, a[3,4,2] is scanned.
pb::ModelProto batched_scan_model(const std::string& lengths) {
  pb::ModelProto model = empty_model();
  model.mutable_opset_import(0)->set_version(8);
  add_input(model, "s", {3, 2});
  add_input(model, "a", {3, 4, 2});
  add_input(model, "each0", {2});
  if (!lengths.empty()) add_input(model, lengths, {3}, pb::TensorProto::INT64);
  auto& node = add_node(model, "Scan", {lengths, "s", "a"}, {"y", "z"});
  // What the body reads from outside is told from the names that are made up around it.
  add_branch(node, "body",
             {make_node("Add", {"state", "item"}, {"sum"}), make_node("Mul", {"sum", "each0"}, {"out"})},
             "sum");
  auto* body = node.mutable_attribute(0)->mutable_g();
  body->add_output()->set_name("out");
  body->add_input()->set_name("state");
  body->add_input()->set_name("item");
  add_int(node, "num_scan_inputs", 1);
  add_ints(node, "directions", {1});
  for (const char* name : {"y", "z"}) model.mutable_graph()->add_output()->set_name(name);
  return model;
}

}  // namespace

TEST_CASE("Scan of opset 8 runs on every element of the batch", "[onnx]") {
  Outcome outcome = import(batched_scan_model(""));
  check_imported(outcome);
  const ir::Graph& graph = outcome.model->graph;
  CHECK(value_named(graph, "y").type.shape == Shape{3, 2});
  CHECK(value_named(graph, "z").type.shape == Shape{3, 4, 2});
  const ir::Node& outer = graph.node(ir::NodeId(size_t{0}));
  CHECK(outer.int_attr("num_scan_inputs") == 2);
  REQUIRE(ir::bodies_of(outer).size() == 1);
  const ir::Node& inner = ir::bodies_of(outer)[0]->node(ir::NodeId(size_t{0}));
  CHECK(inner.is(Op::Scan));
  CHECK(inner.int_attr("num_scan_inputs") == 1);
  CHECK(inner.ints_attr("scan_input_directions") == std::vector<int64_t>{1});

  check_refused(import(batched_scan_model("lengths")), DiagCode::MRV0208);
}

TEST_CASE("branches that are malformed", "[onnx]") {
  pb::ModelProto shadowing = if_model(true);
  auto* branch = shadowing.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  *branch->add_node() = make_node("Relu", {"t"}, {"x"});
  check_refused(import(shadowing), DiagCode::MRV0110);

  pb::ModelProto undefined = if_model(true);
  undefined.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(
      0, "nope");
  check_refused(import(undefined), DiagCode::MRV0111);

  pb::ModelProto missing = if_model(true);
  missing.mutable_graph()->mutable_node(0)->mutable_attribute()->RemoveLast();
  check_refused(import(missing), DiagCode::MRV0140);

  pb::ModelProto inputs = if_model(true);
  inputs.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g()->add_input()->set_name("i");
  check_refused(import(inputs), DiagCode::MRV0140);

  pb::ModelProto outputs = if_model(true);
  outputs.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g()->clear_output();
  check_refused(import(outputs), DiagCode::MRV0140);
}

TEST_CASE("If nested as deep as protobuf allows", "[onnx]") {
  pb::ModelProto model = if_model(true);
  for (int i = 0; i < 20; ++i) {
    pb::NodeProto outer = make_node("If", {"c"}, {"y"});
    std::string own = "y" + std::to_string(i);
    pb::NodeProto inner = model.graph().node(0);
    inner.set_output(0, own);
    add_branch(outer, "then_branch", {inner}, own);
    add_branch(outer, "else_branch", {make_node("Relu", {"x"}, {"r" + own})}, "r" + own);
    *model.mutable_graph()->mutable_node(0) = outer;
  }
  Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(outcome.model->graph.node_slots() == 1);
  CHECK(outcome.model->graph.lineage(ir::NodeId(size_t{0})).sources.size() == 22);
}

}  // namespace mrvlc::test

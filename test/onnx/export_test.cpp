// Models as mrvlc writes them: what other runtimes insist on, and what today's ONNX says otherwise. That they
// mean the same is for the conformance cases to show (conformance_test.cpp).
#include <set>

#include "model_util.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/onnx/exporter.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::test {
namespace {

pb::ModelProto written(const ir::Graph& graph) {
  auto bytes = onnx::to_onnx(graph, "1.0");
  REQUIRE(bytes.ok());
  pb::ModelProto model;
  REQUIRE(model.ParseFromString(*bytes));
  return model;
}

pb::ModelProto written(const pb::ModelProto& model) {
  const Outcome outcome = import(model);
  check_imported(outcome);
  return written(outcome.model->graph);
}

// Both give the same on inputs of the given bytes.
void check_same(const pb::ModelProto& model) {
  const Outcome before = import(model), after = import(written(model));
  check_imported(before);
  check_imported(after);
  const auto inputs = interp::seeded_inputs(before.model->graph, 1);
  const auto a = interp::run(before.model->graph, inputs), b = interp::run(after.model->graph, inputs);
  REQUIRE((a.ok() && b.ok()));
  CHECK(*a == *b);
}

}  // namespace

TEST_CASE("names of inputs, outputs, values and nodes are kept", "[onnx]") {
  pb::ModelProto model = relu_model();
  model.mutable_graph()->mutable_node(0)->set_name("act");
  const pb::ModelProto out = written(model);
  CHECK(out.graph().input(0).name() == "x");
  CHECK(out.graph().output(0).name() == "y");
  CHECK(out.graph().node(0).name() == "act");
  CHECK(out.graph().input(0).type().tensor_type().shape().dim(1).dim_value() == 3);
  CHECK(out.opset_import(0).version() == onnx::kLeastOpset);
}

TEST_CASE("two nodes of one name get different ones", "[onnx]") {
  pb::ModelProto model = relu_model();
  add_node(model, "Neg", {"y"}, {"z"}).set_name("same");
  model.mutable_graph()->mutable_node(0)->set_name("same");
  add_output(model, "z", {2, 3});
  const pb::ModelProto out = written(model);
  REQUIRE(out.graph().node_size() == 2);
  CHECK(out.graph().node(0).name() != out.graph().node(1).name());
}

TEST_CASE("outputs that no node makes, or that are there twice, are passed on by one", "[onnx]") {
  Outcome outcome = import(relu_model());
  check_imported(outcome);
  ir::Graph& graph = outcome.model->graph;
  graph.add_output(graph.inputs()[0]);
  graph.add_output(graph.outputs()[0]);
  graph.add_output(graph.add_constant("c", Tensor::of<double>(ElementType::F32, {1}, {7})));
  const pb::ModelProto out = written(graph);
  REQUIRE(out.graph().output_size() == 4);
  std::set<std::string> made = {"x"}, names;  // an input is an output as it is
  for (const auto& n : out.graph().node()) made.insert(n.output(0));
  for (const auto& o : out.graph().output()) {
    CHECK(made.count(o.name()) == 1);
    CHECK(names.insert(o.name()).second);
  }
  CHECK(out.graph().output(1).name() == "x");
  CHECK(out.graph().output(3).name() == "c");
}

TEST_CASE("attributes of ours are not written", "[onnx]") {
  for (const char* op : {"RandomNormalLike", "RandomUniformLike", "Bernoulli"}) {
    pb::ModelProto model = relu_model();
    add_node(model, op, {"x"}, {"r"});
    add_output(model, "r", {2, 3});
    const pb::ModelProto out = written(model);
    for (const auto& node : out.graph().node())
      for (const auto& a : node.attribute()) CHECK(a.name() != "stream");
  }
}

TEST_CASE("integers of four bits are packed", "[onnx]") {
  ir::Graph graph;
  graph.add_output(graph.add_constant("c", Tensor::of<int64_t>(ElementType::I4, {3}, {1, -8, 7})));
  const pb::ModelProto out = written(graph);
  REQUIRE(out.graph().initializer_size() == 1);
  CHECK(out.graph().initializer(0).raw_data() == std::string("\x81\x07", 2));
}

TEST_CASE("attributes that have their defaults are not written", "[onnx]") {
  const pb::ModelProto out = written(conv_model());
  for (const auto& a : out.graph().node(0).attribute()) CHECK(a.name() != "group");
}

TEST_CASE("operators and forms that ONNX gave up", "[onnx]") {
  pb::ModelProto softmax = empty_model();  // before opset 13: over all dimensions from the axis on
  softmax.mutable_opset_import(0)->set_version(11);
  add_input(softmax, "x", {2, 3, 4});
  add_node(softmax, "Softmax", {"x"}, {"y"});
  add_output(softmax, "y", {2, 3, 4});
  CHECK(written(softmax).graph().node_size() == 3);
  check_same(softmax);

  pb::ModelProto resize = empty_model();  // Resize-10 takes the next pixel where it shrinks
  resize.mutable_opset_import(0)->set_version(10);
  add_input(resize, "x", {1, 1, 5, 7});
  *resize.mutable_graph()->add_initializer() = float_tensor("s", {4}, {1, 1, 0.6F, 0.5F});
  add_node(resize, "Resize", {"x", "s"}, {"y"});
  add_output(resize, "y", {1, 1, 3, 3});
  check_same(resize);

  pb::ModelProto both = resize;
  *both.mutable_graph()->mutable_initializer(0) = float_tensor("s", {4}, {1, 1, 0.6F, 2});
  both.mutable_graph()->mutable_output(0)->clear_type();
  const Outcome outcome = import(both);
  check_imported(outcome);
  const auto refused = onnx::to_onnx(outcome.model->graph, "");
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == DiagCode::MRV0148);
}

TEST_CASE("bodies read what lies around them by its name", "[onnx]") {
  pb::ModelProto model = relu_model();
  add_input(model, "c", {}, pb::TensorProto::BOOL);
  auto* node = model.mutable_graph()->mutable_node(0);
  *node = make_node("If", {"c"}, {"y"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto* attribute = node->add_attribute();
    attribute->set_name(branch);
    attribute->set_type(pb::AttributeProto::GRAPH);
    *attribute->mutable_g()->add_node() = make_node(branch[0] == 't' ? "Relu" : "Neg", {"x"}, {"b"});
    attribute->mutable_g()->add_output()->set_name("b");
  }
  const pb::ModelProto out = written(model);
  REQUIRE(out.graph().node(0).attribute_size() == 2);
  std::set<std::string> results;
  for (const auto& a : out.graph().node(0).attribute()) {
    CHECK(a.g().input_size() == 0);
    CHECK(a.g().node(0).input(0) == "x");
    CHECK(results.insert(a.g().output(0).name()).second);  // one name a value, over all scopes
  }
  check_same(model);
}

}  // namespace mrvlc::test

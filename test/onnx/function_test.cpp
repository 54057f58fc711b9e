// The model's own functions are inlined; every node of them is a source.
#include "model_util.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::test {

namespace {

pb::FunctionProto make_function(const std::string& name, const std::vector<std::string>& inputs,
                                const std::vector<std::string>& outputs) {
  pb::FunctionProto f;
  f.set_name(name);
  f.set_domain("my");
  for (const auto& in : inputs) f.add_input(in);
  for (const auto& out : outputs) f.add_output(out);
  for (const char* domain : {"", "my"}) {
    auto* opset = f.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(std::string(domain).empty() ? 17 : 1);
  }
  return f;
}

pb::NodeProto call(const std::string& name, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs) {
  pb::NodeProto node = make_node(name, inputs, outputs);
  node.set_domain("my");
  return node;
}

// x -> nodes -> y, with "my" imported.
pb::ModelProto calling_model(const std::vector<pb::NodeProto>& nodes) {
  pb::ModelProto model = relu_model();
  auto* opset = model.add_opset_import();
  opset->set_domain("my");
  opset->set_version(1);
  model.mutable_graph()->clear_node();
  for (const auto& node : nodes) *model.mutable_graph()->add_node() = node;
  return model;
}

std::string varint_field(int number, const std::string& bytes) {
  REQUIRE(bytes.size() < 128);
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(bytes.size()) + bytes;
}

}  // namespace

TEST_CASE("a call becomes the function's nodes", "[onnx]") {
  pb::FunctionProto f = make_function("F", {"a"}, {"b"});
  *f.add_node() = make_node("Abs", {"a"}, {"t"});
  *f.add_node() = make_node("Relu", {"t"}, {"b"});
  pb::ModelProto model = calling_model({call("F", {"x"}, {"m"}), call("F", {"m"}, {"y"})});
  *model.add_functions() = f;
  Outcome outcome = import(model);
  check_imported(outcome);
  const ir::Graph& graph = outcome.model->graph;
  REQUIRE(graph.node_slots() == 4);
  CHECK(graph.value(graph.outputs()[0]).name == "y");
  CHECK(value_named(graph, "m").kind == ir::ValueKind::Result);
  REQUIRE(graph.sources().size() == 6);
  CHECK(graph.sources()[2].id == "main/0:F/0");
  CHECK(graph.sources()[5].id == "main/1:F/1");
  // An inlined node leads back to its own source and to the call.
  CHECK(graph.lineage(ir::NodeId(size_t{3})).sources ==
        std::vector<ir::SourceId>{ir::SourceId(size_t{1}), ir::SourceId(size_t{5})});
}

TEST_CASE("functions call functions, and pass inputs on", "[onnx]") {
  pb::FunctionProto inner = make_function("Inner", {"a"}, {"a2"}),
                    outer = make_function("Outer", {"p", "q"}, {"r", "p"});
  *inner.add_node() = make_node("Relu", {"a"}, {"a2"});
  *outer.add_node() = call("Inner", {"p"}, {"r"});
  pb::ModelProto model = calling_model({call("Outer", {"x"}, {"y", "z"})});
  add_output(model, "z", {2, 3});
  *model.add_functions() = outer;
  *model.add_functions() = inner;
  Outcome outcome = import(model);
  check_imported(outcome);
  const ir::Graph& graph = outcome.model->graph;
  CHECK(graph.value(graph.outputs()[0]).name == "y");
  CHECK(graph.value(graph.outputs()[1]).name == "z");
  CHECK(graph.node(graph.value(graph.outputs()[1]).producer).is(Op::Identity));
  CHECK(graph.sources().back().id == "main/0:Outer/0:Inner/0");
}

TEST_CASE("attributes of a call reach the body", "[onnx]") {
  pb::FunctionProto f = make_function("F", {"a"}, {"b"});
  f.add_attribute("ax");
  auto* softmax = f.add_node();
  *softmax = make_node("Softmax", {"a"}, {"b"});
  auto* axis = softmax->add_attribute();
  axis->set_name("axis");
  axis->set_type(pb::AttributeProto::INT);
  axis->set_ref_attr_name("ax");
  auto axis_of = [&](const pb::ModelProto& model) {
    Outcome outcome = import(model);
    check_imported(outcome);
    return outcome.model->graph.node(ir::NodeId(size_t{0})).int_attr("axis");
  };
  pb::NodeProto node = call("F", {"x"}, {"y"});
  pb::ModelProto absent = calling_model({node});
  *absent.add_functions() = f;
  CHECK(axis_of(absent) == -1);  // Softmax's own default

  add_int(node, "ax", 0);
  pb::ModelProto given = calling_model({node});
  *given.add_functions() = f;
  CHECK(axis_of(given) == 0);

  // attribute_proto (field 11) holds defaults; the schema we compile against does not know it.
  pb::AttributeProto preset;
  preset.set_name("ax");
  preset.set_type(pb::AttributeProto::INT);
  preset.set_i(1);
  absent.clear_functions();
  REQUIRE(absent.add_functions()->ParseFromString(f.SerializeAsString() +
                                                  varint_field(11, preset.SerializeAsString())));
  CHECK(axis_of(absent) == 1);
}

TEST_CASE("overloads are told apart", "[onnx]") {
  pb::FunctionProto a = make_function("F", {"a"}, {"b"}), b = a;
  *a.add_node() = make_node("Abs", {"a"}, {"b"});
  *b.add_node() = make_node("Neg", {"a"}, {"b"});
  pb::NodeProto node;
  REQUIRE(node.ParseFromString(call("F", {"x"}, {"y"}).SerializeAsString() + varint_field(8, "second")));
  pb::ModelProto model = calling_model({node});
  *model.add_functions() = a;
  REQUIRE(model.add_functions()->ParseFromString(b.SerializeAsString() + varint_field(13, "second")));
  Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(outcome.model->graph.node(ir::NodeId(size_t{0})).is(Op::Neg));
}

TEST_CASE("recursive functions", "[onnx]") {
  pb::FunctionProto f = make_function("F", {"a"}, {"b"}), g = make_function("G", {"a"}, {"b"});
  *f.add_node() = call("G", {"a"}, {"b"});
  *g.add_node() = call("F", {"a"}, {"b"});
  pb::ModelProto model = calling_model({call("F", {"x"}, {"y"})});
  *model.add_functions() = f;
  *model.add_functions() = g;
  check_refused(import(model), DiagCode::MRV0115);
  g.clear_node();
  // Hidden in a branch.
  auto* branch = g.add_node();
  *branch = make_node("If", {"a"}, {"b"});
  *branch->add_attribute()->mutable_g()->add_node() = call("G", {"a"}, {"b"});
  *model.mutable_functions(1) = g;
  check_refused(import(model), DiagCode::MRV0115);
}

TEST_CASE("functions that would grow without end", "[onnx]") {
  pb::ModelProto model = calling_model({call("F0", {"x"}, {"y"})});
  constexpr int kLevels = 60;
  for (int i = 0; i < kLevels; ++i) {
    auto* f = model.add_functions();
    *f = make_function("F" + std::to_string(i), {"a"}, {"c"});
    std::string callee = "F" + std::to_string(i + 1);
    *f->add_node() = i + 1 < kLevels ? call(callee, {"a"}, {"b"}) : make_node("Relu", {"a"}, {"b"});
    *f->add_node() = i + 1 < kLevels ? call(callee, {"b"}, {"c"}) : make_node("Relu", {"b"}, {"c"});
  }
  check_refused(import(model), DiagCode::MRV0116);
}

TEST_CASE("a chain of calls that is too long", "[onnx]") {
  pb::ModelProto model = calling_model({call("F0", {"x"}, {"y"})});
  constexpr int kLevels = 20000;
  for (int i = 0; i < kLevels; ++i) {
    auto* f = model.add_functions();
    *f = make_function("F" + std::to_string(i), {"a"}, {"b"});
    *f->add_node() =
        i + 1 < kLevels ? call("F" + std::to_string(i + 1), {"a"}, {"b"}) : make_node("Relu", {"a"}, {"b"});
  }
  check_refused(import(model), DiagCode::MRV0117);
}

TEST_CASE("calls that do not fit the function", "[onnx]") {
  pb::FunctionProto f = make_function("F", {"a"}, {"b"});
  *f.add_node() = make_node("Relu", {"a"}, {"b"});
  pb::ModelProto model = calling_model({call("F", {"x", "x"}, {"y"})});
  *model.add_functions() = f;
  check_refused(import(model), DiagCode::MRV0115);
  *model.mutable_graph()->mutable_node(0) = call("F", {"x"}, {"y", "z"});
  check_refused(import(model), DiagCode::MRV0115);
  *model.mutable_graph()->mutable_node(0) = call("F", {}, {"y"});
  check_refused(import(model), DiagCode::MRV0201);  // Relu's input is absent
  *model.mutable_graph()->mutable_node(0) = call("F", {"x"}, {"y"});
  *model.add_functions() = f;
  check_refused(import(model), DiagCode::MRV0115);  // defined twice
}

TEST_CASE("an output that the body never defines", "[onnx]") {
  pb::FunctionProto f = make_function("F", {"a"}, {"nothing"});
  *f.add_node() = make_node("Relu", {"a"}, {"b"});
  pb::ModelProto model = calling_model({call("F", {"x"}, {"y"})});
  *model.add_functions() = f;
  check_refused(import(model), DiagCode::MRV0111);
}

TEST_CASE("errors inside a function name the node", "[onnx]") {
  pb::FunctionProto f = make_function("F", {"a"}, {"b"});
  *f.add_node() = make_node("Frobnicate", {"a"}, {"b"});
  pb::ModelProto model = calling_model({call("F", {"x"}, {"y"})});
  *model.add_functions() = f;
  Outcome outcome = import(model);
  check_refused(outcome, DiagCode::MRV0107);
  CHECK(outcome.first(DiagCode::MRV0107).node == "main/0:F/0");
}

}  // namespace mrvlc::test

// Values computed at import so that shapes that depend on them resolve, and bombs that must not go off.
#include "model_util.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::test {

namespace {

void add_int64(pb::ModelProto& model, const std::string& name, const std::vector<int64_t>& dims,
               const std::vector<int64_t>& data) {
  *model.mutable_graph()->add_initializer() = int64_tensor(name, dims, data);
}

}  // namespace

TEST_CASE("Shape, Gather, Concat, Reshape", "[onnx]") {
  pb::ModelProto model = empty_model();
  add_input(model, "x", {2, 3, 4});
  add_int64(model, "zero", {1}, {0});
  add_int64(model, "rest", {1}, {-1});
  add_node(model, "Shape", {"x"}, {"s"});
  add_node(model, "Gather", {"s", "zero"}, {"n"});
  add_node(model, "Concat", {"n", "rest"}, {"target"});
  add_int(*model.mutable_graph()->mutable_node(2), "axis", 0);
  add_node(model, "Reshape", {"x", "target"}, {"y"});
  model.mutable_graph()->add_output()->set_name("y");
  Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(value_named(outcome.model->graph, "y").type.shape == Shape{2, 12});
  CHECK(outcome.model->graph.node_slots() == 4);  // the nodes stay; passes fold them
}

TEST_CASE("a Shape from the back, and up to there", "[onnx]") {
  for (auto [start, end, shape] :
       {std::tuple(-1, 3, Shape{4, 6}), std::tuple(-5, -2, Shape{2, 12}), std::tuple(1, -1, Shape{3, 8})}) {
    pb::ModelProto model = empty_model();
    add_input(model, "x", {2, 3, 4});
    add_int64(model, "rest", {1}, {-1});
    auto& node = add_node(model, "Shape", {"x"}, {"s"});
    add_int(node, "start", start);
    add_int(node, "end", end);
    add_node(model, "Concat", {"s", "rest"}, {"target"});
    add_int(*model.mutable_graph()->mutable_node(1), "axis", 0);
    add_node(model, "Reshape", {"x", "target"}, {"y"});
    model.mutable_graph()->add_output()->set_name("y");
    Outcome outcome = import(model);
    check_imported(outcome);
    CHECK(value_named(outcome.model->graph, "y").type.shape == shape);
  }
}

TEST_CASE("what is drawn at random is not known", "[onnx]") {
  pb::ModelProto model = empty_model();
  auto& random = add_node(model, "RandomUniform", {}, {"r"});
  add_ints(random, "shape", {1});
  for (auto [name, value] : {std::pair("low", 6.0f), std::pair("high", 6.5f)}) {
    auto* attribute = random.add_attribute();
    attribute->set_name(name);
    attribute->set_type(pb::AttributeProto::FLOAT);
    attribute->set_f(value);
  }
  add_int(add_node(model, "Cast", {"r"}, {"target"}), "to", pb::TensorProto::INT64);
  add_node(model, "ConstantOfShape", {"target"}, {"y"});
  model.mutable_graph()->add_output()->set_name("y");
  Outcome outcome = import(model);
  if (outcome.model) CHECK_FALSE(value_named(outcome.model->graph, "y").type.is_static());
  if (!outcome.model) CHECK(outcome.diagnostics.list().size() > 0);
}

TEST_CASE("the size of a tensor is known though its values are not", "[onnx]") {
  pb::ModelProto model = empty_model();
  add_input(model, "x", {2, 3});
  add_node(model, "Size", {"x"}, {"n"});
  add_int64(model, "axis", {1}, {0});
  add_node(model, "Unsqueeze", {"n", "axis"}, {"target"});
  add_node(model, "Reshape", {"x", "target"}, {"y"});
  model.mutable_graph()->add_output()->set_name("y");
  Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(value_named(outcome.model->graph, "y").type.is_static());
}

TEST_CASE("Constant nodes are known", "[onnx]") {
  pb::ModelProto model = empty_model();
  add_input(model, "x", {2, 3, 4});
  auto& constant = add_node(model, "Constant", {}, {"target"});
  auto* value = constant.add_attribute();
  value->set_name("value");
  value->set_type(pb::AttributeProto::TENSOR);
  *value->mutable_t() = int64_tensor("", {2}, {6, 4});
  add_node(model, "Reshape", {"x", "target"}, {"y"});
  model.mutable_graph()->add_output()->set_name("y");
  Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(value_named(outcome.model->graph, "y").type.shape == Shape{6, 4});
  CHECK(outcome.model->graph.node(ir::NodeId(size_t{0})).is(Op::Constant));
}

TEST_CASE("a shape that depends on data", "[onnx]") {
  pb::ModelProto model = empty_model();
  add_input(model, "x", {2, 3});
  add_input(model, "target", {2}, pb::TensorProto::INT64);
  add_node(model, "Reshape", {"x", "target"}, {"y"}).set_name("r");
  model.mutable_graph()->add_output()->set_name("y");
  // No dimension can be more than the elements there are.
  Outcome outcome = import(model);
  check_imported(outcome);
  TensorType type = value_named(outcome.model->graph, "y").type;
  CHECK(type.dynamic == 3);
  CHECK(type.capacity == 6);
  // The shape that the model declares is believed, and checked at run time.
  *model.mutable_graph()->mutable_output(0) = value_info("y", {3, 2});
  outcome = import(model);
  check_imported(outcome);
  type = value_named(outcome.model->graph, "y").type;
  CHECK(type.is_static());
  CHECK(type.shape == Shape{3, 2});
  // Unless the elements cannot fill it.
  for (const std::vector<int64_t>& wrong : {std::vector<int64_t>{3, 3}, {7, 0}}) {
    *model.mutable_graph()->mutable_output(0) = value_info("y", wrong);
    outcome = import(model);
    check_imported(outcome);
    CHECK(value_named(outcome.model->graph, "y").type.dynamic == 3);
  }
}

TEST_CASE("what is empty may have any dimensions", "[onnx]") {
  pb::ModelProto model = empty_model();
  add_input(model, "x", {2, 0});
  add_input(model, "target", {2}, pb::TensorProto::INT64);
  add_node(model, "Reshape", {"x", "target"}, {"y"}).set_name("r");
  add_output(model, "y", {7, 0});
  Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(value_named(outcome.model->graph, "y").type.shape == Shape{7, 0});
  *model.mutable_graph()->mutable_output(0) = value_info("y", {-1, -1});
  outcome = import(model);
  check_imported(outcome);
  TensorType type = value_named(outcome.model->graph, "y").type;
  CHECK(type.dynamic == 3);
  CHECK(type.capacity == 0);
  CHECK(type.shape[0] > 1000);
}

TEST_CASE("bombs", "[onnx]") {
  auto refused = [](const pb::ModelProto& model) {
    Outcome outcome = import(model);
    INFO(outcome.text());
    CHECK_FALSE(outcome.model.has_value());
    CHECK((outcome.diagnostics.exit_code() == 1 || outcome.diagnostics.exit_code() == 4));
  };
  pb::ModelProto base = relu_model();
  add_int64(base, "huge", {2}, {int64_t{1} << 40, int64_t{1} << 40});
  SECTION("ConstantOfShape") {
    add_node(base, "ConstantOfShape", {"huge"}, {"z"});
    refused(base);
  }
  SECTION("Expand") {
    add_node(base, "Expand", {"x", "huge"}, {"z"});
    refused(base);
  }
  SECTION("Tile") {
    add_node(base, "Tile", {"x", "huge"}, {"z"});
    refused(base);
  }
  SECTION("Range") {
    add_int64(base, "start", {}, {0});
    add_int64(base, "limit", {}, {INT64_MAX});
    add_int64(base, "delta", {}, {1});
    add_node(base, "Range", {"start", "limit", "delta"}, {"z"});
    refused(base);
  }
  SECTION("Pad") {
    add_int64(base, "pads", {4}, {int64_t{1} << 40, 0, 0, int64_t{1} << 40});
    add_node(base, "Pad", {"x", "pads"}, {"z"});
    refused(base);
  }
}

TEST_CASE("large constants that fit the rules are not computed at import", "[onnx]") {
  pb::ModelProto model = relu_model();
  add_int64(model, "large", {2}, {100000, 1000});
  add_node(model, "ConstantOfShape", {"large"}, {"z"});
  add_node(model, "Relu", {"z"}, {"z2"});
  check_imported(import(model));
}

}  // namespace mrvlc::test

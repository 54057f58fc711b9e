// Attributes: wrong types, missing and double values, values that operators refuse.
#include "model_util.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::test {

namespace {

// The Conv model with one attribute, filled in by `fill`.
template <class Fill>
Outcome import_conv(const std::string& name, const Fill& fill) {
  pb::ModelProto model = conv_model();
  auto* attribute = model.mutable_graph()->mutable_node(0)->add_attribute();
  attribute->set_name(name);
  fill(*attribute);
  return import(model);
}

Outcome import_conv_ints(const std::string& name, const std::vector<int64_t>& values) {
  pb::ModelProto model = conv_model();
  add_ints(*model.mutable_graph()->mutable_node(0), name, values);
  return import(model);
}

}  // namespace

TEST_CASE("attributes reach their slots", "[onnx]") {
  Outcome outcome = import_conv_ints("strides", {2, 1});
  check_imported(outcome);
  const ir::Node& conv = outcome.model->graph.node(ir::NodeId(size_t{0}));
  CHECK(conv.ints_attr("strides") == std::vector<int64_t>{2, 1});
  CHECK(value_named(outcome.model->graph, "y").type.shape == Shape{1, 3, 1, 2});
}

TEST_CASE("values that disagree with the attribute's type", "[onnx]") {
  using A = pb::AttributeProto;
  auto refused = [](const Outcome& outcome) {
    check_refused(outcome, DiagCode::MRV0140);
    CHECK(outcome.first(DiagCode::MRV0140).node == "conv");
  };
  refused(import_conv("group", [](A& a) { a.set_type(A::INT); }));  // no value
  refused(import_conv("group", [](A&) {}));                         // neither type nor value
  refused(import_conv("group", [](A& a) {
    a.set_type(A::INT);
    a.set_f(1);
  }));
  refused(import_conv("group", [](A& a) {
    a.set_type(A::INT);
    a.set_i(1);
    a.set_f(1);
  }));
  refused(import_conv("group", [](A& a) {
    a.set_type(A::FLOAT);
    a.set_f(1);
  }));
  refused(import_conv("strides", [](A& a) {
    a.set_type(A::INT);
    a.set_i(1);
  }));
  refused(import_conv("no_such_attribute", [](A& a) {
    a.set_type(A::INT);
    a.set_i(1);
  }));
  refused(import_conv("group", [](A& a) {
    a.set_type(A::TYPE_PROTO);
    a.mutable_tp();
  }));
  refused(import_conv("group", [](A& a) { a.set_ref_attr_name("outside_of_a_function"); }));
}

TEST_CASE("a sparse value of Constant is the dense one that it stands for", "[onnx]") {
  pb::ModelProto model = empty_model();
  pb::NodeProto& node = add_node(model, "Constant", {}, {"y"});
  pb::AttributeProto& value = *node.add_attribute();
  value.set_name("sparse_value");
  value.set_type(pb::AttributeProto::SPARSE_TENSOR);
  pb::SparseTensorProto& sparse = *value.mutable_sparse_tensor();
  *sparse.mutable_values() = float_tensor("", {2}, {5, 7});
  *sparse.mutable_indices() = int64_tensor("", {2}, {1, 5});
  sparse.add_dims(2);
  sparse.add_dims(3);
  add_output(model, "y", {2, 3});
  const Outcome outcome = import(model);
  check_imported(outcome);
  const ir::Node& made = outcome.model->graph.node(ir::NodeId(size_t{0}));
  const auto& tensor = std::get<Tensor>(made.attrs[static_cast<size_t>(made.op->attr_index("value"))]);
  CHECK(tensor.to_doubles() == std::vector<double>{0, 5, 0, 0, 0, 7});
}

TEST_CASE("an attribute given twice", "[onnx]") {
  pb::ModelProto model = conv_model();
  for (int i = 0; i < 2; ++i) add_int(*model.mutable_graph()->mutable_node(0), "group", 1);
  check_refused(import(model), DiagCode::MRV0140);
}

TEST_CASE("the type may be missing, as in IR version 1", "[onnx]") {
  check_imported(import_conv("group", [](pb::AttributeProto& a) { a.set_i(1); }));
}

TEST_CASE("element types in attributes", "[onnx]") {
  for (int64_t to : {int64_t{0}, int64_t{-1}, int64_t{99}, INT64_MAX, INT64_MIN}) {
    pb::ModelProto model = relu_model();
    auto* node = model.mutable_graph()->mutable_node(0);
    node->set_op_type("Cast");
    add_int(*node, "to", to);
    CHECK_FALSE(import(model).model.has_value());
    CHECK(import(model).diagnostics.exit_code() == 1);
  }
}

TEST_CASE("an attribute that an operator cannot do without", "[onnx]") {
  for (auto [op, attribute] :
       {std::pair("Cast", "'to'"), std::pair("LRN", "'size'"), std::pair("DepthToSpace", "'blocksize'")}) {
    pb::ModelProto model = relu_model();
    model.mutable_graph()->mutable_node(0)->set_op_type(op);
    Outcome outcome = import(model);
    check_refused(outcome, DiagCode::MRV0140);
    CHECK_THAT(outcome.text(),
               Catch::Matchers::Contains(attribute) && Catch::Matchers::Contains("is required"));
  }
}

TEST_CASE("window attributes that make no sense", "[onnx]") {
  auto refused = [](const Outcome& outcome) {
    INFO(outcome.text());
    CHECK_FALSE(outcome.model.has_value());
    CHECK(outcome.diagnostics.exit_code() == 1);
    CHECK(outcome.diagnostics.list().at(0).node == "conv");
  };
  const std::vector<std::vector<int64_t>> bad = {{0, 0}, {-1, 1}, {1}, {1, 1, 1}, {INT64_MIN, INT64_MAX}};
  for (const char* name : {"strides", "dilations", "kernel_shape"}) {
    for (const auto& values : bad) refused(import_conv_ints(name, values));
  }
  refused(import_conv_ints("kernel_shape", {2, 2}));
  refused(import_conv_ints("dilations", {INT64_MAX, INT64_MAX}));
  refused(import_conv_ints("pads", {-100, 0, 0, 0}));
  refused(import_conv_ints("pads", {1, 1}));
  refused(import_conv_ints("pads", {INT64_MAX, 0, INT64_MAX, 0}));
  for (int64_t group : {int64_t{0}, int64_t{-1}, int64_t{2}, int64_t{7}, INT64_MAX, INT64_MIN}) {
    pb::ModelProto model = conv_model();
    add_int(*model.mutable_graph()->mutable_node(0), "group", group);
    refused(import(model));
  }
}

TEST_CASE("bad axes and permutations", "[onnx]") {
  auto refused = [](const std::string& op, const std::string& name, const std::vector<int64_t>& values) {
    pb::ModelProto model = relu_model();
    auto* node = model.mutable_graph()->mutable_node(0);
    node->set_op_type(op);
    if (values.size() == 1) {
      add_int(*node, name, values[0]);
    } else {
      add_ints(*node, name, values);
    }
    Outcome outcome = import(model);
    INFO(op << "\n" << outcome.text());
    CHECK_FALSE(outcome.model.has_value());
    CHECK(outcome.diagnostics.exit_code() == 1);
  };
  for (int64_t axis : {int64_t{2}, int64_t{-3}, INT64_MAX, INT64_MIN}) refused("Softmax", "axis", {axis});
  refused("Transpose", "perm", {0, 0});
  refused("Transpose", "perm", {0, 2});
  refused("Transpose", "perm", {-3, 0});
  refused("Transpose", "perm", {0, 1, 2});
}

}  // namespace mrvlc::test

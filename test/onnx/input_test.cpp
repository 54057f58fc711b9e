// Graph inputs: types and dynamic dimensions.
#include "model_util.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::test {

namespace {

// Inputs "a", "b", ... added; a symbol for a text, a number for a number.
struct D {
  D(int n) : value(n) {}  // NOLINT: reads like a shape
  D(const char* s) : symbol(s) {}
  int64_t value = 0;
  std::string symbol;
};

pb::ModelProto model_with(const std::vector<std::vector<D>>& inputs) {
  pb::ModelProto model = empty_model();
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string name(1, static_cast<char>('a' + i));
    add_input(model, name, {});
    auto* shape = model.mutable_graph()
                      ->mutable_input(static_cast<int>(i))
                      ->mutable_type()
                      ->mutable_tensor_type()
                      ->mutable_shape();
    for (const D& d : inputs[i]) {
      auto* dim = shape->add_dim();
      if (d.symbol.empty()) {
        dim->set_dim_value(d.value);
      } else if (d.symbol != "?") {
        dim->set_dim_param(d.symbol);
      }
    }
    add_node(model, "Relu", {name}, {"y_" + name});
    model.mutable_graph()->add_output()->set_name("y_" + name);
  }
  return model;
}

Shape shape_of(const Outcome& outcome, const std::string& name) {
  check_imported(outcome);
  return value_named(outcome.model->graph, name).type.shape;
}

}  // namespace

TEST_CASE("the leading dynamic dimension is the batch", "[onnx]") {
  onnx::ImportOptions options;
  options.batch = 4;
  Outcome outcome = import(model_with({{"N", 3}, {3, "N"}, {"?", 2}}), options);
  CHECK(shape_of(outcome, "a") == Shape{4, 3});
  CHECK(shape_of(outcome, "b") == Shape{3, 4});  // the same symbol
  CHECK(shape_of(outcome, "c") == Shape{4, 2});
  CHECK(outcome.count(DiagCode::MRV0134) == 2);
  CHECK(shape_of(import(model_with({{-1, 3}}), options), "a") == Shape{4, 3});
  options.batch = 0;
  check_refused(import(model_with({{"N", 3}}), options), DiagCode::MRV0137);
}

TEST_CASE("other dynamic dimensions must be given", "[onnx]") {
  pb::ModelProto model = model_with({{1, 3, "height", "width"}});
  Outcome outcome = import(model);
  check_refused(outcome, DiagCode::MRV0131);
  const std::string message = outcome.first(DiagCode::MRV0131).message;
  CHECK(message.find("height") != std::string::npos);
  CHECK(message.find("--input-shape a=1x3x224x224") != std::string::npos);
  onnx::ImportOptions options;
  options.input_shapes["a"] = {1, 3, 8, 9};
  CHECK(shape_of(import(model, options), "a") == Shape{1, 3, 8, 9});
}

TEST_CASE("a shape is given to a name as it is, or as messages show it", "[onnx]") {
  pb::ModelProto model = model_with({{1, "height"}});
  model.mutable_graph()->mutable_input(0)->set_name("a\x1b\n");
  for (const char* name : {"a\x1b\n", "a\\x1b\\x0a"}) {
    onnx::ImportOptions options;
    options.input_shapes[name] = {1, 8};
    Outcome outcome = import(model, options);
    INFO(outcome.text());
    CHECK_FALSE(outcome.has(DiagCode::MRV0131));
    CHECK_FALSE(outcome.has(DiagCode::MRV0132));
  }
}

TEST_CASE("a shape given for one input binds its symbols everywhere", "[onnx]") {
  onnx::ImportOptions options;
  options.input_shapes["a"] = {2, 7};
  Outcome outcome = import(model_with({{"N", "T"}, {"N", 1, "T"}}), options);
  CHECK(shape_of(outcome, "b") == Shape{2, 1, 7});
  CHECK_FALSE(outcome.has(DiagCode::MRV0134));
  options.input_shapes["b"] = {2, 1, 8};
  check_refused(import(model_with({{"N", "T"}, {"N", 1, "T"}}), options), DiagCode::MRV0135);
  options.input_shapes = {{"a", {2, 3}}};
  check_refused(import(model_with({{"N", "N"}}), options), DiagCode::MRV0135);
}

TEST_CASE("shapes that do not fit", "[onnx]") {
  pb::ModelProto model = model_with({{1, "T"}});
  auto refused = [&](const std::string& name, const Shape& shape, DiagId code) {
    onnx::ImportOptions options;
    options.input_shapes[name] = shape;
    Outcome outcome = import(model, options);
    check_refused(outcome, code);
    CHECK(outcome.diagnostics.exit_code() == 2);
  };
  refused("nobody", {1, 2}, DiagCode::MRV0132);
  refused("a", {2, 2}, DiagCode::MRV0133);
  refused("a", {1}, DiagCode::MRV0133);
  refused("a", {1, -2}, DiagCode::MRV0133);
  refused("a", {1, int64_t{1} << 62}, DiagCode::MRV0133);
}

TEST_CASE("an input that is bound becomes a constant", "[onnx]") {
  auto bound = [](const pb::ModelProto& model, const std::string& name, onnx::BoundInput value) {
    onnx::ImportOptions options;
    options.bound_inputs[name] = std::move(value);
    return import(model, options);
  };
  auto constant = [](const Outcome& outcome, const std::string& name) {
    check_imported(outcome);
    CHECK(outcome.model->graph.inputs().empty());
    const ir::Value& value = value_named(outcome.model->graph, name);
    REQUIRE(value.kind == ir::ValueKind::Constant);
    return value.constant();
  };
  pb::ModelProto model = relu_model();
  CHECK(constant(bound(model, "x", {"2.5", {}}), "x").to_doubles() == std::vector<double>(6, 2.5));
  CHECK(constant(bound(model, "x", {"1,2,3,-4,5e1,6", {}}), "x").to_doubles() ==
        std::vector<double>{1, 2, 3, -4, 50, 6});
  const Tensor file = Tensor::of<double>(ElementType::F32, {2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(constant(bound(model, "x", {"x.npy", file}), "x") == file);
  check_refused(bound(model, "x", {"1,2", {}}), DiagCode::MRV0139);
  check_refused(bound(model, "x", {"one", {}}), DiagCode::MRV0139);
  check_refused(bound(model, "x", {"1,,2,3,4,5", {}}), DiagCode::MRV0139);
  check_refused(
      bound(model, "x", {"x.npy", Tensor::of<double>(ElementType::F64, {2, 3}, {1, 2, 3, 4, 5, 6})}),
      DiagCode::MRV0139);
  check_refused(bound(model, "x", {"x.npy", Tensor::of<double>(ElementType::F32, {6}, {1, 2, 3, 4, 5, 6})}),
                DiagCode::MRV0139);
  const Outcome unknown = bound(model, "xx", {"1", {}});
  check_refused(unknown, DiagCode::MRV0138);
  CHECK(unknown.text().find("inputs are 'x'") != std::string::npos);

  // Open dimensions: what the value has, else 1.
  auto* shape =
      model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(0)->set_dim_param("n");
  shape->mutable_dim(1)->set_dim_param("m");
  model.mutable_graph()->mutable_output(0)->clear_type();
  CHECK(constant(bound(model, "x", {"7", {}}), "x").shape() == Shape{1, 1});
  CHECK(constant(bound(model, "x", {"7,8,9", {}}), "x").shape() == Shape{3, 1});
  CHECK(constant(bound(model, "x", {"x.npy", file}), "x").shape() == Shape{2, 3});
}

TEST_CASE("numbers of every type can be bound", "[onnx]") {
  struct Row {
    int elem;
    const char* good;
    double value;
    const char* bad;
  };
  for (const Row& row : {Row{pb::TensorProto::UINT8, "255", 255, "256"},
                         {pb::TensorProto::INT8, "-128", -128, "128"},
                         {pb::TensorProto::INT64, "16000", 16000, "1.5"},
                         {pb::TensorProto::BOOL, "true", 1, "yes"},
                         {pb::TensorProto::DOUBLE, "1e-3", 1e-3, "1e"},
                         {pb::TensorProto::UINT64, "3", 3, "-3"}}) {
    CAPTURE(row.elem, row.good);
    pb::ModelProto model = empty_model();
    add_input(model, "x", {}, row.elem);
    add_node(model, "Identity", {"x"}, {"y"});
    add_output(model, "y", {}, row.elem);
    onnx::ImportOptions options;
    options.bound_inputs["x"] = {row.good, {}};
    const Outcome outcome = import(model, options);
    check_imported(outcome);
    CHECK(value_named(outcome.model->graph, "x").constant().as_double(0) == row.value);
    options.bound_inputs["x"] = {row.bad, {}};
    check_refused(import(model, options), DiagCode::MRV0139);
  }
}

TEST_CASE("an example of a shape can be typed as it stands", "[onnx]") {
  pb::ModelProto model = relu_model();
  auto* shape =
      model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->clear_dim();
  for (const char* symbol : {"b", "c", "h", "w"}) shape->add_dim()->set_dim_param(symbol);
  model.mutable_graph()->mutable_output(0)->clear_type();
  const Outcome outcome = import(model);
  check_refused(outcome, DiagCode::MRV0131);
  CHECK(outcome.text().find("--input-shape x=1x3x224x224") != std::string::npos);
}

TEST_CASE("an input without a rank", "[onnx]") {
  pb::ModelProto model = relu_model();
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  check_refused(import(model), DiagCode::MRV0130);
  onnx::ImportOptions options;
  options.input_shapes["x"] = {2, 3};
  CHECK(shape_of(import(model, options), "y") == Shape{2, 3});
}

TEST_CASE("inputs with hostile types and dimensions", "[onnx]") {
  for (int64_t dim : {int64_t{-2}, INT64_MIN, INT64_MAX, int64_t{1} << 62}) {
    pb::ModelProto model = relu_model();
    *model.mutable_graph()->mutable_input(0) = value_info("x", {2, dim});
    check_refused(import(model), DiagCode::MRV0130);
  }
  for (int elem : {0, 14, 15, 27, 99, -1}) {
    pb::ModelProto model = relu_model();
    *model.mutable_graph()->mutable_input(0) = value_info("x", {2, 3}, elem);
    check_refused(import(model), DiagCode::MRV0130);
  }
  pb::ModelProto model = relu_model();
  *model.mutable_graph()->mutable_input(0) = value_info("x", std::vector<int64_t>(9, 1));
  check_refused(import(model), DiagCode::MRV0130);
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_sequence_type();
  check_refused(import(model), DiagCode::MRV0130);
  model.mutable_graph()->mutable_input(0)->clear_type();
  check_refused(import(model), DiagCode::MRV0130);
}

TEST_CASE("a range makes a dimension known at run time only", "[onnx]") {
  auto given = onnx::parse_given_shape("1..8x3");
  REQUIRE(given);
  CHECK(given->shape == Shape{8, 3});
  CHECK(given->dynamic == 1);
  CHECK(onnx::parse_given_shape("16*3x4")->length == 16);
  for (const char* wrong : {"x", "3x", "8..1", "1..", "-1", "*3", "0*3", "3 4", "1x1x1x1x1x1x1x1x1"})
    CHECK_FALSE(onnx::parse_given_shape(wrong));
  pb::ModelProto model = relu_model();
  *model.mutable_graph()->mutable_input(0) = value_info("x", {-1, 3});
  onnx::ImportOptions options;
  options.input_shapes["x"] = *given;
  Outcome outcome = import(model, options);
  check_imported(outcome);
  const TensorType& type = value_named(outcome.model->graph, "y").type;
  CHECK(type.shape == Shape{8, 3});
  CHECK(type.dynamic == 1);
}

TEST_CASE("a dimension of zero is a shape like any other", "[onnx]") {
  CHECK(shape_of(import(model_with({{0, 3}})), "a") == Shape{0, 3});
}

}  // namespace mrvlc::test

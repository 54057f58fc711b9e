// Operators of com.microsoft are taken apart into those of ONNX.
#include "model_util.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::test {
namespace {

using Doubles = std::vector<double>;

pb::ModelProto contrib_model() {
  pb::ModelProto model = empty_model();
  auto& import = *model.add_opset_import();
  import.set_domain("com.microsoft");
  import.set_version(1);
  return model;
}

pb::NodeProto& add_contrib(pb::ModelProto& model, const std::string& op,
                           const std::vector<std::string>& inputs) {
  auto& node = add_node(model, op, inputs, {"y"});
  node.set_domain("com.microsoft");
  model.mutable_graph()->add_output()->set_name("y");
  return node;
}

pb::TensorProto bytes(const std::string& name, const std::vector<int64_t>& dims, const std::string& values) {
  pb::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(pb::TensorProto::UINT8);
  for (int64_t d : dims) tensor.add_dims(d);
  tensor.set_raw_data(values);
  return tensor;
}

// The only output; the inputs are given.
Doubles run(const pb::ModelProto& model, const std::vector<Doubles>& inputs) {
  Outcome outcome = import(model);
  check_imported(outcome);
  const ir::Graph& graph = outcome.model->graph;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    tensors.emplace_back(graph.value(graph.inputs()[i]).type);
    for (size_t k = 0; k < inputs[i].size(); ++k)
      tensors.back().set_double(static_cast<int64_t>(k), inputs[i][k]);
  }
  auto results = interp::run(graph, tensors);
  REQUIRE(results.ok());
  return (*results)[0].to_doubles();
}

}  // namespace

TEST_CASE("a product with a scale and transpositions in it", "[onnx]") {
  pb::ModelProto model = contrib_model();
  add_input(model, "a", {1, 2});
  add_input(model, "b", {2, 2});
  auto& node = add_contrib(model, "FusedMatMul", {"a", "b"});
  add_int(node, "transB", 1);
  auto& alpha = *node.add_attribute();
  alpha.set_name("alpha");
  alpha.set_type(pb::AttributeProto::FLOAT);
  alpha.set_f(0.5f);
  CHECK(run(model, {{1, 10}, {1, 2, 3, 4}}) == Doubles{10.5, 21.5});
}

TEST_CASE("weights of four bits, the low half of a byte first, around the middle", "[onnx]") {
  pb::ModelProto model = contrib_model();
  add_input(model, "a", {1, 16});
  *model.mutable_graph()->add_initializer() = bytes("b", {1, 1, 8}, std::string(8, 0x21));
  *model.mutable_graph()->add_initializer() = float_tensor("scales", {1}, {0.5});
  auto& node = add_contrib(model, "MatMulNBits", {"a", "b", "scales"});
  for (const auto& [name, value] : {std::pair{"K", 16}, {"N", 1}, {"bits", 4}, {"block_size", 16}})
    add_int(node, name, value);
  Doubles a(16, 0);
  a[0] = 1, a[1] = 10;
  CHECK(run(model, {a}) == Doubles{0.5 * (1 - 8) + 5 * (2 - 8)});
}

TEST_CASE("a sum of quantised tensors", "[onnx]") {
  pb::ModelProto model = contrib_model();
  add_input(model, "a", {2}, pb::TensorProto::UINT8);
  add_input(model, "b", {2}, pb::TensorProto::UINT8);
  *model.mutable_graph()->add_initializer() = float_tensor("half", {}, {0.5});
  *model.mutable_graph()->add_initializer() = float_tensor("two", {}, {2});
  *model.mutable_graph()->add_initializer() = bytes("ten", {}, "\n");
  add_contrib(model, "QLinearAdd", {"a", "half", "ten", "b", "two", "ten", "half", "ten"});
  // (20 - 10) / 2 + (12 - 10) * 2 = 9, of halves 18, from 10 on.
  CHECK(run(model, {{20, 10}, {12, 200}}) == Doubles{28, 255});
}

TEST_CASE("a node that is taken apart stays one node of the model", "[onnx]") {
  pb::ModelProto model = contrib_model();
  add_input(model, "q", {1, 3, 8});
  add_int(add_contrib(model, "MultiHeadAttention", {"q", "q", "q"}), "num_heads", 2);
  Outcome outcome = import(model);
  check_imported(outcome);
  const ir::Graph& graph = outcome.model->graph;
  REQUIRE(graph.sources().size() == 1);
  CHECK(graph.sources()[0].op_type == "MultiHeadAttention");
  CHECK(graph.topological_order().size() > 5);
  for (ir::NodeId id : graph.topological_order())
    CHECK(graph.lineage(id).sources == std::vector<ir::SourceId>{ir::SourceId(size_t{0})});
}

TEST_CASE("what attention does not know is refused, with the attribute or the input", "[onnx]") {
  auto refused = [](const std::string& op, const std::vector<std::string>& inputs,
                    const std::string& attribute, const std::string& word) {
    pb::ModelProto model = contrib_model();
    add_input(model, "x", {1, 3, 8});
    add_input(model, "w", {8, 24});
    add_input(model, "n", {1}, pb::TensorProto::INT32);
    auto& node = add_contrib(model, op, inputs);
    add_int(node, "num_heads", 2);
    if (op == "GroupQueryAttention") add_int(node, "kv_num_heads", 2);
    if (!attribute.empty()) add_int(node, attribute, 1);
    Outcome outcome = import(model);
    INFO(outcome.text());
    CHECK_FALSE(outcome.model.has_value());
    CHECK(outcome.text().find(word) != std::string::npos);
    CHECK(outcome.text().find(op) != std::string::npos);
  };
  refused("Attention", {"x", "w"}, "do_rotary", "do_rotary");
  refused("Attention", {"x", "w"}, "past_present_share_buffer", "past_present_share_buffer");
  refused("Attention", {"x", "w", "", "", "", "", "n"}, "", "past_sequence_length");
  refused("Attention", {"x", "w", "", "w"}, "", "the mask (input 3)");
  refused("MultiHeadAttention", {"x", "x", "x", "", "", "", "", "", "", "n"}, "", "cache_indirection");
  refused("MultiHeadAttention", {"x", "x"}, "", "value");
  refused("MultiHeadAttention", {"x", "x", "x"}, "mystery", "mystery");
  refused("GroupQueryAttention", {"x", "x", "x", "", "", "n", "n"}, "qk_output", "qk_output");
  refused("GroupQueryAttention", {"x", "x", "x", "", "", "n", "n"}, "sliding_window_cache",
          "sliding_window_cache");
  refused("GroupQueryAttention", {"x", "x", "x", "", "", "n", "n"}, "do_rotary", "do_rotary");
}

TEST_CASE("what a decomposition does not know is refused", "[onnx]") {
  pb::ModelProto model = contrib_model();
  add_input(model, "a", {4});
  add_input(model, "b", {4});
  add_int(add_contrib(model, "BiasGelu", {"a", "b"}), "mystery", 1);
  CHECK(import(model).has(DiagCode::MRV0140));
  model = contrib_model();
  add_input(model, "a", {4});
  add_contrib(model, "BiasGelu", {"a"});
  CHECK(import(model).has(DiagCode::MRV0201));
  model = contrib_model();
  add_input(model, "a", {4});
  add_contrib(model, "FusedMatMul", {"", "a"});
  CHECK_FALSE(import(model).model.has_value());
}

}  // namespace mrvlc::test

#include "model_util.h"

#include <algorithm>

#include "mrvlc/ir/verifier.h"

namespace mrvlc::test {

bool Outcome::has(DiagId code) const {
  return count(code) > 0;
}

size_t Outcome::count(DiagId code) const {
  const auto& list = diagnostics.list();
  return static_cast<size_t>(
      std::count_if(list.begin(), list.end(), [&](const Diag& d) { return d.code == code; }));
}

std::string Outcome::text() const {
  std::string all;
  for (const Diag& d : diagnostics.list()) all += format_diag("model.onnx", d) + "\n";
  return all;
}

const Diag& Outcome::first(DiagId code) const {
  for (const Diag& d : diagnostics.list()) {
    if (d.code == code) return d;
  }
  FAIL("no such diagnostic; there are:\n" << text());
  std::abort();
}

Outcome import(const pb::ModelProto& model, const onnx::ImportOptions& options,
               const std::filesystem::path& folder) {
  Outcome outcome;
  outcome.model = onnx::import_bytes(model.SerializeAsString(), folder, options, outcome.diagnostics);
  return outcome;
}

Outcome import_text(std::string_view bytes) {
  Outcome outcome;
  outcome.model = onnx::import_bytes(bytes, {}, {}, outcome.diagnostics);
  return outcome;
}

void check_refused(const Outcome& outcome, DiagId code) {
  INFO(outcome.text());
  CHECK_FALSE(outcome.model.has_value());
  CHECK(outcome.has(code));
  CHECK(outcome.diagnostics.exit_code() == static_cast<int>(diag_info(code).exit_class));
}

void check_imported(const Outcome& outcome) {
  INFO(outcome.text());
  REQUIRE(outcome.model.has_value());
  CHECK_FALSE(outcome.diagnostics.has_errors());
  Status verified = ir::verify(outcome.model->graph);
  INFO((verified.ok() ? std::string() : verified.error().message));
  CHECK(verified.ok());
}

pb::ModelProto empty_model() {
  pb::ModelProto model;
  model.set_ir_version(8);
  auto* opset = model.add_opset_import();
  opset->set_domain("");
  opset->set_version(17);
  model.mutable_graph()->set_name("g");
  return model;
}

pb::ValueInfoProto value_info(const std::string& name, const std::vector<int64_t>& dims, int elem) {
  pb::ValueInfoProto info;
  info.set_name(name);
  auto* type = info.mutable_type()->mutable_tensor_type();
  type->set_elem_type(elem);
  type->mutable_shape();
  for (int64_t d : dims) type->mutable_shape()->add_dim()->set_dim_value(d);
  return info;
}

pb::NodeProto make_node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
  pb::NodeProto node;
  node.set_op_type(op);
  for (const auto& in : inputs) node.add_input(in);
  for (const auto& out : outputs) node.add_output(out);
  return node;
}

pb::NodeProto& add_node(pb::ModelProto& model, const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
  auto* node = model.mutable_graph()->add_node();
  *node = make_node(op, inputs, outputs);
  return *node;
}

void add_input(pb::ModelProto& model, const std::string& name, const std::vector<int64_t>& dims, int elem) {
  *model.mutable_graph()->add_input() = value_info(name, dims, elem);
}

void add_output(pb::ModelProto& model, const std::string& name, const std::vector<int64_t>& dims, int elem) {
  *model.mutable_graph()->add_output() = value_info(name, dims, elem);
}

pb::TensorProto int64_tensor(const std::string& name, const std::vector<int64_t>& dims,
                             const std::vector<int64_t>& data) {
  pb::TensorProto t;
  t.set_name(name);
  t.set_data_type(pb::TensorProto::INT64);
  for (int64_t d : dims) t.add_dims(d);
  for (int64_t v : data) t.add_int64_data(v);
  return t;
}

pb::TensorProto float_tensor(const std::string& name, const std::vector<int64_t>& dims,
                             const std::vector<float>& data) {
  pb::TensorProto t;
  t.set_name(name);
  t.set_data_type(pb::TensorProto::FLOAT);
  for (int64_t d : dims) t.add_dims(d);
  t.set_raw_data(data.data(), data.size() * sizeof(float));
  return t;
}

pb::AttributeProto& add_int(pb::NodeProto& node, const std::string& name, int64_t value) {
  auto* a = node.add_attribute();
  a->set_name(name);
  a->set_type(pb::AttributeProto::INT);
  a->set_i(value);
  return *a;
}

pb::AttributeProto& add_ints(pb::NodeProto& node, const std::string& name,
                             const std::vector<int64_t>& values) {
  auto* a = node.add_attribute();
  a->set_name(name);
  a->set_type(pb::AttributeProto::INTS);
  for (int64_t v : values) a->add_ints(v);
  return *a;
}

pb::ModelProto relu_model() {
  pb::ModelProto model = empty_model();
  add_input(model, "x", {2, 3});
  add_output(model, "y", {2, 3});
  add_node(model, "Relu", {"x"}, {"y"}).set_name("relu");
  return model;
}

pb::ModelProto conv_model() {
  pb::ModelProto model = empty_model();
  add_input(model, "x", {1, 2, 4, 4});
  model.mutable_graph()->add_output()->set_name("y");
  *model.mutable_graph()->add_initializer() = float_tensor("w", {3, 2, 3, 3}, std::vector<float>(54, 0.5f));
  add_node(model, "Conv", {"x", "w"}, {"y"}).set_name("conv");
  return model;
}

const ir::Value& value_named(const ir::Graph& graph, const std::string& name) {
  auto id = graph.find_value(name);
  REQUIRE(id.has_value());
  return graph.value(*id);
}

}  // namespace mrvlc::test

// IR versions, operator sets and domains.
#include "model_util.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::test {

TEST_CASE("IR versions", "[onnx]") {
  pb::ModelProto model = relu_model();
  model.clear_ir_version();
  check_refused(import(model), DiagCode::MRV0102);
  for (int64_t version : {int64_t{0}, int64_t{-1}, int64_t{15}, INT64_MAX, INT64_MIN}) {
    model.set_ir_version(version);
    check_refused(import(model), DiagCode::MRV0102);
  }
  for (int64_t version : {3, 8, 13}) {
    model.set_ir_version(version);
    check_imported(import(model));
  }
}

TEST_CASE("operator sets: missing, twice, out of range", "[onnx]") {
  pb::ModelProto model = relu_model();
  for (int64_t version : {int64_t{0}, int64_t{-3}, int64_t{29}, INT64_MAX, INT64_MIN}) {
    model.mutable_opset_import(0)->set_version(version);
    check_refused(import(model), DiagCode::MRV0103);
  }
  model.mutable_opset_import(0)->clear_version();
  check_refused(import(model), DiagCode::MRV0103);
  model.clear_opset_import();
  check_refused(import(model), DiagCode::MRV0103);
  model = relu_model();
  auto* again = model.add_opset_import();
  again->set_domain("ai.onnx");  // the same domain in its other spelling
  again->set_version(17);
  check_refused(import(model), DiagCode::MRV0103);
}

TEST_CASE("a domain that is not imported", "[onnx]") {
  pb::ModelProto model = relu_model();
  model.mutable_opset_import(0)->set_domain("com.example");
  check_refused(import(model), DiagCode::MRV0103);
}

TEST_CASE("unknown domains matter when a node uses them", "[onnx]") {
  pb::ModelProto model = relu_model();
  auto* opset = model.add_opset_import();
  opset->set_domain("com.example");
  opset->set_version(1);
  check_imported(import(model));
  model.mutable_graph()->mutable_node(0)->set_domain("com.example");
  Outcome outcome = import(model);
  check_refused(outcome, DiagCode::MRV0106);
  CHECK(outcome.first(DiagCode::MRV0106).node == "relu");
  CHECK(outcome.first(DiagCode::MRV0106).op_type == "com.example.Relu");
}

TEST_CASE("both spellings of the standard domain", "[onnx]") {
  pb::ModelProto model = relu_model();
  model.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  check_imported(import(model));
}

TEST_CASE("unknown operators and opsets before an operator's first", "[onnx]") {
  pb::ModelProto model = relu_model();
  model.mutable_graph()->mutable_node(0)->set_op_type("Frobnicate");
  check_refused(import(model), DiagCode::MRV0107);
  model.mutable_graph()->mutable_node(0)->set_op_type("LeakyReLU2");
  const std::string near = import(model).text();
  CHECK(near.find("ai.onnx has no 'LeakyReLU2'") != std::string::npos);
  CHECK(near.find("did you mean 'LeakyRelu'?") != std::string::npos);
  CHECK(near.find("mrvlc targets new mylib --kind call") != std::string::npos);
  auto* opset = model.add_opset_import();
  opset->set_domain("com.microsoft");
  opset->set_version(1);
  model.mutable_graph()->mutable_node(0)->set_domain("com.microsoft");
  CHECK(import(model).text().find("ORT_DISABLE_ALL") != std::string::npos);
  model.mutable_graph()->mutable_node(0)->clear_domain();
  model.mutable_graph()->mutable_node(0)->clear_op_type();
  check_refused(import(model), DiagCode::MRV0107);
}

}  // namespace mrvlc::test

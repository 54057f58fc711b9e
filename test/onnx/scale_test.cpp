// Large graphs: time grows with the nodes, and nothing recurses over them.
#include "model_util.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::test {

TEST_CASE("a chain of 10^5 nodes", "[onnx]") {
  constexpr int kNodes = 100000;
  pb::ModelProto model = empty_model();
  add_input(model, "v0", {1});
  for (int i = 0; i < kNodes; ++i)
    add_node(model, "Relu", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  model.mutable_graph()->add_output()->set_name("v" + std::to_string(kNodes));
  SECTION("sorted") {
    check_imported(import(model));
  }
  SECTION("backwards") {
    auto* nodes = model.mutable_graph()->mutable_node();
    for (int i = 0; i < kNodes / 2; ++i) nodes->SwapElements(i, kNodes - 1 - i);
    Outcome outcome = import(model);
    check_imported(outcome);
    CHECK(outcome.has(DiagCode::MRV0113));
  }
  SECTION("a cycle") {
    model.mutable_graph()->mutable_node(0)->set_input(0, "v" + std::to_string(kNodes));
    check_refused(import(model), DiagCode::MRV0112);
  }
}

TEST_CASE("a fan-out of 10^5", "[onnx]") {
  pb::ModelProto model = relu_model();
  for (int i = 0; i < 100000; ++i) add_node(model, "Relu", {"y"}, {"v" + std::to_string(i)});
  check_imported(import(model));
}

TEST_CASE("more nodes than the limit", "[onnx]") {
  pb::ModelProto model = relu_model();
  for (int i = 0; i < 100; ++i) add_node(model, "Relu", {"y"}, {"v" + std::to_string(i)});
  onnx::ImportOptions options;
  options.max_nodes = 100;
  check_refused(import(model, options), DiagCode::MRV0116);
}

}  // namespace mrvlc::test

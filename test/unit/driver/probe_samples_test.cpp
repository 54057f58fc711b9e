// Samples of the probe: states that runs on other inputs made, choices that a model refuses.
#include "accuracy/probe_samples.h"

#include "mrvlc/ir/text.h"
#include "mrvlc/ops/op.h"
#include "probe_case.h"

using namespace mrvlc;
using Json = nlohmann::ordered_json;
using test::Case;

namespace {

// The state is the sum of all that came.
test::pb::ModelProto sum_of_inputs(float keep) {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 16});
  test::add_input(model, "state", {1, 1, 16});
  *model.mutable_graph()->add_initializer() = test::float_tensor("keep", {1}, {keep});
  test::add_node(model, "Mul", {"state", "keep"}, {"kept"});
  test::add_node(model, "Add", {"kept", "x"}, {"next"});
  test::add_node(model, "Neg", {"x"}, {"y"});
  test::add_output(model, "y", {1, 16});
  test::add_output(model, "next", {1, 1, 16});
  return model;
}

}  // namespace

TEST_CASE("states begin with zero, and are what other inputs made of them") {
  const auto parsed = ir::parse(
      "graph \"g\" {\ninput %x : f32[1,16]\ninput %state : f32[1,1,16]\n"
      "%next = Add(%state, %x) : f32[1,1,16]\noutput %next\n}\n",
      ops::registry());
  REQUIRE(parsed.ok());
  const ir::Graph& graph = *parsed;
  const driver::SampleMaker maker(calibration::input_hints(graph), {}, {}, false, 3);
  CHECK(maker.make(graph, 0).earlier.empty());
  const driver::MadeSample made = maker.make(graph, 1);
  REQUIRE(made.earlier.size() == 3);
  std::vector<double> sum(16, 0);
  for (const driver::EarlierStep& step : made.earlier) {
    CHECK(step.inputs[1].to_doubles() == sum);
    CHECK(step.inputs[0].to_doubles() != made.inputs[0].to_doubles());
    sum = step.outputs[0].to_doubles();
  }
  CHECK(made.inputs[1].to_doubles() == sum);
}

TEST_CASE("what the accelerator loses of a state is lost in the next run, too") {
  Case once(sum_of_inputs(0)), ever(sum_of_inputs(1));
  const Json a = once.compile(), b = ever.compile();
  REQUIRE(once.ok);
  REQUIRE(ever.ok);
  CHECK(a["outputs"][1]["error"] < 2.5e-4);  // half a unit of the last place of x, by 1 + x
  CHECK(b["outputs"][1]["error"] > 4e-4);
}

// The outputs are others than what is compared, and more of them.
TEST_CASE("states whose shape is open are handed on where regions are compared") {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {1, 3, 8, 5});
  test::add_input(model, "state", {4});
  test::add_conv(model, "first", "x", "c", 3, 4, 1.0f);
  *model.mutable_graph()->add_initializer() = test::float_tensor("limit", {}, {0});
  *model.mutable_graph()->add_initializer() = test::int64_tensor("flat", {1}, {-1});
  test::add_node(model, "Greater", {"c", "limit"}, {"kept"});
  test::add_node(model, "Reshape", {"kept", "flat"}, {"row"});
  test::add_node(model, "Compress", {"c", "row"}, {"y"});
  test::add_node(model, "Neg", {"state"}, {"next"});
  test::add_output(model, "y", {1});
  test::add_output(model, "next", {4});
  const auto open = [](test::pb::ValueInfoProto& v, const char* name) {
    v.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param(name);
  };
  open(*model.mutable_graph()->mutable_input(1), "n");
  open(*model.mutable_graph()->mutable_output(0), "k");
  open(*model.mutable_graph()->mutable_output(1), "n");
  Case c(model);
  c.options.accel = {"Conv"};
  c.options.import.input_shapes["state"] = *mrvlc::onnx::parse_given_shape("1..4");
  const Json a = c.compile();
  REQUIRE(c.ok);
  REQUIRE(a["outputs"].size() == 1);
  CHECK(a["outputs"][0]["name"] == "c");
}

TEST_CASE("samples that a model refuses by a choice are made up for with another") {
  test::pb::ModelProto model = test::empty_model();
  test::add_input(model, "x", {4});
  test::add_input(model, "rate", {}, 7);
  *model.mutable_graph()->add_initializer() = test::int64_tensor("allowed", {}, {3});
  test::add_node(model, "Equal", {"rate", "allowed"}, {"right"});
  test::pb::NodeProto& choice = test::add_node(model, "If", {"right"}, {"y"});
  for (const std::string branch : {"then_branch", "else_branch"}) {
    test::pb::AttributeProto& body = *choice.add_attribute();
    body.set_name(branch);
    body.set_type(test::pb::AttributeProto::GRAPH);
    test::pb::GraphProto& g = *body.mutable_g();
    g.set_name(branch);
    if (branch == "then_branch") {
      *g.add_node() = test::make_node("Exp", {"x"}, {branch + "_y"});
    } else {  // an index that is not there
      *g.add_node() = test::make_node("Gather", {"x", "rate"}, {branch + "_z"});
      *g.add_node() = test::make_node("Add", {"x", branch + "_z"}, {branch + "_y"});
    }
    *g.add_output() = test::value_info(branch + "_y", {4});
  }
  test::add_node(model, "Neg", {"y"}, {"z"});
  test::add_output(model, "z", {4});
  Case c(model);
  c.options.accel = {"Neg"};
  const Json a = c.compile();
  REQUIRE(c.ok);
  CHECK(a["samples"] == 8);
  CHECK_THAT(a["reason"].get<std::string>(), Catch::Contains("4 samples not taken by the model"));
}

// Quant, BipolarQuant and Trunc of QONNX against loops that follow its definition.
#include <cmath>

#include "model_util.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::test::qonnx {
namespace {

constexpr const char* kDomain = "qonnx.custom_op.general";

struct Case {
  int bits = 8;
  bool is_signed = true, narrow = false;
  std::string mode = "ROUND";
  std::vector<float> scale = {0.25F};
  std::vector<float> zero = {0};
  std::vector<int64_t> scale_shape = {};
  bool constant = false;  // x
};

float rounded(float v, const std::string& mode) {
  const float sign = v > 0 ? 1.0F : v < 0 ? -1.0F : 0.0F, size = std::fabs(v);
  if (mode == "ROUND" || mode == "HALF_EVEN") return std::nearbyint(v);
  if (mode == "CEIL") return std::ceil(v);
  if (mode == "FLOOR") return std::floor(v);
  if (mode == "UP") return sign * std::ceil(size);
  if (mode == "DOWN" || mode == "ROUND_TO_ZERO") return sign * std::floor(size);
  if (mode == "HALF_UP") return sign * std::floor(size + 0.5F);
  return sign * std::ceil(size - 0.5F);
}

// x is [3, 2, ...]; scales of several values are those of its dimension 1.
float quantized(const Case& c, float x, size_t channel) {
  const float scale = c.scale[c.scale.size() == 1 ? 0 : channel],
              zero = c.zero[c.zero.size() == 1 ? 0 : channel];
  float y = x / scale + zero;
  if (c.bits == 1 && c.is_signed) return ((y >= 0 ? 1.0F : -1.0F) - zero) * scale;
  const auto half = std::ldexp(1.0F, c.bits - 1), all = std::ldexp(1.0F, c.bits);
  const float low = !c.is_signed ? 0 : c.narrow ? 1 - half : -half;
  const float high = c.is_signed ? half - 1 : c.narrow ? all - 2 : all - 1;
  y = std::min(std::max(y, low), high);
  return (rounded(y, c.mode) - zero) * scale;
}

// Values in and around steps of 0.25, and far off.
std::vector<float> values() {
  std::vector<float> x;
  for (int i = -60; i < 60; ++i) x.push_back(static_cast<float>(i) * 0.0625F + (i % 7 == 0 ? 0.01F : 0));
  for (float far : {-1000.0F, 1000.0F, -33.0F, 31.9F, 63.9F, 64.2F}) x.push_back(far);
  return x;
}

pb::ModelProto quant_model(const Case& c, const std::vector<float>& x) {
  pb::ModelProto model = empty_model();
  auto& import = *model.add_opset_import();
  import.set_domain(kDomain);
  import.set_version(1);
  const auto columns = static_cast<int64_t>(x.size() / 6);
  auto& constants = *model.mutable_graph();
  if (c.constant) {
    *constants.add_initializer() = float_tensor("x", {3, 2, columns}, x);
  } else {
    add_input(model, "x", {3, 2, columns});
  }
  *constants.add_initializer() = float_tensor("s", c.scale_shape, c.scale);
  *constants.add_initializer() =
      float_tensor("z", c.zero.size() == 1 ? std::vector<int64_t>{} : c.scale_shape, c.zero);
  *constants.add_initializer() = float_tensor("b", {}, {static_cast<float>(c.bits)});
  auto& node = add_node(model, "Quant", {"x", "s", "z", "b"}, {"y"});
  node.set_domain(kDomain);
  add_int(node, "signed", c.is_signed ? 1 : 0);
  add_int(node, "narrow", c.narrow ? 1 : 0);
  auto& mode = *node.add_attribute();
  mode.set_name("rounding_mode");
  mode.set_type(pb::AttributeProto::STRING);
  mode.set_s(c.mode);
  model.mutable_graph()->add_output()->set_name("y");
  return model;
}

std::vector<double> run(const Outcome& outcome, const std::vector<float>& x) {
  const ir::Graph& graph = outcome.model->graph;
  std::vector<Tensor> inputs;
  for (ir::ValueId id : graph.inputs()) {
    inputs.emplace_back(graph.value(id).type);
    for (size_t k = 0; k < x.size(); ++k) inputs.back().set_double(static_cast<int64_t>(k), x[k]);
  }
  auto results = interp::run(graph, inputs);
  REQUIRE(results.ok());
  return (*results)[0].to_doubles();
}

bool makes(const ir::Graph& g, Op op) {
  for (ir::NodeId id : g.topological_order())
    if (g.node(id).is(op)) return true;
  return false;
}

void check_case(const Case& c) {
  CAPTURE(c.bits, c.is_signed, c.narrow, c.mode, c.scale, c.zero, c.constant);
  const std::vector<float> x = values();
  const size_t columns = x.size() / 6;
  Outcome outcome = import(quant_model(c, x));
  check_imported(outcome);
  CHECK(makes(outcome.model->graph, Op::DequantizeLinear));
  const std::vector<double> y = run(outcome, x);
  size_t wrong = 0;
  for (size_t i = 0; i < x.size(); ++i) wrong += y[i] != quantized(c, x[i], i / columns % 2);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("Quant of every width, sign, range and rounding", "[onnx]") {
  for (bool constant : {false, true})
    for (bool is_signed : {false, true})
      for (bool narrow : {false, true})
        for (int bits : {1, 2, 3, 4, 7, 8, 12, 16})
          for (const char* mode : {"ROUND", "half_even", "CEIL", "FLOOR", "UP", "DOWN", "ROUND_TO_ZERO",
                                   "HALF_UP", "HALF_DOWN"}) {
            if (bits == 1 && narrow) continue;
            Case c{bits, is_signed, narrow, mode, {0.25F}, {0}, {}, constant};
            for (char& letter : c.mode) letter = static_cast<char>(std::toupper(letter));
            check_case(c);
          }
}

TEST_CASE("Quant with scales and zero points by channel", "[onnx]") {
  for (bool constant : {false, true}) {
    check_case({8, true, false, "ROUND", {0.25F, 0.5F}, {0, 0}, {1, 2, 1}, constant});
    check_case({4, true, true, "ROUND", {0.25F, 0.5F}, {0}, {1, 2, 1}, constant});
    check_case({8, false, false, "FLOOR", {0.25F, 0.5F}, {128, 30}, {1, 2, 1}, constant});
    check_case({8, true, false, "ROUND", {0.25F}, {-4}, {1, 1, 1}, constant});
    check_case({4, false, false, "CEIL", {0.25F}, {3}, {1}, constant});
  }
  check_case({32, true, false, "ROUND", {0.25F}, {0}, {}, true});
}

TEST_CASE("Quant that no QuantizeLinear says is computed in floats, and said to be", "[onnx]") {
  const std::vector<float> x = values();
  Case half_zero{8, true, false, "ROUND", {0.25F}, {0.5F}, {}, false};
  Outcome outcome = import(quant_model(half_zero, x));
  check_imported(outcome);
  CHECK(outcome.count(DiagCode::MRV0162) == 1);
  const std::vector<double> y = run(outcome, x);
  for (size_t i = 0; i < x.size(); ++i) CHECK(y[i] == quantized(half_zero, x[i], 0));
  for (const Case& c : {Case{8, true, false, "ROUND", {-0.25F}, {0}, {}, false},
                        Case{8, true, false, "ROUND", {0.25F}, {300}, {}, false},
                        Case{24, true, false, "ROUND", {0.25F}, {0}, {}, false}}) {
    Outcome other = import(quant_model(c, x));
    check_imported(other);
    CHECK(other.count(DiagCode::MRV0162) == 1);
  }
}

TEST_CASE("what Quant cannot be is refused", "[onnx]") {
  const std::vector<float> x = values();
  for (int bits : {0, 33, -3}) check_refused(import(quant_model({bits}, x)), DiagCode::MRV0160);
  check_refused(import(quant_model({8, true, false, "STOCHASTIC"}, x)), DiagCode::MRV0140);
  check_refused(import(quant_model({1, false, true}, x)), DiagCode::MRV0160);
  pb::ModelProto model = quant_model({}, x);
  *model.mutable_graph()->mutable_initializer(2) = float_tensor("b", {}, {7.5F});
  CHECK(import(model).has(DiagCode::MRV0160));
}

TEST_CASE("BipolarQuant and Trunc", "[onnx]") {
  const std::vector<float> x = values();
  pb::ModelProto model = quant_model({}, x);
  auto& node = *model.mutable_graph()->mutable_node(0);
  node.clear_attribute();
  node.clear_input();
  for (const char* in : {"x", "s"}) node.add_input(in);
  node.set_op_type("BipolarQuant");
  Outcome bipolar = import(model);
  check_imported(bipolar);
  std::vector<double> y = run(bipolar, x);
  for (size_t i = 0; i < x.size(); ++i) CHECK(y[i] == (x[i] >= 0 ? 0.25 : -0.25));
  node.clear_input();
  for (const char* in : {"x", "s", "z", "b", "to"}) node.add_input(in);
  node.set_op_type("Trunc");
  *model.mutable_graph()->add_initializer() = float_tensor("to", {}, {6});
  Outcome trunc = import(model);
  check_imported(trunc);
  CHECK(trunc.has(DiagCode::MRV0162));
  y = run(trunc, x);
  for (size_t i = 0; i < x.size(); ++i)
    CHECK(y[i] == std::floor(std::nearbyint(x[i] / 0.25F) / 4.0F) * 0.25F);
}

}  // namespace mrvlc::test::qonnx

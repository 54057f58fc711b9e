// QLinear operators: an operator of ONNX between DequantizeLinear and QuantizeLinear.
#include "contrib/contrib.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {
namespace {

// Input k with the scale and the zero point behind it.
std::string real(Decomposition& r, size_t k) {
  return r.add("DequantizeLinear", {r.in(k), r.in(k + 1), r.in(k + 2)});
}

// The result, with the scale `k` and the zero point behind it.
Status quantized(Decomposition& r, const std::string& y, size_t k) {
  r.result(0, r.add("QuantizeLinear", {y, r.in(k), r.in(k + 1)}));
  return {};
}

Status add(Decomposition& r) {
  return quantized(r, r.add("Add", {real(r, 0), real(r, 3)}), 6);
}
Status mul(Decomposition& r) {
  return quantized(r, r.add("Mul", {real(r, 0), real(r, 3)}), 6);
}
Status sigmoid(Decomposition& r) {
  return quantized(r, r.add("Sigmoid", {real(r, 0)}), 3);
}

Status leaky_relu(Decomposition& r) {
  std::string y = r.add("LeakyRelu", {real(r, 0)});
  r.pass({"alpha"});
  return quantized(r, y, 3);
}

// Before opset 13 the dimensions from the axis on were one.
Status softmax(Decomposition& r) {
  const int64_t rank = r.type(0).rank(), axis = r.int_attr("axis", -1);
  const int64_t first = axis < 0 ? axis + rank : axis;
  if (r.int_attr("opset", 13) >= 13 || first == rank - 1) {
    std::string y = r.add("Softmax", {real(r, 0)});
    r.set("axis", axis);
    return quantized(r, y, 3);
  }
  std::string flat = r.add("Flatten", {real(r, 0)});
  r.set("axis", axis);
  std::string y = r.add("Softmax", {flat});
  r.set("axis", int64_t{-1});
  return quantized(r, r.add("Reshape", {y, r.add("Shape", {r.in(0)})}), 3);
}

Status refuse_channels_last(const Decomposition& r) {
  if (r.int_attr("channels_last", 0) == 0) return {};
  return make_diag<DiagCode::MRV0140>("channels_last", "is not supported");
}

Status global_average_pool(Decomposition& r) {
  MRVLC_TRY(refuse_channels_last(r));
  return quantized(r, r.add("GlobalAveragePool", {real(r, 0)}), 3);
}

Status average_pool(Decomposition& r) {
  MRVLC_TRY(refuse_channels_last(r));
  std::string y = r.add("AveragePool", {real(r, 0)});
  r.pass({"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"});
  return quantized(r, y, 3);
}

// Inputs: scale and zero of the result, then operands with theirs.
Status concat(Decomposition& r) {
  if (r.inputs() % 3 != 2) return make_diag<DiagCode::MRV0201>("two and a multiple of three", r.inputs());
  std::vector<std::string> operands;
  for (size_t k = 2; k < r.inputs(); k += 3) operands.push_back(real(r, k));
  std::string y = r.add("Concat", operands);
  r.pass({"axis"});
  return quantized(r, y, 0);
}

// Of 16 bits and more, before ONNX had them.
Status dequantize(Decomposition& r) {
  std::string y = r.add("DequantizeLinear", {r.in(0), r.in(1), r.in(2)});
  r.pass({"axis", "block_size"});
  r.result(0, y);
  return {};
}

Status quantize(Decomposition& r) {
  std::string y = r.add("QuantizeLinear", {r.in(0), r.in(1), r.in(2)});
  r.pass({"axis", "block_size", "saturate"});
  r.result(0, y);
  return {};
}

}  // namespace

const std::vector<ContribOp>& contrib_qlinear() {
  static constexpr std::string_view kDomain = "com.microsoft";
  static const std::vector<ContribOp> ops = {
      {kDomain, "QLinearAdd", 7, 8, add},
      {kDomain, "QLinearMul", 7, 8, mul},
      {kDomain, "QLinearSigmoid", 4, 5, sigmoid},
      {kDomain, "QLinearLeakyRelu", 4, 5, leaky_relu},
      {kDomain, "QLinearSoftmax", 4, 5, softmax},
      {kDomain, "QLinearGlobalAveragePool", 4, 5, global_average_pool},
      {kDomain, "QLinearAveragePool", 4, 5, average_pool},
      {kDomain, "QLinearConcat", 5, kAnyInputs, concat},
      {kDomain, "DequantizeLinear", 2, 3, dequantize},
      {kDomain, "QuantizeLinear", 2, 3, quantize},
  };
  return ops;
}

}  // namespace mrvlc::onnx

// QLinear operators: an operator of ONNX between DequantizeLinear and QuantizeLinear.
#include "contrib/channels_last.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {
namespace {

// Input k with the scale and the zero point behind it.
std::string real(Decomposition& r, size_t k) {
  return r.add("DequantizeLinear", {r.in(k), r.in(k + 1), r.in(k + 2)});
}

// The result, with the scale `k` and the zero point behind it; without one it is of the type of `like`.
Status quantized(Decomposition& r, const std::string& y, size_t k, size_t like = 0) {
  std::string result = r.add("QuantizeLinear", {y, r.in(k), r.in(k + 1)});
  if (!r.has(k + 1)) r.set("output_dtype", static_cast<int64_t>(r.type(like).elem));
  r.result(0, result);
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

// With `channels_last` the channels are the last dimension.
template <typename Pool>
Status pooled(Decomposition& r, Pool pool) {
  const bool last = r.int_attr("channels_last", 0) != 0;
  const int64_t rank = r.type(0).rank();
  std::string x = real(r, 0);
  std::string y = pool(last ? channels_first(r, x, rank) : x);
  return quantized(r, last ? channels_back(r, y, rank) : y, 3);
}

Status global_average_pool(Decomposition& r) {
  return pooled(r, [&](const std::string& x) { return r.add("GlobalAveragePool", {x}); });
}

Status average_pool(Decomposition& r) {
  return pooled(r, [&](const std::string& x) {
    std::string y = r.add("AveragePool", {x});
    r.pass({"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"});
    return y;
  });
}

Status reduce_mean(Decomposition& r) {
  const auto* axes = r.attribute("axes");
  std::string x = real(r, 0), given;
  if (axes != nullptr) given = r.constant({axes->ints().begin(), axes->ints().end()});
  std::string y = r.add("ReduceMean", {x, given});
  r.pass({"keepdims"});
  return quantized(r, y, 3);
}

// Inputs: condition, X with scale and zero, Y with theirs, scale and zero of the result.
Status where(Decomposition& r) {
  return quantized(r, r.add("Where", {r.in(0), real(r, 1), real(r, 4)}), 7, 1);
}

// Inputs: scale and zero of the result, then operands with theirs.
Status concat(Decomposition& r) {
  if (r.inputs() % 3 != 2) return make_diag<DiagCode::MRV0201>("two and a multiple of three", r.inputs());
  std::vector<std::string> operands;
  for (size_t k = 2; k < r.inputs(); k += 3) operands.push_back(real(r, k));
  std::string y = r.add("Concat", operands);
  r.pass({"axis"});
  return quantized(r, y, 0, 2);
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
      {kDomain, "QLinearAdd", 7, 8, add, "DequantizeLinear, Add, QuantizeLinear"},
      {kDomain, "QLinearMul", 7, 8, mul, "DequantizeLinear, Mul, QuantizeLinear"},
      {kDomain, "QLinearSigmoid", 4, 5, sigmoid, "DequantizeLinear, Sigmoid, QuantizeLinear"},
      {kDomain, "QLinearLeakyRelu", 4, 5, leaky_relu, "DequantizeLinear, LeakyRelu, QuantizeLinear"},
      {kDomain, "QLinearSoftmax", 4, 5, softmax, "DequantizeLinear, Softmax, QuantizeLinear"},
      {kDomain, "QLinearGlobalAveragePool", 4, 5, global_average_pool,
       "DequantizeLinear, GlobalAveragePool, QuantizeLinear"},
      {kDomain, "QLinearAveragePool", 4, 5, average_pool, "DequantizeLinear, AveragePool, QuantizeLinear"},
      {kDomain, "QLinearReduceMean", 4, 5, reduce_mean, "DequantizeLinear, ReduceMean, QuantizeLinear"},
      {kDomain, "QLinearWhere", 8, 9, where, "DequantizeLinear, Where, QuantizeLinear"},
      {kDomain, "QLinearConcat", 5, kAnyInputs, concat, "DequantizeLinear, Concat, QuantizeLinear"},
      {kDomain, "DequantizeLinear", 2, 3, dequantize, "DequantizeLinear"},
      {kDomain, "QuantizeLinear", 2, 3, quantize, "QuantizeLinear"},
  };
  return ops;
}

}  // namespace mrvlc::onnx

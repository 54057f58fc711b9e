// Operators with an activation, a scale, a bias or a transposition taken into them.
#include <numeric>

#include "contrib/channels_last.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {

Result<std::string> activated(Decomposition& r, const std::string& x, const std::string& name,
                              const std::vector<float>& p) {
  auto param = [&](size_t i, float otherwise) { return i < p.size() ? p[i] : otherwise; };
  if (name.empty()) return x;
  if (name == "Relu" || name == "Sigmoid" || name == "Tanh" || name == "HardSwish") return r.add(name, {x});
  if (name == "LeakyRelu") {
    std::string y = r.add(name, {x});
    r.set("alpha", param(0, 0.01f));
    return y;
  }
  if (name == "HardSigmoid") {
    std::string y = r.add(name, {x});
    r.set("alpha", param(0, 0.2f)).set("beta", param(1, 0.5f));
    return y;
  }
  if (name == "Clip" && p.size() == 2)
    return r.add("Clip", {x, r.scalar(p[0], r.in(0)), r.scalar(p[1], r.in(0))});
  return make_diag<DiagCode::MRV0140>("activation", fmt::format("'{}' is not supported", printable(name)));
}

namespace {

Status fused_conv(Decomposition& r) {
  std::string y = r.add("Conv", {r.in(0), r.in(1), r.in(2)});
  r.pass({"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"});
  if (r.has(3)) y = r.add("Add", {y, r.in(3)});
  MRVLC_ASSIGN(y, activated(r, y, r.string_attr("activation"), r.floats_attr("activation_params")));
  r.result(0, y);
  return {};
}

Status fused_gemm(Decomposition& r) {
  std::string y = r.add("Gemm", {r.in(0), r.in(1), r.in(2)});
  r.pass({"alpha", "beta", "transA", "transB"});
  std::vector<float> params;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (r.attribute(name) != nullptr) params.push_back(r.float_attr(name, 0));
  }
  MRVLC_ASSIGN(y, activated(r, y, r.string_attr("activation"), params));
  r.result(0, y);
  return {};
}

// The operand with its last two dimensions exchanged; with `batch` the dimensions in front turn by one, so
// that the last but one comes first.
std::string turned(Decomposition& r, size_t k, bool matrix, bool batch) {
  const auto rank = static_cast<size_t>(r.type(k).rank());
  if (rank < 2 || (!matrix && !batch)) return r.in(k);
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), int64_t{0});
  // transBatch: the first dimension of the operand is the row of its matrices.
  if (batch) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (matrix) std::swap(perm[rank - 2], perm[rank - 1]);
  std::string y = r.add("Transpose", {r.in(k)});
  r.set("perm", perm);
  return y;
}

Status fused_matmul(Decomposition& r) {
  std::string a = turned(r, 0, r.int_attr("transA", 0) != 0, r.int_attr("transBatchA", 0) != 0),
              b = turned(r, 1, r.int_attr("transB", 0) != 0, r.int_attr("transBatchB", 0) != 0);
  std::string y = r.add("MatMul", {a, b});
  if (const float alpha = r.float_attr("alpha", 1); alpha != 1)
    y = r.add("Mul", {y, r.scalar(alpha, r.in(0))});
  r.result(0, y);
  return {};
}

std::string with_bias(Decomposition& r) {
  return r.has(1) ? r.add("Add", {r.in(0), r.in(1)}) : r.in(0);
}

Status exact_gelu(Decomposition& r) {
  r.result(0, r.add("Gelu", {with_bias(r)}));
  return {};
}

Status fast_gelu(Decomposition& r) {
  std::string y = r.add("Gelu", {with_bias(r)});
  r.set("approximate", "tanh");
  r.result(0, y);
  return {};
}

}  // namespace

const std::vector<ContribOp>& contrib_fused() {
  static constexpr std::string_view kDomain = "com.microsoft";
  static const std::vector<ContribOp> ops = {
      {kDomain, "FusedConv", 2, 4, fused_conv, "Conv, Add, an activation"},
      {kDomain, "FusedGemm", 2, 3, fused_gemm, "Gemm, an activation"},
      {kDomain, "FusedMatMul", 2, 2, fused_matmul, "Transpose, MatMul, Mul"},
      {kDomain, "TransposeMatMul", 2, 2, fused_matmul, "Transpose, MatMul, Mul"},
      {kDomain, "Gelu", 1, 1, exact_gelu, "Gelu"},
      {kDomain, "BiasGelu", 2, 2, exact_gelu, "Add, Gelu"},
      {kDomain, "FastGelu", 1, 2, fast_gelu, "Add, Gelu"},
  };
  return ops;
}

}  // namespace mrvlc::onnx

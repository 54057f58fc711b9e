// Products of integers with the scales of their operands, and weights of a few bits.
#include "contrib/contrib.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {
namespace {

// (a - a_zero) (b - b_zero) scale + bias in f32; `scale` may be one a column.
std::string scaled_product(Decomposition& r, const std::vector<std::string>& operands,
                           const std::string& scale, const std::string& bias) {
  std::string y = r.add("Mul", {r.cast(r.add("MatMulInteger", operands), ElementType::F32), scale});
  return bias.empty() ? y : r.add("Add", {y, bias});
}

// Inputs: A, B, scale of A, scale of B, zero of A, zero of B, bias.
Status matmul_integer_to_float(Decomposition& r) {
  if (r.type(2).rank() > 1 || (r.type(2).rank() == 1 && r.type(2).shape[0] != 1))
    return make_diag<DiagCode::MRV0208>("the scale of A is no scalar");
  std::string scale = r.add("Mul", {r.in(2), r.in(3)});
  r.result(0, scaled_product(r, {r.in(0), r.in(1), r.in(4), r.in(5)}, scale, r.in(6)));
  return {};
}

// Inputs: A in f32, B, scale of B, zero of B, bias.
Status dynamic_quantize_matmul(Decomposition& r) {
  std::string a = r.add("DynamicQuantizeLinear", {r.in(0)}, 3);
  std::string scale = r.add("Mul", {Decomposition::also(a, 1), r.in(2)});
  r.result(0, scaled_product(r, {a, r.in(1), Decomposition::also(a, 2), r.in(3)}, scale, r.in(4)));
  return {};
}

std::string transposed_if(Decomposition& r, size_t k, std::string_view attribute) {
  if (r.int_attr(attribute, 0) == 0) return r.in(k);
  std::string y = r.add("Transpose", {r.in(k)});
  r.set("perm", std::vector<int64_t>{1, 0});
  return y;
}

// Inputs: A, its scale and zero; B, its scale and zero; C in i32; scale and zero of the result, which is f32
// without them.
Status quantized_gemm(Decomposition& r) {
  if (r.type(0).rank() != 2 || r.type(3).rank() != 2)
    return make_diag<DiagCode::MRV0205>(to_string(r.type(0)), to_string(r.type(3)), "the rank is not 2");
  std::string a = transposed_if(r, 0, "transA"), b = transposed_if(r, 3, "transB");
  std::string sum = r.add("MatMulInteger", {a, b, r.in(2), r.in(5)});
  if (r.has(6)) sum = r.add("Add", {sum, r.in(6)});
  std::string scale = r.add("Mul", {r.in(1), r.in(4)});
  if (const float alpha = r.float_attr("alpha", 1); alpha != 1)
    scale = r.add("Mul", {scale, r.scalar(alpha, r.in(1))});
  std::string y = r.add("Mul", {r.cast(sum, ElementType::F32), scale});
  r.result(0, r.has(7) ? r.add("QuantizeLinear", {y, r.in(7), r.in(8)}) : y);
  return {};
}

// Bytes of `packed` [rows, bytes] as numbers of four bits, the low one first, of `type`: [rows, numbers].
std::string nibbles(Decomposition& r, const std::string& packed, int64_t rows, int64_t numbers,
                    const std::string& like) {
  std::string sixteen = r.cast(r.constant({16}), ElementType::U8);
  std::string low = r.add("Mod", {packed, sixteen}), high = r.add("Div", {packed, sixteen});
  std::string pairs = r.add(
      "Concat", {r.add("Unsqueeze", {low, r.constant({-1})}), r.add("Unsqueeze", {high, r.constant({-1})})});
  r.set("axis", int64_t{-1});
  std::string flat = r.add("Reshape", {pairs, r.constant({rows, -1})});
  std::string cut = r.add("Slice", {flat, r.constant({0}), r.constant({numbers}), r.constant({1})});
  return r.add("CastLike", {cut, like});
}

struct BlockedWeights {
  int64_t k, n, bits, block;
  int64_t blocks() const { return k / block + (k % block != 0); }
};

Result<BlockedWeights> blocked_weights(const Decomposition& r) {
  const BlockedWeights w{r.int_attr("K", 0), r.int_attr("N", 0), r.int_attr("bits", 4),
                         r.int_attr("block_size", 0)};
  constexpr int64_t kMost = int64_t{1} << 31;
  if (w.bits != 4 && w.bits != 8)
    return make_diag<DiagCode::MRV0140>("bits", fmt::format("{} is not supported; 4 and 8 are", w.bits));
  if (w.k < 1 || w.k > kMost || w.n < 1 || w.n > kMost)
    return make_diag<DiagCode::MRV0140>("K, N", "must be positive sizes");
  if (w.block < 16 || w.block > 65536 || (w.block & (w.block - 1)) != 0)
    return make_diag<DiagCode::MRV0140>("block_size", "must be a power of two from 16 to 65536");
  return w;
}

// Zero points: none (the middle), packed like the weights, or of the type of the scales.
std::string block_zeros(Decomposition& r, const BlockedWeights& w) {
  const Shape shape{w.n, w.blocks(), 1};
  if (!r.has(3)) return r.scalar(w.bits == 4 ? 8.0f : 128.0f, r.in(2));
  if (is_float(r.type(3).elem)) return r.add("Reshape", {r.in(3), r.constant(shape)});
  if (w.bits == 8) return r.add("CastLike", {r.add("Reshape", {r.in(3), r.constant(shape)}), r.in(2)});
  std::string rows = r.add("Reshape", {r.in(3), r.constant({w.n, -1})});
  return r.add("Reshape", {nibbles(r, rows, w.n, w.blocks(), r.in(2)), r.constant(shape)});
}

// A B^T, B of blocks of few bits [N, blocks, bytes], each block with a scale and a zero point. Inputs: A, B,
// scales, zeros, group index, bias.
Status matmul_n_bits(Decomposition& r) {
  MRVLC_ASSIGN(BlockedWeights w, blocked_weights(r));
  r.int_attr("accuracy_level", 0);  // how exactly ONNX Runtime computes
  if (r.has(4)) return make_diag<DiagCode::MRV0208>("a group index is not supported");
  std::string rows = r.add("Reshape", {r.in(1), r.constant({w.n, -1})});
  std::string q =
      w.bits == 4 ? nibbles(r, rows, w.n, w.blocks() * w.block, r.in(2)) : r.add("CastLike", {rows, r.in(2)});
  q = r.add("Reshape", {q, r.constant({w.n, w.blocks(), w.block})});
  std::string scales = r.add("Reshape", {r.in(2), r.constant({w.n, w.blocks(), 1})});
  std::string full = r.add("Mul", {r.add("Sub", {q, block_zeros(r, w)}), scales});
  full = r.add("Reshape", {full, r.constant({w.n, w.blocks() * w.block})});
  full = r.add("Slice", {full, r.constant({0}), r.constant({w.k}), r.constant({1})});
  std::string b = r.add("Transpose", {r.add("CastLike", {full, r.in(0)})});
  r.set("perm", std::vector<int64_t>{1, 0});
  std::string y = r.add("MatMul", {r.in(0), b});
  r.result(0, r.has(5) ? r.add("Add", {y, r.in(5)}) : y);
  return {};
}

}  // namespace

const std::vector<ContribOp>& contrib_integer() {
  static constexpr std::string_view kDomain = "com.microsoft";
  static const std::vector<ContribOp> ops = {
      {kDomain, "MatMulIntegerToFloat", 4, 7, matmul_integer_to_float},
      {kDomain, "DynamicQuantizeMatMul", 3, 5, dynamic_quantize_matmul},
      {kDomain, "QGemm", 6, 9, quantized_gemm},
      {kDomain, "MatMulNBits", 3, 6, matmul_n_bits},
  };
  return ops;
}

}  // namespace mrvlc::onnx

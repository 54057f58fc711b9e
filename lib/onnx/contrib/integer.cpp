// Products of integers with the scales of their operands, and weights of a few bits.
#include "contrib/weights.h"
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

struct BlockedWeights {
  int64_t k, n, bits, block;
  int64_t blocks() const { return k / block + (k % block != 0); }
};

Result<BlockedWeights> blocked_weights(const Decomposition& r) {
  const BlockedWeights w{r.int_attr("K", 0), r.int_attr("N", 0), r.int_attr("bits", 4),
                         r.int_attr("block_size", 0)};
  constexpr int64_t kMost = int64_t{1} << 31;
  if (w.bits != 2 && w.bits != 4 && w.bits != 8)
    return make_diag<DiagCode::MRV0140>("bits", fmt::format("{} is not supported; 2, 4 and 8 are", w.bits));
  if (w.k < 1 || w.k > kMost || w.n < 1 || w.n > kMost)
    return make_diag<DiagCode::MRV0140>("K, N", "must be positive sizes");
  if (w.block < 16 || w.block > 65536 || (w.block & (w.block - 1)) != 0)
    return make_diag<DiagCode::MRV0140>("block_size", "must be a power of two from 16 to 65536");
  return w;
}

// Bytes of input k, one row a column of B, as numbers of the type of the scales: [N, numbers].
std::string row_numbers(Decomposition& r, const BlockedWeights& w, size_t k, int64_t numbers) {
  std::string rows = r.reshape(r.in(k), {w.n, -1});
  if (w.bits != 8) rows = r.slice(unpack_bits(r, rows, w.bits, 2), 0, numbers, 1);
  return r.add("CastLike", {rows, r.in(2)});
}

// A number a block [N, blocks] as [N, blocks, 1], or by the group index as [N, columns].
std::string by_block(Decomposition& r, const BlockedWeights& w, const std::string& x) {
  std::string numbers = r.reshape(x, {w.n, w.blocks()});
  if (!r.has(4)) return r.reshape(numbers, {w.n, w.blocks(), 1});
  std::string y = r.add("Gather", {numbers, r.in(4)});
  r.set("axis", int64_t{1});
  return y;
}

// Zero points: none (the middle), packed like the weights, or of the type of the scales.
std::string block_zeros(Decomposition& r, const BlockedWeights& w) {
  if (!r.has(3)) return r.scalar(static_cast<float>(1 << (w.bits - 1)), r.in(2));
  return by_block(r, w, is_float(r.type(3).elem) ? r.in(3) : row_numbers(r, w, 3, w.blocks()));
}

// A B^T, B of blocks of few bits [N, blocks, bytes], each block with a scale and a zero point. Inputs: A, B,
// scales, zeros, group index [columns of B], bias.
Status matmul_n_bits(Decomposition& r) {
  MRVLC_ASSIGN(BlockedWeights w, blocked_weights(r));
  r.int_attr("accuracy_level", 0);  // how exactly ONNX Runtime computes
  const int64_t padded = w.blocks() * w.block;
  std::string q = row_numbers(r, w, 1, padded);
  if (!r.has(4)) {
    q = r.reshape(q, {w.n, w.blocks(), w.block});
  } else if (r.type(4).rank() != 1 || r.type(4).is_dynamic(0) ||
             (r.type(4).shape[0] != w.k && r.type(4).shape[0] != padded)) {
    return make_diag<DiagCode::MRV0208>("the group index is not of one number a column");
  } else {
    q = r.slice(q, 0, r.type(4).shape[0], 1);
  }
  std::string scales = by_block(r, w, r.in(2));
  std::string full = r.add("Mul", {r.add("Sub", {q, block_zeros(r, w)}), scales});
  full = r.slice(r.reshape(full, {w.n, -1}), 0, w.k, 1);
  std::string b = r.transpose(r.add("CastLike", {full, r.in(0)}), {1, 0});
  std::string y = r.add("MatMul", {r.in(0), b});
  r.result(0, r.has(5) ? r.add("Add", {y, r.in(5)}) : y);
  return {};
}

}  // namespace

const std::vector<ContribOp>& contrib_integer() {
  static constexpr std::string_view kDomain = "com.microsoft";
  static const std::vector<ContribOp> ops = {
      {kDomain, "MatMulIntegerToFloat", 4, 7, matmul_integer_to_float, "MatMulInteger, Mul, Add"},
      {kDomain, "DynamicQuantizeMatMul", 3, 5, dynamic_quantize_matmul,
       "DynamicQuantizeLinear, MatMulInteger, Mul, Add"},
      {kDomain, "QGemm", 6, 9, quantized_gemm, "MatMulInteger, Add, Mul, QuantizeLinear"},
      {kDomain, "MatMulNBits", 3, 6, matmul_n_bits, "the weights in floats, MatMul, Add"},
  };
  return ops;
}

}  // namespace mrvlc::onnx

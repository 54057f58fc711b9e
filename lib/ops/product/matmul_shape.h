// Shape rules of MatMul (numpy.matmul): leading dimensions broadcast, a vector operand is a row or a column
// whose dimension is dropped from the result.
#pragma once
#include "common/dims.h"

namespace mrvlc::ops {

struct MatMulShape {
  int64_t m = 0, n = 0, k = 0, batches = 1;
  Shape result;
  Shape batch_dims, a_strides, b_strides;  // of the leading dimensions, in matrices

  int64_t a_matrix(int64_t batch) const { return offset(batch, a_strides); }
  int64_t b_matrix(int64_t batch) const { return offset(batch, b_strides); }

 private:
  int64_t offset(int64_t batch, const Shape& strides) const;
};

Result<MatMulShape> matmul_shape(const InferContext& context);

// The same as C text, for operands `a` and `b`: numbers, or the names of constants `m`, `n` and `depth`.
// Checks what is known at run time only, and sets the dimensions of the result.
struct MatMulText {
  std::string m, n, k;
  Texts batch, a_strides, b_strides;  // of the leading dimensions, in matrices
  explicit MatMulText(EmitContext& context, size_t a = 0, size_t b = 1);
  // Loops g0, g1... over the leading dimensions.
  void open_batches(EmitContext& context) const;
  void close_batches(EmitContext& context) const;
  // Number of the matrix of an operand with these strides.
  std::string matrix(const Texts& strides) const;
  std::string result_matrix() const;
};
}  // namespace mrvlc::ops

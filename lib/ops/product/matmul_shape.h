// Shape rules of MatMul (numpy.matmul): leading dimensions broadcast, a vector operand is a row or a column
// whose dimension is dropped from the result.
#pragma once
#include "mrvlc/ops/op.h"

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

}  // namespace mrvlc::ops

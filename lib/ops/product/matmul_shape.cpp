#include "product/matmul_shape.h"

#include "common/infer_util.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {

int64_t MatMulShape::offset(int64_t batch, const Shape& strides) const {
  int64_t sum = 0;
  for (size_t d = batch_dims.size(); d-- > 0;) {
    sum += batch % batch_dims[d] * strides[d];
    batch /= batch_dims[d];
  }
  return sum;
}

Result<MatMulShape> matmul_shape(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_rank(context, 1, 1));
  Shape a = context.type(0).shape, b = context.type(1).shape;
  bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  MatMulShape s;
  s.m = a[a.size() - 2];
  s.k = a.back();
  s.n = b.back();
  Shape a_batch(a.begin(), a.end() - 2), b_batch(b.begin(), b.end() - 2);
  auto batch = broadcast_shapes(a_batch, b_batch);
  if (b[b.size() - 2] != s.k || !batch) {
    return make_diag<DiagCode::MRV0205>(
        to_string(context.type(0).shape), to_string(context.type(1).shape),
        batch ? "the inner dimensions differ" : "the leading dimensions do not broadcast");
  }
  auto batches = checked_product(*batch);
  if (!batches || *batches > kMaxElements) return too_large();
  s.batches = *batches;
  s.batch_dims = *batch;
  s.a_strides = broadcast_strides(a_batch, *batch);
  s.b_strides = broadcast_strides(b_batch, *batch);
  s.result = *batch;
  if (!row) s.result.push_back(s.m);
  if (!column) s.result.push_back(s.n);
  return s;
}

}  // namespace mrvlc::ops

// m, n, k, and strides over broadcast batches, as numbers for static shapes and as C text for dynamic ones.
#include "product/matmul_shape.h"

#include <algorithm>

#include "common/lanes.h"
#include "elementwise/elementwise.h"
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

namespace {

// Dimension d of the result of operands that broadcast; their leading dimensions end with [size - d].
std::string broadcast_text(EmitContext& c, const Texts& a, const Texts& b, size_t from_end) {
  const std::string x = from_end <= a.size() ? a[a.size() - from_end] : "1",
                    y = from_end <= b.size() ? b[b.size() - from_end] : "1";
  if (x == y || y == "1") return x;
  return x == "1" ? y : fmt::format("{}({}, {})", c.helper("dynamic_both"), x, y);
}

}  // namespace

MatMulText::MatMulText(EmitContext& c, size_t a_at, size_t b_at) {
  Texts a = in_dims(c, a_at), b = in_dims(c, b_at), result;
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), "1");
  if (column) b.push_back("1");
  require_equal(c, a.back(), b[b.size() - 2]);
  m = named_size(c, "m", a[a.size() - 2]);
  n = named_size(c, "n", b.back());
  k = named_size(c, "depth", a.back());
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  for (size_t d = std::max(a.size(), b.size()); d > 0; --d) result.push_back(broadcast_text(c, a, b, d));
  const size_t rank = result.size();
  if (!row) result.push_back(m);
  if (!column) result.push_back(n);
  c.set_dims(0, result);
  for (size_t d = 0; d < rank; ++d) batch.push_back(dim_text(c.out_dim(0, static_cast<int64_t>(d))));
  a_strides = broadcast_steps(c, a, batch);
  b_strides = broadcast_steps(c, b, batch);
}

void MatMulText::open_batches(EmitContext& c) const {
  for (size_t d = 0; d < batch.size(); ++d) open_loop(c, fmt::format("g{}", d), batch[d]);
}

void MatMulText::close_batches(EmitContext& c) const {
  for (size_t d = 0; d < batch.size(); ++d) c.close();
}

std::string MatMulText::matrix(const Texts& strides) const {
  std::string text = "0";
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] != "0") text += fmt::format(" + g{} * {}", d, strides[d]);
  }
  return text;
}

std::string MatMulText::result_matrix() const {
  Texts strides;
  for (size_t d = 0; d < batch.size(); ++d) strides.push_back(size_product(batch, d + 1, batch.size()));
  return matrix(strides);
}

}  // namespace mrvlc::ops

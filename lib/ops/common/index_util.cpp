#include "common/index_util.h"

#include <algorithm>

#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

Diag outside(int64_t index, int64_t dim) {
  return bad_operands(fmt::format("index {} is out of range for a dimension of {}", index, dim));
}

}  // namespace

Result<std::vector<int64_t>> read_indices(const Tensor& indices, int64_t dim) {
  std::vector<int64_t> out = indices.to_ints();
  for (int64_t& i : out) {
    if (i < -dim || i >= dim) return outside(i, dim);
    if (i < 0) i += dim;
  }
  return out;
}

void emit_index(EmitContext& context, std::string_view name, std::string_view expression, int64_t dim) {
  context.line(fmt::format("ptrdiff_t {} = (ptrdiff_t){};", name, expression));
  context.line(fmt::format("if ({0} < 0) {0} += {1};", name, dim));
  context.line(fmt::format("{0} = {0} < 0 ? 0 : {0} < {1} ? {0} : {2};", name, dim, dim - 1));
}

Result<AlongAxis> along_axis(const InferContext& context) {
  const Shape &x = context.type(0).shape, &indices = context.type(1).shape;
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_rank(context, 1, context.type(0).rank(), context.type(0).rank()));
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), context.type(0).rank()));
  AlongAxis a{at(axis), x[at(axis)], 0, indices, row_major_strides(x)};
  for (size_t d = 0; d < x.size(); ++d) {
    if (d != a.axis && indices[d] > x[d]) {
      return make_diag<DiagCode::MRV0205>(to_string(x), to_string(indices),
                                          fmt::format("dimension {} is exceeded", d));
    }
  }
  std::swap(a.stride, a.strides[a.axis]);
  return a;
}

void AlongAxis::dynamic_loops(EmitContext& context) const {
  Shape own = row_major_strides(sizes);
  std::string n, base;
  for (size_t d = 0; d < sizes.size(); ++d) {
    context.loop(fmt::format("i{}", d), sizes[d]);
    n += fmt::format("{}i{} * {}", d == 0 ? "" : " + ", d, own[d]);
    base += fmt::format("{}i{} * {}", d == 0 ? "" : " + ", d, strides[d]);
  }
  context.line(fmt::format("const ptrdiff_t n = {};", n));
  context.line(fmt::format("const ptrdiff_t base = {};", base));
}

void AlongAxis::close_loops(EmitContext& context) const {
  for (size_t d = 0; d < sizes.size(); ++d) context.close();
}

Result<TupleIndices> tuple_indices(const InferContext& context, int64_t batch_dims) {
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_rank(context, 1, 1));
  MRVLC_TRY(check_elem(context, 1, spec::kIndices));
  const Shape &x = context.type(0).shape, &indices = context.type(1).shape;
  int64_t rank = context.type(0).rank(), q = context.type(1).rank();
  if (batch_dims < 0 || batch_dims >= std::min(rank, q))
    return bad_attr("batch_dims", fmt::format("is {}", batch_dims));
  TupleIndices t;
  t.tuple = indices.back();
  if (t.tuple < 1 || t.tuple > rank - batch_dims) {
    return bad_operands(fmt::format("tuples of {} positions into {} dimensions", t.tuple, rank - batch_dims));
  }
  auto b = static_cast<ptrdiff_t>(batch_dims), past = static_cast<ptrdiff_t>(batch_dims + t.tuple);
  if (!std::equal(x.begin(), x.begin() + b, indices.begin())) {
    return make_diag<DiagCode::MRV0205>(to_string(x), to_string(indices), "the batch dimensions differ");
  }
  Shape strides = row_major_strides(x);
  t.batches = element_count(Shape(x.begin(), x.begin() + b));
  t.per_batch = element_count(Shape(indices.begin() + b, indices.end() - 1));
  t.batch_stride = element_count(Shape(x.begin() + b, x.end()));
  t.slice = element_count(Shape(x.begin() + past, x.end()));
  t.dims.assign(x.begin() + b, x.begin() + past);
  t.strides.assign(strides.begin() + b, strides.begin() + past);
  t.result.assign(indices.begin(), indices.end() - 1);
  t.result.insert(t.result.end(), x.begin() + past, x.end());
  for (int64_t dim : t.dims) {
    if (dim == 0 && t.batches * t.per_batch > 0)
      return bad_operands("nothing can be indexed in an empty dimension");
  }
  return t;
}

Result<std::vector<int64_t>> TupleIndices::offsets(const Tensor& indices) const {
  std::vector<int64_t> out;
  for (int64_t n = 0; n < batches * per_batch; ++n) {
    int64_t offset = n / per_batch * batch_stride;
    for (size_t j = 0; j < dims.size(); ++j) {
      int64_t i = indices.as_int(n * tuple + static_cast<int64_t>(j));
      if (i < -dims[j] || i >= dims[j]) return outside(i, dims[j]);
      offset += (i < 0 ? i + dims[j] : i) * strides[j];
    }
    out.push_back(offset);
  }
  return out;
}

void TupleIndices::dynamic_loops(EmitContext& context, std::string_view indices) const {
  context.loop("n", batches * per_batch);
  context.line(fmt::format("ptrdiff_t at = n / {} * {};", per_batch, batch_stride));
  for (size_t j = 0; j < dims.size(); ++j) {
    std::string name = fmt::format("i{}", j);
    emit_index(context, name, fmt::format("{}[n * {} + {}]", indices, tuple, j), dims[j]);
    context.line(fmt::format("at += {} * {};", name, strides[j]));
  }
}

void TupleIndices::close_loops(EmitContext& context) const {
  context.close();
}

}  // namespace mrvlc::ops

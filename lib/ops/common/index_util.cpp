// Checks of indices and addresses of gathers and scatters, along an axis or by tuples (the ND forms).
#include "common/index_util.h"

#include <algorithm>

#include "common/dims.h"
#include "common/lanes.h"
#include "mrvlc/ops/run_time_shapes.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

Diag outside(int64_t index, int64_t dim) {
  return bad_operands(fmt::format("index {} is out of range for a dimension of {}", index, dim));
}

// Position j of every tuple.
ElementRange tuple_range(const TensorType& indices, int64_t j, int64_t dim) {
  const int64_t tuple = indices.shape.back();
  return {1, tuple == 0 ? 0 : indices.elements() / tuple, -dim, dim - 1, j, tuple};
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

ElementRange index_range(const InferContext& context, size_t input, int64_t dim) {
  return {input, context.type(input).elements(), -dim, dim - 1};
}

Status check_known(const InferContext& context, const ElementRange& range) {
  const Tensor* known = context.constant(range.input);
  if (known == nullptr) return {};
  for (int64_t i = 0; i < range.count; ++i) {
    const int64_t v = known->as_int(range.first + i * range.step);
    if ((v >= range.low && v <= range.high) || v == range.but) continue;
    if (range.low < 0) return outside(v, range.high + 1);
    return bad_operands(
        fmt::format("input {} holds {}, outside {} to {}", range.input, v, range.low, range.high));
  }
  return {};
}

Status check_known_indices(const InferContext& context, size_t input, Dim dim) {
  if (dim.dynamic || context.constant(input) == nullptr) return {};
  return check_known(context, index_range(context, input, dim.bound));
}

Result<RangeCheck> require_range(EmitContext& context, const ElementRange& range) {
  MRVLC_TRY(check_known(emit_view(context), range));
  const bool before = context.constant(range.input) != nullptr || context.check_elements(range);
  return before ? RangeCheck::Before : RangeCheck::None;
}

Result<RangeCheck> require_indices(EmitContext& context, size_t input, const std::string& dim) {
  if (!is_number(dim)) return RangeCheck::None;
  return require_range(context, index_range(emit_view(context), input, std::stoll(dim)));
}

Result<RangeCheck> require_each(EmitContext& context, const ElementRange& range) {
  MRVLC_TRY(check_known(emit_view(context), range));
  return context.constant(range.input) != nullptr ? RangeCheck::Before : RangeCheck::Each;
}

Result<RangeCheck> require_each_index(EmitContext& context, size_t input, const std::string& dim) {
  if (!is_number(dim)) return RangeCheck::None;
  return require_each(context, index_range(emit_view(context), input, std::stoll(dim)));
}

void emit_index(EmitContext& context, std::string_view name, std::string_view expression,
                const std::string& dim, RangeCheck check) {
  if (is_dynamic(context)) {
    context.line(fmt::format("const ptrdiff_t {} = (ptrdiff_t){}({}, {});", name,
                             context.helper("dynamic_axis"), expression, dim));
    context.fail_if(fmt::format("{} < 0", name));
    return;
  }
  // Before it is made a ptrdiff_t, which may have fewer bits.
  auto* values = dynamic_cast<RunTimeShapes*>(&context);
  if (check == RangeCheck::Each &&
      (values == nullptr || !values->fail_on_value(fmt::format("{0} < -{1} || {0} >= {1}", expression, dim))))
    check = RangeCheck::None;
  context.line(check != RangeCheck::None
                   ? fmt::format("ptrdiff_t {} = (ptrdiff_t){};", name, expression)
                   : fmt::format("ptrdiff_t {0} = (ptrdiff_t)({1} < -{2} ? -{2} : {1} < {2} ? {1} : {3});",
                                 name, expression, dim, plus(dim, -1)));
  context.line(fmt::format("if ({0} < 0) {0} += {1};", name, dim));
}

Result<AlongAxis> along_axis(const InferContext& context) {
  const Shape &x = context.type(0).shape, &indices = context.type(1).shape;
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), context.type(0).rank()));
  AlongAxis a{at(axis), x[at(axis)], 0, indices, row_major_strides(x)};
  std::swap(a.stride, a.strides[a.axis]);
  return a;
}

Status check_along_axis(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_rank(context, 1, context.type(0).rank(), context.type(0).rank()));
  MRVLC_TRY(check_elem(context, 1, spec::kIndices));
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), context.type(0).rank()));
  const Dims x = dims_of(context.type(0)), indices = dims_of(context.type(1));
  for (size_t d = 0; d < x.size(); ++d) {
    if (d != at(axis) && !x[d].dynamic && !indices[d].dynamic && indices[d].bound > x[d].bound) {
      return make_diag<DiagCode::MRV0205>(to_string(context.type(0)), to_string(context.type(1)),
                                          fmt::format("dimension {} is exceeded", d));
    }
  }
  MRVLC_TRY(check_known_indices(context, 1, x[at(axis)]));
  if (is_empty(x[at(axis)]) && context.type(1).is_static() && context.type(1).elements() > 0)
    return bad_operands("nothing is at an index of an empty dimension");
  return {};
}

Result<std::string> open_along_axis(EmitContext& context) {
  const Texts x = in_sizes(context, 0), indices = in_sizes(context, 1);
  const int64_t given = context.node().int_attr("axis"), rank = context.in_type(0).rank();
  const size_t axis = at(given < 0 ? given + rank : given);
  std::string n, base, stride;
  MRVLC_ASSIGN(const RangeCheck check, require_each_index(context, 1, x[axis]));
  for (size_t d = 0; d < x.size(); ++d) {
    if (d != axis && x[d] != indices[d]) context.fail_if(fmt::format("{} > {}", indices[d], x[d]));
  }
  for (size_t d = 0; d < x.size(); ++d) {
    open_loop(context, fmt::format("i{}", d), indices[d]);
    const std::string step = size_product(x, d + 1, x.size());
    if (d == axis) stride = step;
    n += fmt::format("{}i{} * {}", d == 0 ? "" : " + ", d, size_product(indices, d + 1, x.size()));
    base += fmt::format("{}i{} * {}", d == 0 ? "" : " + ", d, d == axis ? "0" : step);
  }
  context.line(fmt::format("const ptrdiff_t n = {};", n));
  context.line(fmt::format("const ptrdiff_t base = {};", base));
  emit_index(context, "at", fmt::format("{}[n]", context.in(1)), x[axis], check);
  return fmt::format("base + at * {}", stride);
}

void close_along_axis(EmitContext& context) {
  for (int64_t d = 0; d < context.in_type(0).rank(); ++d) context.close();
}

TupleIndices tuple_indices(const InferContext& context, int64_t batch_dims) {
  const Shape &x = context.type(0).shape, &indices = context.type(1).shape;
  TupleIndices t;
  t.tuple = indices.back();
  auto b = static_cast<ptrdiff_t>(batch_dims), past = static_cast<ptrdiff_t>(batch_dims + t.tuple);
  Shape strides = row_major_strides(x);
  t.batches = element_count(Shape(x.begin(), x.begin() + b));
  t.per_batch = element_count(Shape(indices.begin() + b, indices.end() - 1));
  t.batch_stride = element_count(Shape(x.begin() + b, x.end()));
  t.slice = element_count(Shape(x.begin() + past, x.end()));
  t.dims.assign(x.begin() + b, x.begin() + past);
  t.strides.assign(strides.begin() + b, strides.begin() + past);
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

Result<Dims> selected_dims(const InferContext& context, int64_t batch_dims) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_rank(context, 1, 1));
  MRVLC_TRY(check_elem(context, 1, spec::kIndices));
  int64_t rank = context.type(0).rank(), q = context.type(1).rank();
  if (batch_dims < 0 || batch_dims >= std::min(rank, q))
    return bad_attr("batch_dims", fmt::format("is {}", batch_dims));
  Dims x = dims_of(context.type(0)), dims = dims_of(context.type(1));
  Dim tuple = dims.back();
  dims.pop_back();
  if (tuple.dynamic) return make_diag<DiagCode::MRV0207>("1 (indices: its last dimension)");
  if (tuple.bound < 1 || tuple.bound > rank - batch_dims)
    return bad_operands(
        fmt::format("tuples of {} positions into {} dimensions", tuple.bound, rank - batch_dims));
  for (size_t d = 0; d < at(batch_dims); ++d) {
    if (!x[d].dynamic && !dims[d].dynamic && x[d].bound != dims[d].bound)
      return make_diag<DiagCode::MRV0205>(to_string(context.type(0)), to_string(context.type(1)),
                                          "the batch dimensions differ");
    dims[d] = equal_dim(x[d], dims[d]);
  }
  const Dim tuples = product(dims);
  for (size_t d = at(batch_dims); d < at(batch_dims + tuple.bound); ++d) {
    if (is_empty(x[d]) && !tuples.dynamic && tuples.bound > 0)
      return bad_operands("nothing can be indexed in an empty dimension");
  }
  for (int64_t j = 0; j < tuple.bound && context.type(1).is_static(); ++j) {
    const Dim dim = x[at(batch_dims + j)];
    if (!dim.dynamic) MRVLC_TRY(check_known(context, tuple_range(context.type(1), j, dim.bound)));
  }
  dims.insert(dims.end(), x.begin() + batch_dims + tuple.bound, x.end());
  return dims;
}

Texts selected_texts(const EmitContext& context, int64_t batch_dims) {
  Texts x = in_dims(context, 0), dims = in_dims(context, 1);
  const int64_t tuple = context.in_type(1).shape.back();
  dims.pop_back();
  dims.insert(dims.end(), x.begin() + batch_dims + tuple, x.end());
  return dims;
}

Status require_tuples(EmitContext& context, int64_t batch_dims) {
  const Texts x = in_dims(context, 0);
  for (size_t j = 0; j < at(context.in_type(1).shape.back()); ++j) {
    const std::string& dim = x[at(batch_dims) + j];
    if (!is_number(dim)) continue;
    MRVLC_TRY(
        require_range(context, tuple_range(context.in_type(1), static_cast<int64_t>(j), std::stoll(dim))));
  }
  return {};
}

Result<std::string> open_tuples(EmitContext& context, int64_t batch_dims) {
  const Texts x = in_sizes(context, 0), indices = in_sizes(context, 1);
  const size_t batch = at(batch_dims), tuple = at(context.in_type(1).shape.back());
  for (size_t d = 0; d < batch; ++d) require_equal(context, x[d], indices[d]);
  open_loop(context, "n", size_product(indices, 0, indices.size() - 1));
  context.line(fmt::format("ptrdiff_t at = n / {} * {};", size_product(indices, batch, indices.size() - 1),
                           size_product(x, batch, x.size())));
  for (size_t j = 0; j < tuple; ++j) {
    const std::string name = fmt::format("i{}", j), &dim = x[batch + j];
    RangeCheck check = RangeCheck::None;
    if (is_number(dim)) {
      const ElementRange range = tuple_range(context.in_type(1), static_cast<int64_t>(j), std::stoll(dim));
      MRVLC_ASSIGN(check, require_each(context, range));
    }
    emit_index(context, name, fmt::format("{}[n * {} + {}]", context.in(1), tuple, j), dim, check);
    context.line(fmt::format("at += {} * {};", name, size_product(x, batch + j + 1, x.size())));
  }
  return size_product(x, batch + tuple, x.size());
}

}  // namespace mrvlc::ops

// Gather, GatherElements, GatherND and OneHot of shapes that are known at run time only. An index out of
// range is an error.
#include "movement/index_dynamic.h"

#include <utility>

#include "common/dynamic_facets.h"
#include "common/element_bytes.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {

void emit_checked_index(EmitContext& context, std::string_view name, std::string_view expression,
                        std::string_view dim) {
  context.line(
      fmt::format("const int64_t {} = {}({}, {});", name, context.helper("dynamic_axis"), expression, dim));
  context.fail_if(fmt::format("{} < 0", name));
}

namespace {

Result<size_t> axis_of(const InferContext& context, int64_t rank) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), rank));
  return at(axis);
}

size_t axis_of(const EmitContext& context, int64_t rank) {
  int64_t axis = context.node().int_attr("axis");
  return at(axis < 0 ? axis + rank : axis);
}

}  // namespace

// -- Gather

DynamicTypes infer_dynamic_gather(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_elem(context, 1, spec::kIndices));
  const TensorType &x = context.type(0), &indices = context.type(1);
  MRVLC_ASSIGN(size_t axis, axis_of(context, x.rank()));
  Dims dims = dims_of(x), middle = dims_of(indices);
  dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), middle.begin(), middle.end());
  return one_type(x.elem, dims, all_pairs(x.elements(), indices.elements()));
}

Status emit_dynamic_gather(EmitContext& context) {
  Texts x = in_dims(context, 0), indices = in_dims(context, 1), dims = x;
  size_t axis = axis_of(context, context.in_type(0).rank());
  dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), indices.begin(), indices.end());
  context.set_dims(0, dims);
  context.line(
      fmt::format("const int64_t outer = {}, count = {};", product_text(x, 0, axis), product_text(indices)));
  context.line(fmt::format("const int64_t width = {} * {};", product_text(x, axis + 1, x.size()),
                           element_bytes(context.in_type(0).elem)));
  context.open("for (int64_t i = 0; i < count; ++i)");
  emit_checked_index(context, "at", context.in(1) + "[i]", x[axis]);
  context.line(
      fmt::format("{}((char*){} + i * width, count * width, (const char*){} + at * width, {} * width, outer, "
                  "width);",
                  context.helper("dynamic_rows"), context.out(0), context.in(0), x[axis]));
  context.close();
  return {};
}

// -- GatherElements

Status check_along_axis(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_rank(context, 1, context.type(0).rank(), context.type(0).rank()));
  MRVLC_TRY(check_elem(context, 1, spec::kIndices));
  MRVLC_ASSIGN(size_t axis, axis_of(context, context.type(0).rank()));
  Dims x = dims_of(context.type(0)), indices = dims_of(context.type(1));
  for (size_t d = 0; d < x.size(); ++d) {
    if (d != axis && !x[d].dynamic && !indices[d].dynamic && indices[d].bound > x[d].bound) {
      return make_diag<DiagCode::MRV0205>(to_string(context.type(0)), to_string(context.type(1)),
                                          fmt::format("dimension {} is exceeded", d));
    }
  }
  return {};
}

void dynamic_along_axis(EmitContext& context) {
  Texts x = in_dims(context, 0), indices = in_dims(context, 1);
  size_t axis = axis_of(context, context.in_type(0).rank());
  for (size_t d = 0; d < x.size(); ++d) {
    if (d != axis && x[d] != indices[d]) context.fail_if(fmt::format("{} > {}", indices[d], x[d]));
  }
  Texts strides = stride_texts(x);
  std::string stride = std::exchange(strides[axis], "0");
  declare_list(context, "idim", indices);
  declare_list(context, "s", strides);
  context.line(fmt::format("const int64_t count = {};", product_text(indices)));
  context.open("for (int64_t n = 0; n < count; ++n)");
  emit_checked_index(context, "index", context.in(1) + "[n]", x[axis]);
  context.line(fmt::format("const int64_t at = index * {} + {}(n, {}, idim, s);",
                           stride.find(' ') == std::string::npos ? stride : "(" + stride + ")",
                           context.helper("dynamic_offset"), x.size()));
}

DynamicTypes infer_dynamic_gather_elements(const InferContext& context) {
  MRVLC_TRY(check_along_axis(context));
  TensorType type = context.type(1).with_elem(context.type(0).elem);
  return std::vector<TensorType>{type};
}

Status emit_dynamic_gather_elements(EmitContext& context) {
  context.set_dims(0, in_dims(context, 1));
  dynamic_along_axis(context);
  context.line(fmt::format("{}[n] = {}[at];", context.out(0), context.in(0)));
  context.close();
  return {};
}

// -- GatherND

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
  dims.insert(dims.end(), x.begin() + batch_dims + tuple.bound, x.end());
  return dims;
}

Texts selected_texts(const EmitContext& context, int64_t batch_dims) {
  Texts x = in_dims(context, 0), dims = in_dims(context, 1);
  int64_t tuple = context.in_type(1).shape.back();
  dims.pop_back();
  dims.insert(dims.end(), x.begin() + batch_dims + tuple, x.end());
  return dims;
}

void dynamic_tuples(EmitContext& context, int64_t batch_dims) {
  Texts x = in_dims(context, 0), indices = in_dims(context, 1), strides = stride_texts(x);
  size_t batch = at(batch_dims), tuple = at(context.in_type(1).shape.back());
  for (size_t d = 0; d < batch; ++d) require_equal(context, x[d], indices[d]);
  context.line(fmt::format("const int64_t slice = {}, count = {};", product_text(x, batch + tuple, x.size()),
                           product_text(indices, 0, indices.size() - 1)));
  if (batch > 0) {
    context.line(
        fmt::format("const int64_t per_batch = {};", product_text(indices, batch, indices.size() - 1)));
    context.line(fmt::format("const int64_t batch_stride = {};", product_text(x, batch, x.size())));
  }
  context.open("for (int64_t n = 0; n < count; ++n)");
  context.line(fmt::format("int64_t at = {};", batch > 0 ? "n / per_batch * batch_stride" : "0"));
  for (size_t j = 0; j < tuple; ++j) {
    std::string name = fmt::format("i{}", j);
    emit_checked_index(context, name, fmt::format("{}[n * {} + {}]", context.in(1), tuple, j), x[batch + j]);
    context.line(fmt::format("at += {};", product_text({name, strides[batch + j]})));
  }
}

DynamicTypes infer_dynamic_gather_nd(const InferContext& context) {
  MRVLC_ASSIGN(Dims dims, selected_dims(context, context.int_attr("batch_dims")));
  return one_type(context.type(0).elem, dims,
                  all_pairs(context.type(0).elements(), context.type(1).elements()));
}

Status emit_dynamic_gather_nd(EmitContext& context) {
  int64_t batch_dims = context.node().int_attr("batch_dims");
  context.set_dims(0, selected_texts(context, batch_dims));
  dynamic_tuples(context, batch_dims);
  std::string copy = fmt::format("memcpy({} + n * slice, {} + at, (size_t)slice * {});", context.out(0),
                                 context.in(0), element_bytes(context.in_type(0).elem));
  context.line("if (slice > 0) " + copy);
  context.close();
  return {};
}

// -- OneHot

DynamicTypes infer_dynamic_one_hot(const InferContext& context) {
  const TensorType &x = context.type(0), &depth = context.type(1), &values = context.type(2);
  MRVLC_TRY(check_elem(context, 2, spec::kFixedSize));
  MRVLC_ASSIGN(size_t axis, axis_of(context, x.rank() + 1));
  if (!depth.is_static() || depth.elements() != 1) return bad_operands("the depth must be one number");
  if (!values.is_static() || values.shape != Shape{2}) return bad_operands("values must be two elements");
  Dim size = kAnyDim;
  if (context.constant(1) != nullptr) {
    MRVLC_ASSIGN(double known, known_number(context, 1, "depth"));
    if (!(known >= 0) || known > static_cast<double>(kMaxElements))
      return bad_operands(fmt::format("a depth of {}", known));
    size = {static_cast<int64_t>(known), false};
  }
  Dims dims = dims_of(x);
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), size);
  return one_type(values.elem, dims, size.dynamic ? kNoBound : all_pairs(x.elements(), size.bound));
}

Status emit_dynamic_one_hot(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_TRY(require_widened(context, 1));
  Texts x = in_dims(context, 0), dims = x;
  size_t axis = axis_of(context, context.in_type(0).rank() + 1);
  std::string y = context.out(0), values = context.in(2), depth = context.in(1) + "[0]";
  std::string_view wide = is_float(context.in_type(0).elem) ? "double" : "int64_t";
  std::string low = is_float(context.in_type(1).elem) || is_signed_integer(context.in_type(1).elem)
                        ? fmt::format("!({} >= 0) || ", depth)
                        : std::string();
  context.fail_if(fmt::format("{}(double){} > {}.0", low, depth, kMaxElements));
  context.line(fmt::format("const int64_t depth = (int64_t){};", depth));
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), "depth");
  context.set_dims(0, dims);
  context.line(
      fmt::format("const int64_t inner = {}, count = {};", product_text(x, axis, x.size()), product_text(x)));
  context.line(fmt::format("{}({}, {}, depth * count, {});", context.helper("dynamic_fill"), y, values,
                           byte_size(context.in_type(2).elem)));
  context.open("for (int64_t i = 0; i < count; ++i)");
  context.line(fmt::format("const {0} v = ({0}){1}[i];", wide, context.in(0)));
  context.open(fmt::format("if (v >= ({0})-depth && v < ({0})depth)", wide));
  context.line("const int64_t k = v < 0 ? (int64_t)v + depth : (int64_t)v;");
  context.line(fmt::format("{}[(i / inner * depth + k % depth) * inner + i % inner] = {}[1];", y, values));
  context.close();
  context.close();
  return {};
}

}  // namespace mrvlc::ops

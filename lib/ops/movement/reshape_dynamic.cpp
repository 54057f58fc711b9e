// Reshape, Flatten, Squeeze and Unsqueeze of shapes that are known at run time only.
#include <algorithm>

#include "common/dynamic_facets.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

// The same elements; of shapes known at run time only, `dims` are worked out in front of them.
Status emit_reshaped(EmitContext& context, Texts (*dims)(EmitContext&)) {
  if (is_dynamic(context)) context.set_dims(0, dims(context));
  emit_same_elements(context);
  return {};
}

// Every dimension is dynamic, at most the number of elements.
DynamicTypes any_shape(const TensorType& x, int64_t rank) {
  if (rank > kMaxRank) return bad_operands(fmt::format("the shape has {} entries", rank));
  // What is empty can be 3x0 as well as 0x7000.
  Dims dims(at(rank), x.elements() == 0 ? kAnyDim : Dim{x.elements(), true});
  // A vector has as many elements as there are; only an empty shape can be empty in several ways.
  if (rank == 1) dims[0] = {x.elements(), !x.is_static()};
  return one_type(x.elem, dims, x.elements());
}

// What -1 stands for: the elements that the other entries leave. Dimensions of the input that the shape keeps
// cancel.
Dim left_over(const TensorType& x, const std::vector<int64_t>& shape, const std::vector<bool>& kept) {
  int64_t known = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 0) known = checked_mul(known, shape[d]).value_or(kMaxElements);
  }
  Dims rest;
  Dims own = dims_of(x);
  for (size_t d = 0; d < own.size(); ++d) {
    if (d >= kept.size() || !kept[d]) rest.push_back(own[d]);
  }
  Dim all = product(rest);
  if (all.dynamic && (all.bound == kNoBound || all.bound > x.elements())) all.bound = x.elements();
  return {all.bound / known, all.dynamic || all.bound % known != 0};
}

}  // namespace

DynamicTypes infer_dynamic_reshape(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  const TensorType& x = context.type(0);
  MRVLC_ASSIGN(int64_t rank, known_length(context, 1, "shape"));
  if (context.constant(1) == nullptr) return any_shape(x, rank);
  MRVLC_ASSIGN(auto shape, known_ints(context, 1, "shape", kMaxRank));
  bool zero_means_zero = context.int_attr("allowzero") != 0;
  Dims own = dims_of(x), dims(shape.size());
  std::vector<bool> kept(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < -1) return bad_operands(fmt::format("the shape has the entry {}", shape[d]));
    kept[d] = shape[d] == 0 && !zero_means_zero;
    if (kept[d] && d >= own.size())
      return bad_operands(fmt::format("entry {} of the shape is 0, but the input has rank {}", d, x.rank()));
    dims[d] = kept[d] ? own[d] : Dim{shape[d], false};
  }
  if (std::count(shape.begin(), shape.end(), -1) > 1) return bad_operands("the shape has more than one -1");
  Dim entries = product(dims);
  if (!entries.dynamic && std::count(shape.begin(), shape.end(), -1) == 0 && entries.bound > x.elements())
    return bad_operands(fmt::format("{} elements do not fill {}", x.elements(), to_string(Shape(shape))));
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == -1) dims[d] = left_over(x, shape, kept);
  }
  return one_type(x.elem, dims, x.elements());
}

namespace {

// The dimensions that input 1 says, of which one may be -1.
Texts shape_asked(EmitContext& context) {
  const int64_t rank = context.out_type(0).rank();
  const Texts dims = in_dims(context, 0);
  if (rank == 0) {
    require_equal(context, product_text(dims), "1");
    return {};
  }
  declare_list(context, "dim", dims);
  context.line(fmt::format("int64_t n[{}];", rank));
  context.line(fmt::format("for (int d = 0; d < {}; ++d) n[d] = {}[d];", rank, context.in(1)));
  context.fail_if(fmt::format("{}({}, n, {}, dim, {}, {})", context.helper("dynamic_reshape"), rank,
                              dims.size(), product_text(dims),
                              context.node().int_attr("allowzero") != 0 ? 1 : 0));
  return elements_of("n", rank);
}

}  // namespace

Status emit_reshape(EmitContext& context) {
  return emit_reshaped(context, shape_asked);
}

DynamicTypes infer_dynamic_flatten(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  const TensorType& x = context.type(0);
  int64_t axis = context.int_attr("axis"), rank = x.rank();
  if (axis < -rank || axis > rank) return make_diag<DiagCode::MRV0206>(axis, rank);
  Dims dims = dims_of(x);
  auto middle = dims.begin() + (axis < 0 ? axis + rank : axis);
  return one_type(x.elem, Dims{product({dims.begin(), middle}), product({middle, dims.end()})}, x.elements());
}

Status emit_flatten(EmitContext& context) {
  return emit_reshaped(context, [](EmitContext& c) -> Texts {
    const Texts dims = in_dims(c, 0);
    const int64_t axis = c.node().int_attr("axis");
    const size_t middle = axis < 0 ? dims.size() - at(-axis) : at(axis);
    return {product_text(dims, 0, middle), product_text(dims, middle, dims.size())};
  });
}

namespace {

// Bounds of an unknown choice of `rank` of the input's dimensions, in order, among ones: those that can come
// to position d.
Dims shifted_dims(const TensorType& x, int64_t rank, int64_t ones) {
  Dims dims(at(rank));
  for (int64_t d = 0; d < rank; ++d) {
    int64_t most = ones > 0 ? 1 : 0;
    int64_t first = std::max<int64_t>(0, ones > 0 ? d - ones : d);
    int64_t past = std::min(x.rank(), ones > 0 ? d + 1 : d + x.rank() - rank + 1);
    for (int64_t i = first; i < past; ++i) most = std::max(most, x.shape[at(i)]);
    dims[at(d)] = {most, true};
  }
  return dims;
}

// Array `dropped` of flags from the axes in input 1, of which there must be `count`, each once.
void emit_axis_flags(EmitContext& context, int64_t rank, int64_t count) {
  context.line(fmt::format("int dropped[{}] = {{0}};", std::max<int64_t>(rank, 1)));
  context.open(fmt::format("for (int j = 0; j < {}; ++j)", count));
  context.line(
      fmt::format("const int64_t d = {}({}[j], {});", context.helper("dynamic_axis"), context.in(1), rank));
  context.fail_if("d < 0 || dropped[d]");
  context.line("dropped[d] = 1;");
  context.close();
}

}  // namespace

DynamicTypes infer_dynamic_squeeze(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  const TensorType& x = context.type(0);
  Dims own = dims_of(x), dims;
  if (!context.has(1)) {
    // Dynamic dimensions stay; one that turns out to be 1 is an error at run time.
    for (const Dim& dim : own) {
      if (dim.bound != 1) dims.push_back(dim);
    }
    return one_type(x.elem, dims, x.elements());
  }
  MRVLC_ASSIGN(int64_t count, known_length(context, 1, "axes"));
  if (count > x.rank()) return bad_operands(fmt::format("{} axes of rank {}", count, x.rank()));
  if (context.constant(1) == nullptr)
    return one_type(x.elem, shifted_dims(x, x.rank() - count, 0), x.elements());
  MRVLC_ASSIGN(auto axes, known_ints(context, 1, "axes", kMaxRank));
  MRVLC_ASSIGN(axes, normalize_axes(axes, x.rank()));
  for (size_t d = 0; d < own.size(); ++d) {
    bool named = std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end();
    if (!named) dims.push_back(own[d]);
    if (named && !own[d].dynamic && own[d].bound != 1)
      return bad_operands(fmt::format("dimension {} is {} and cannot be dropped", d, own[d].bound));
  }
  return one_type(x.elem, dims, x.elements());
}

namespace {

// The dimensions that are not 1; dynamic ones must not be.
Texts squeeze_ones(EmitContext& context) {
  Texts kept;
  const TensorType& x = context.in_type(0);
  for (int64_t d = 0; d < x.rank(); ++d) {
    std::string dim = context.in_dim(0, d);
    if (x.shape[at(d)] == 1) {
      require_equal(context, dim, "1");
    } else {
      if (x.is_dynamic(d)) context.fail_if(fmt::format("{} == 1", dim));
      kept.push_back(dim);
    }
  }
  return kept;
}

Texts squeeze_axes(EmitContext& context) {
  int64_t own = context.in_type(0).rank(), rank = context.out_type(0).rank();
  declare_list(context, "dim", in_dims(context, 0));
  emit_axis_flags(context, own, context.in_type(1).elements());
  if (rank > 0) context.line(fmt::format("int64_t n[{}];", rank));
  if (rank > 0) context.line("int at = 0;");
  context.open(fmt::format("for (int d = 0; d < {}; ++d)", own));
  context.fail_if("dropped[d] && dim[d] != 1");
  if (rank > 0) context.line("if (!dropped[d]) n[at++] = dim[d];");
  context.close();
  return elements_of("n", rank);
}

}  // namespace

Status emit_squeeze(EmitContext& context) {
  return emit_reshaped(context, context.has(1) ? squeeze_axes : squeeze_ones);
}

DynamicTypes infer_dynamic_unsqueeze(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  const TensorType& x = context.type(0);
  MRVLC_ASSIGN(int64_t count, known_length(context, 1, "axes"));
  int64_t rank = x.rank() + count;
  if (context.constant(1) == nullptr) return one_type(x.elem, shifted_dims(x, rank, count), x.elements());
  MRVLC_ASSIGN(auto axes, known_ints(context, 1, "axes", kMaxRank));
  MRVLC_ASSIGN(axes, normalize_axes(axes, rank));
  Dims own = dims_of(x), dims;
  for (int64_t d = 0, next = 0; d < rank; ++d) {
    bool named = std::find(axes.begin(), axes.end(), d) != axes.end();
    dims.push_back(named ? Dim() : own[at(next++)]);
  }
  return one_type(x.elem, dims, x.elements());
}

namespace {

Texts unsqueezed(EmitContext& context) {
  const int64_t rank = context.out_type(0).rank();
  declare_list(context, "dim", in_dims(context, 0));
  context.line(fmt::format("int64_t n[{}];", std::max<int64_t>(rank, 1)));
  context.line("int at = 0;");
  emit_axis_flags(context, rank, context.in_type(1).elements());
  context.line(fmt::format("for (int d = 0; d < {}; ++d) n[d] = dropped[d] ? 1 : dim[at++];", rank));
  return elements_of("n", rank);
}

}  // namespace

Status emit_unsqueeze(EmitContext& context) {
  return emit_reshaped(context, unsqueezed);
}

}  // namespace mrvlc::ops

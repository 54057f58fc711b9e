// Shape, Size, ConstantOfShape, Range and EyeLike of shapes that are known at run time only.
#include <algorithm>

#include "common/dynamic_facets.h"

namespace mrvlc::ops {
namespace {

// First and one past the last dimension that Shape gives.
std::pair<int64_t, int64_t> shape_range(const InferContext& context) {
  int64_t rank = context.type(0).rank();
  auto position = [rank](int64_t v) { return v < -rank ? 0 : v > rank ? rank : v < 0 ? v + rank : v; };
  int64_t start = position(context.int_attr("start"));
  int64_t end = is_attr_set(context, "end") ? position(context.int_attr("end")) : rank;
  return {start, std::max(start, end)};
}

}  // namespace

// The result's type is known though its values are not.
DynamicTypes infer_dynamic_shape(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  if (context.op->kind == Op::Size) return one_type(ElementType::I64, Dims());
  auto [start, end] = shape_range(context);
  return one_type(ElementType::I64, Dims{Dim{end - start, false}});
}

Status emit_dynamic_shape(EmitContext& context) {
  Texts dims = in_dims(context, 0), values{product_text(dims)};
  if (context.node().op->kind != Op::Size) {
    auto [start, end] = shape_range(emit_view(context));
    values.assign(dims.begin() + start, dims.begin() + end);
    context.set_dims(0, {fmt::format("{}", end - start)});
  } else {
    context.set_dims(0, {});
  }
  for (size_t i = 0; i < values.size(); ++i)
    context.line(fmt::format("{}[{}] = {};", context.out(0), i, values[i]));
  return {};
}

// -- ConstantOfShape

namespace {

ElementType fill_type(const InferContext& context) {
  return is_attr_set(context, "value") ? std::get<Tensor>(context.attr("value")).elem() : ElementType::F32;
}

}  // namespace

DynamicTypes infer_dynamic_constant_of_shape(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_ASSIGN(int64_t rank, known_length(context, 0, "shape"));
  if (is_attr_set(context, "value")) {
    const auto& value = std::get<Tensor>(context.attr("value"));
    if (value.elements() != 1 || byte_size(value.elem()) == 0) return bad_attr("value", "must be one number");
  }
  return one_type(fill_type(context), Dims(at(rank), kAnyDim));
}

Status emit_dynamic_constant_of_shape(EmitContext& context) {
  InferContext view = emit_view(context);
  Texts dims;
  for (int64_t d = 0; d < context.out_type(0).rank(); ++d)
    dims.push_back(fmt::format("{}[{}]", context.in(0), d));
  context.set_dims(0, dims);
  std::string value =
      is_attr_set(view, "value") ? element_literal(std::get<Tensor>(view.attr("value")), 0) : "0";
  context.line(fmt::format("const int64_t n = {};", product_text(out_dims(context))));
  context.line(fmt::format("for (int64_t i = 0; i < n; ++i) {}[i] = {};", context.out(0), value));
  return {};
}

// -- Range

DynamicTypes infer_dynamic_range(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  for (size_t i = 0; i < 3; ++i) {
    MRVLC_TRY(check_same_elem(context, i));
    if (!context.type(i).is_static() || context.type(i).elements() != 1)
      return bad_operands(fmt::format("input {} must be one number", i));
  }
  return one_type(context.type(0).elem, Dims{kAnyDim});
}

// As many steps as the reference counts, in double.
Status emit_dynamic_range(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  ElementType elem = context.in_type(0).elem;
  std::string start = context.in(0) + "[0]", limit = context.in(1) + "[0]", delta = context.in(2) + "[0]";
  context.fail_if(fmt::format("{} == 0", delta));
  context.line(
      fmt::format("const double steps = ceil(((double){} - (double){}) / (double){});", limit, start, delta));
  context.fail_if(fmt::format("!(fabs(steps) <= {}.0)", kMaxElements));
  context.set_dims(0, {"(steps > 0 ? (int64_t)steps : 0)"});
  std::string value = is_float(elem)
                          ? fmt::format("(double){} + (double){} * (double)i", start, delta)
                          // Between the extremes of the type a step times i may pass the signed range.
                          : fmt::format("(uint64_t){} + (uint64_t){} * (uint64_t)i", start, delta);
  context.line(fmt::format("for (int64_t i = 0; i < {}; ++i) {}[i] = ({})({});", context.out_dim(0, 0),
                           context.out(0), c_type(elem), value));
  return {};
}

// -- EyeLike

DynamicTypes infer_dynamic_eye_like(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_rank(context, 0, 2, 2));
  const TensorType& x = context.type(0);
  ElementType elem = is_attr_set(context, "dtype") ? std::get<ElementType>(context.attr("dtype")) : x.elem;
  if (!spec::kFixedSize.has(elem)) return bad_attr("dtype", fmt::format("is {}", name(elem)));
  return std::vector<TensorType>{x.with_elem(elem)};
}

Status emit_dynamic_eye_like(EmitContext& context) {
  int64_t k = std::clamp(context.node().int_attr("k"), -kMaxElements, kMaxElements);
  ElementType elem = context.out_type(0).elem;
  Tensor one(TensorType{elem, {}});
  one.set_int(0, 1);
  context.set_dims(0, in_dims(context, 0));
  std::string value = fmt::format("j - i == {} ? {} : 0", signed_text(k), element_literal(one, 0));
  context.open(fmt::format("for (int64_t i = 0; i < {}; ++i)", context.out_dim(0, 0)));
  context.line(fmt::format("for (int64_t j = 0; j < {0}; ++j) {1}[i * {0} + j] = ({2})({3});",
                           context.out_dim(0, 1), context.out(0), c_type(elem), value));
  context.close();
  return {};
}

}  // namespace mrvlc::ops

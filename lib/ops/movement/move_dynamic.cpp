// Slice, Expand and Tile of shapes that are known at run time only.
#include <algorithm>

#include "common/dynamic_facets.h"
#include "common/element_bytes.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

// int64_t NAME = operand i at [j], or what stands for it.
std::string value_text(const EmitContext& context, size_t i, std::string_view missing) {
  return context.has(i) ? fmt::format("{}[j]", context.in(i)) : std::string(missing);
}

// Number of elements of a vector or scalar.
std::string length_text(const EmitContext& context, size_t i) {
  return product_text(in_dims(context, i));
}

// -- Slice

// At most so many elements of a dimension, whatever its size within the bound.
int64_t slice_bound(int64_t bound, int64_t start, int64_t end, int64_t step) {
  if (bound == kNoBound) return bound;
  // Counted from one end alone.
  if (step > 0 && start < 0 && start > -bound) bound = -start;
  if (step > 0 && end >= 0) bound = std::min(bound, end);
  if (step < 0 && start >= 0 && start < bound) bound = start + 1;
  if ((start < 0) == (end < 0)) {
    // Both from one end; from the back where the step is negative, and -1 stands for the last.
    auto span = step > 0 ? checked_add(end, start == INT64_MIN ? INT64_MAX : -start)
                         : checked_add(start, end == INT64_MIN ? INT64_MAX : -end);
    // A start in front of everything is the first element where the step is negative.
    if (span) bound = std::min(bound, std::max<int64_t>(*span, step < 0 ? 1 : 0));
  }
  int64_t size = step > 0 ? step : -std::max(step, -kMaxElements);
  return size > bound ? std::min<int64_t>(bound, 1) : ceil_div(bound, size);
}

struct KnownSlice {
  std::vector<int64_t> starts, ends, axes, steps;
};

Result<std::optional<KnownSlice>> known_slice(const InferContext& context) {
  std::optional<KnownSlice> none;
  MRVLC_ASSIGN(auto starts, ints_if_known(context, 1, "starts"));
  MRVLC_ASSIGN(auto ends, ints_if_known(context, 2, "ends"));
  MRVLC_ASSIGN(auto axes, ints_if_known(context, 3, "axes"));
  MRVLC_ASSIGN(auto steps, ints_if_known(context, 4, "steps"));
  if (!starts || !ends || (context.has(3) && !axes) || (context.has(4) && !steps)) return none;
  KnownSlice s{*starts, *ends, axes.value_or(std::vector<int64_t>()),
               steps.value_or(std::vector<int64_t>(starts->size(), 1))};
  for (size_t i = 0; !axes && i < s.starts.size(); ++i) s.axes.push_back(static_cast<int64_t>(i));
  size_t count = s.starts.size();
  if (s.ends.size() != count || s.axes.size() != count || s.steps.size() != count) {
    return bad_operands(fmt::format("{} starts, {} ends, {} axes and {} steps", count, s.ends.size(),
                                    s.axes.size(), s.steps.size()));
  }
  if (std::count(s.steps.begin(), s.steps.end(), 0) != 0) return bad_operands("a step is 0");
  return std::optional(std::move(s));
}

// A static dimension as inference for static shapes has it.
Result<Dim> sliced(Dim dim, const InferContext& context, const KnownSlice& s, size_t i) {
  if (dim.dynamic) return Dim{slice_bound(dim.bound, s.starts[i], s.ends[i], s.steps[i]), true};
  InferContext one = context;
  TensorType line{context.type(0).elem, {dim.bound}};
  auto vector = [](int64_t v) { return Tensor::of<int64_t>(ElementType::I64, {1}, {v}); };
  Tensor values[] = {vector(s.starts[i]), vector(s.ends[i]), vector(0), vector(s.steps[i])};
  one.types = {&line};
  one.constants = {nullptr};
  for (const Tensor& value : values) {
    one.types.push_back(&value.type());
    one.constants.push_back(&value);
  }
  MRVLC_ASSIGN(SliceParams p, slice_params(one));
  return Dim{p.size[0], false};
}

}  // namespace

DynamicTypes infer_dynamic_slice(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  const TensorType& x = context.type(0);
  for (size_t i = 1; i < context.num_inputs(); ++i) {
    if (context.has(i)) MRVLC_TRY(check_elem(context, i, spec::kIndices));
    if (context.has(i)) MRVLC_TRY(check_rank(context, i, 0, 1));
  }
  Dims dims = dims_of(x);
  MRVLC_ASSIGN(auto known, known_slice(context));
  if (known) {
    MRVLC_ASSIGN(auto axes, normalize_axes(known->axes, x.rank()));
    for (size_t i = 0; i < axes.size(); ++i) {
      MRVLC_ASSIGN(dims[at(axes[i])], sliced(dims[at(axes[i])], context, *known, i));
    }
    return one_type(x.elem, dims, x.elements());
  }
  // Only the axes decide which dimensions may shrink.
  MRVLC_ASSIGN(auto axes, ints_if_known(context, 3, "axes"));
  if (!context.has(3) && context.type(1).is_static()) {
    axes.emplace();
    for (int64_t i = 0; i < context.type(1).elements(); ++i) axes->push_back(i);
  }
  if (axes) {
    MRVLC_ASSIGN(axes, normalize_axes(*axes, x.rank()));
  }
  for (size_t d = 0; d < dims.size(); ++d) {
    bool named = !axes || std::find(axes->begin(), axes->end(), static_cast<int64_t>(d)) != axes->end();
    if (named) dims[d].dynamic = true;
  }
  return one_type(x.elem, dims, x.elements());
}

Status emit_dynamic_slice(EmitContext& context) {
  Texts dims = in_dims(context, 0);
  size_t rank = dims.size();
  std::string count = length_text(context, 1), strides = context.helper("dynamic_strides");
  for (size_t i = 2; i < 5; ++i) {
    if (context.has(i)) require_equal(context, length_text(context, i), count);
  }
  if (rank == 0) {
    require_equal(context, count, "0");
    context.set_dims(0, {});
    emit_same_elements(context);
    return {};
  }
  declare_list(context, "dim", dims);
  declare_list(context, "n", dims, false);
  context.line(fmt::format("int64_t s[{}], first = 0, at = 0;", 2 * rank));
  context.line("unsigned seen = 0;");
  context.line(fmt::format("{}({}, dim, s);", strides, rank));
  context.open(fmt::format("for (int64_t j = 0; j < {}; ++j)", count));
  context.line(fmt::format("const int64_t d = {}({}, {});", context.helper("dynamic_axis"),
                           value_text(context, 3, "j"), rank));
  context.line(fmt::format("int64_t step = {};", value_text(context, 4, "1")));
  context.fail_if("d < 0 || (seen >> d & 1u)");
  context.line("seen |= 1u << d;");
  context.line(fmt::format("n[d] = {}(dim[d], {}[j], {}[j], &step, &first);", context.helper("dynamic_slice"),
                           context.in(1), context.in(2)));
  context.fail_if("n[d] < 0");
  context.line("at += first * s[d];");
  context.line("s[d] *= step;");
  context.close();
  context.set_dims(0, elements_of("n", static_cast<int64_t>(rank)));
  context.line(fmt::format("{}({}, n, s + {});", strides, rank, rank));
  context.line(fmt::format("{}({}, {} + at, {}, {}, n, s);", context.helper("dynamic_copy"), context.out(0),
                           context.in(0), element_bytes(context.in_type(0).elem), rank));
  return {};
}

// -- Expand

DynamicTypes infer_dynamic_expand(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  const TensorType& x = context.type(0);
  MRVLC_ASSIGN(int64_t rank, known_length(context, 1, "shape"));
  MRVLC_ASSIGN(auto known, ints_if_known(context, 1, "shape"));
  Dims asked(at(rank), kAnyDim);
  for (size_t d = 0; known && d < known->size(); ++d) {
    MRVLC_TRY(check_dim((*known)[d], "a dimension of the result"));
    asked[d] = {(*known)[d], false};
  }
  int64_t elements = known ? all_pairs(x.elements(), checked_product(*known).value_or(kNoBound)) : kNoBound;
  return one_type(x.elem, broadcast_dims(asked, dims_of(x)), elements);
}

Status emit_dynamic_expand(EmitContext& context) {
  Texts own = in_dims(context, 0), dims;
  size_t rank = context.out_type(0).shape.size(), asked = at(context.in_type(1).elements());
  for (size_t d = 0; d < rank; ++d) {
    std::string a = d + own.size() < rank ? "1" : own[d + own.size() - rank];
    if (d + asked < rank) {
      dims.push_back(a);
    } else {
      std::string b = fmt::format("{}[{}]", context.in(1), d + asked - rank);
      dims.push_back(a == "1" ? b : fmt::format("{}({}, {})", context.helper("dynamic_both"), a, b));
    }
  }
  context.set_dims(0, dims);
  if (rank == 0) {
    emit_same_elements(context);
    return {};
  }
  declare_list(context, "n", out_dims(context), false);
  declare_list(context, "dim", own);
  context.line(fmt::format("int64_t s[{}];", 2 * rank));
  context.line(fmt::format("{}({}, {}, dim, s);", context.helper("dynamic_steps"), rank, own.size()));
  context.line(fmt::format("{}({}, n, s + {});", context.helper("dynamic_strides"), rank, rank));
  context.line(fmt::format("{}({}, {}, {}, {}, n, s);", context.helper("dynamic_copy"), context.out(0),
                           context.in(0), element_bytes(context.in_type(0).elem), rank));
  return {};
}

// -- Tile

DynamicTypes infer_dynamic_tile(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  const TensorType& x = context.type(0);
  MRVLC_ASSIGN(int64_t count, known_length(context, 1, "repeats"));
  MRVLC_ASSIGN(auto known, ints_if_known(context, 1, "repeats"));
  if (count != x.rank()) return bad_operands(fmt::format("{} repeats for rank {}", count, x.rank()));
  Dims dims = dims_of(x);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (known && (*known)[d] < 0)
      return bad_operands(fmt::format("{} repeats of dimension {}", (*known)[d], d));
    dims[d] = known ? product({dims[d], Dim{(*known)[d], false}}) : kAnyDim;
  }
  int64_t elements = known ? all_pairs(x.elements(), checked_product(*known).value_or(kNoBound)) : kNoBound;
  return one_type(x.elem, dims, elements);
}

Status emit_dynamic_tile(EmitContext& context) {
  Texts own = in_dims(context, 0), dims, size, in, out, step = stride_texts(own);
  for (size_t d = 0; d < own.size(); ++d)
    dims.push_back(fmt::format("{}({}, {}[{}])", context.helper("dynamic_mul"), own[d], context.in(1), d));
  context.set_dims(0, dims);
  Texts whole = stride_texts(out_dims(context));
  for (size_t d = 0; d < own.size(); ++d) {
    size.insert(size.end(), {fmt::format("{}[{}]", context.in(1), d), own[d]});
    in.insert(in.end(), {"0", step[d]});
    out.insert(out.end(), {product_text({whole[d], own[d]}), whole[d]});
  }
  emit_dynamic_copy(context, context.in(0), context.out(0), size, in, out);
  return {};
}

}  // namespace mrvlc::ops

// Slice, Expand and Tile of shapes that are known at run time only.
#include <algorithm>

#include "common/dynamic_facets.h"
#include "common/text_copy.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

// int64_t NAME = operand i at [j], or what stands for it.
std::string value_text(const EmitContext& context, size_t i, std::string_view missing) {
  return context.has(i) ? fmt::format("{}[j]", context.in(i)) : std::string(missing);
}

// Element k of an operand that counts: a number when it is known.
std::string count_text(EmitContext& context, size_t i, size_t k) {
  const Tensor* known = context.constant(i);
  const auto element = static_cast<int64_t>(k);
  return known != nullptr ? fmt::format("{}", known->as_int(element))
                          : fmt::format("{}[{}]", context.in(i), k);
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

namespace {

// Of every dimension the first element that is taken, the step between elements, and their number.
struct SliceTexts {
  Texts first, step, size;
};

SliceTexts known_texts(const SliceParams& p) {
  SliceTexts t;
  for (size_t d = 0; d < p.size.size(); ++d) {
    t.first.push_back(fmt::format("{}", p.start[d]));
    t.step.push_back(fmt::format("{}", p.size[d] > 1 ? p.step[d] : 0));
    t.size.push_back(fmt::format("{}", p.size[d]));
  }
  return t;
}

// Arrays first, step and n from the operands, which are read when it runs.
SliceTexts read_slices(EmitContext& context) {
  const Texts dims = in_dims(context, 0);
  const auto rank = static_cast<int64_t>(dims.size());
  const std::string count = length_text(context, 1);
  for (size_t i = 2; i < 5; ++i) {
    if (context.has(i)) require_equal(context, length_text(context, i), count);
  }
  if (rank == 0) {
    require_equal(context, count, "0");
    return {};
  }
  declare_list(context, "dim", dims);
  declare_list(context, "n", dims, false);
  declare_list(context, "step", Texts(dims.size(), "1"), false);
  context.line(fmt::format("int64_t first[{}] = {{0}};", rank));
  context.line("unsigned seen = 0;");
  context.open(fmt::format("for (int64_t j = 0; j < {}; ++j)", count));
  context.line(fmt::format("const int64_t d = {}({}, {});", context.helper("dynamic_axis"),
                           value_text(context, 3, "j"), rank));
  context.fail_if("d < 0 || (seen >> d & 1u)");
  context.line("seen |= 1u << d;");
  if (context.has(4)) context.line(fmt::format("step[d] = {};", value_text(context, 4, "1")));
  context.line(fmt::format("n[d] = {}(dim[d], {}[j], {}[j], step + d, first + d);",
                           context.helper("dynamic_slice"), context.in(1), context.in(2)));
  context.fail_if("n[d] < 0");
  context.close();
  return {elements_of("first", rank), elements_of("step", rank), elements_of("n", rank)};
}

}  // namespace

Status emit_slice(EmitContext& context) {
  SliceTexts slices;
  if (is_dynamic(context)) {
    slices = read_slices(context);
    context.set_dims(0, slices.size);
  } else {
    MRVLC_ASSIGN(SliceParams p, slice_params(emit_view(context)));
    slices = known_texts(p);
  }
  const Texts strides = stride_texts(in_dims(context, 0));
  TextCopy copy{slices.size, {}, stride_texts(slices.size)};
  Texts offset;
  for (size_t d = 0; d < strides.size(); ++d) {
    copy.in.push_back(product_text({slices.step[d], strides[d]}));
    offset.push_back(product_text({slices.first[d], strides[d]}));
  }
  copy.in_offset = sum_text(offset);
  emit_copy(context, copy);
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

namespace {

// Of the operand and the shape that is asked for.
Texts expanded_dims(EmitContext& context) {
  const Texts own = in_dims(context, 0);
  const size_t rank = context.out_type(0).shape.size(), asked = at(context.in_type(1).elements());
  Texts dims;
  for (size_t d = 0; d < rank; ++d) {
    const std::string a = d + own.size() < rank ? "1" : own[d + own.size() - rank];
    const std::string b = d + asked < rank ? "1" : fmt::format("{}[{}]", context.in(1), d + asked - rank);
    dims.push_back(b == "1"   ? a
                   : a == "1" ? b
                              : fmt::format("{}({}, {})", context.helper("dynamic_both"), a, b));
  }
  return dims;
}

}  // namespace

Status emit_expand(EmitContext& context) {
  if (is_dynamic(context)) context.set_dims(0, expanded_dims(context));
  const Texts own = in_dims(context, 0), strides = stride_texts(own), dims = out_dims(context);
  TextCopy copy{dims, Texts(dims.size() - own.size(), "0"), stride_texts(dims)};
  for (size_t d = 0; d < own.size(); ++d) {
    const bool known = is_number(own[d]);
    copy.in.push_back(!known          ? fmt::format("({} == 1 ? 0 : {})", own[d], strides[d])
                      : own[d] == "1" ? "0"
                                      : strides[d]);
  }
  emit_copy(context, copy);
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

// Every dimension becomes a pair: the repetition, and the dimension itself.
Status emit_tile(EmitContext& context) {
  const Texts own = in_dims(context, 0), in = stride_texts(own);
  Texts counts, dims;
  for (size_t d = 0; d < own.size(); ++d) {
    counts.push_back(count_text(context, 1, d));
    const bool known = is_number(own[d]) && is_number(counts[d]);
    dims.push_back(known ? product_text({own[d], counts[d]})
                         : fmt::format("{}({}, {})", context.helper("dynamic_mul"), own[d], counts[d]));
  }
  context.set_dims(0, dims);
  const Texts out = stride_texts(out_dims(context));
  TextCopy copy;
  for (size_t d = 0; d < own.size(); ++d) {
    copy.size.insert(copy.size.end(), {counts[d], own[d]});
    copy.in.insert(copy.in.end(), {"0", in[d]});
    copy.out.insert(copy.out.end(), {product_text({out[d], own[d]}), out[d]});
  }
  emit_copy(context, copy);
  return {};
}

}  // namespace mrvlc::ops

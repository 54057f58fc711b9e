// Bounds of dynamic dimensions under product, sum and broadcast; lists, strides and sizes as C text.
#include "common/dynamic_util.h"

#include <algorithm>

#include "common/element_bytes.h"
#include "mrvlc/ops/run_time_shapes.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

int64_t size_or_no_bound(std::optional<int64_t> size) {
  return size && *size <= kMaxElements ? *size : kNoBound;
}

// Steps and offsets may be negative.
bool is_integer(const std::string& text) {
  return is_number(text.starts_with('-') ? text.substr(1) : text);
}

}  // namespace

bool is_dynamic(const EmitContext& context) {
  const auto* shapes = dynamic_cast<const RunTimeShapes*>(&context);
  return shapes != nullptr && shapes->is_dynamic();
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

Dims dims_of(const TensorType& type) {
  Dims dims;
  for (int64_t d = 0; d < type.rank(); ++d) dims.push_back({type.shape[at(d)], type.is_dynamic(d)});
  return dims;
}

Dim product(const Dims& dims) {
  Dim result;
  bool bounded = true;
  for (const Dim& dim : dims) {
    if (!dim.dynamic && dim.bound == 0) return {0, false};
    result.dynamic = result.dynamic || dim.dynamic;
    bounded = bounded && dim.bound != kNoBound;
    auto size = checked_mul(result.bound, dim.bound);
    bounded = bounded && size;
    if (bounded) result.bound = *size;
  }
  // A product that overflows without a dynamic factor is for the check of the result to refuse.
  if (!bounded) result = result.dynamic ? kAnyDim : Dim{kMaxElements + 1, false};
  return result;
}

Dim all_elements(const TensorType& type) {
  Dim all = product(dims_of(type));
  if (type.capacity >= 0 && (all.bound == kNoBound || all.bound > type.capacity)) all.bound = type.capacity;
  return all;
}

Dim sum(Dim a, Dim b) {
  bool bounded = a.bound != kNoBound && b.bound != kNoBound;
  auto total = checked_add(a.bound, b.bound);
  if (!bounded || !total) return kAnyDim;
  return {*total, a.dynamic || b.dynamic};
}

Dim equal_dim(Dim a, Dim b) {
  if (a.dynamic != b.dynamic) return a.dynamic ? b : a;
  if (!a.dynamic || b.bound == kNoBound) return a;
  return a.bound == kNoBound || b.bound < a.bound ? b : a;
}

// Dynamic and not 1: the other is 1, or the same.
Dim broadcast_dim(Dim a, Dim b) {
  if (!a.dynamic && a.bound != 1) return a;
  if (!b.dynamic && b.bound != 1) return b;
  if (!a.dynamic || !b.dynamic) return a.dynamic ? a : b;
  if (a.bound == kNoBound || b.bound == kNoBound) return kAnyDim;
  return {std::max({a.bound, b.bound, int64_t{1}}), true};
}

Dims broadcast_dims(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()));
  for (size_t i = 1; i <= out.size(); ++i) {
    Dim one;
    out[out.size() - i] =
        broadcast_dim(i <= a.size() ? a[a.size() - i] : one, i <= b.size() ? b[b.size() - i] : one);
  }
  return out;
}

TensorType type_of(ElementType elem, const Dims& dims, int64_t elements) {
  TensorType type{elem, {}};
  for (size_t d = 0; d < dims.size(); ++d) {
    type.shape.push_back(dims[d].bound);
    if (dims[d].dynamic) type.dynamic |= 1u << d;
  }
  if (elements == kNoBound || type.dynamic == 0) return type;
  Dim all = product(dims);
  if (all.bound == kNoBound || elements < all.bound) type.capacity = elements;
  return type;
}

int64_t all_pairs(int64_t a, int64_t b) {
  if (a == kNoBound || b == kNoBound) return kNoBound;
  return size_or_no_bound(checked_mul(a, b));
}

Status check_tensors(const InferContext& context) {
  for (size_t i = 0; i < context.num_inputs(); ++i) {
    if (context.has(i) && context.type(i).wrapper != Wrapper::None)
      return bad_operands(
          fmt::format("input {} is {}; {} takes tensors", i, to_string(context.type(i)), context.op->name));
  }
  return {};
}

Result<int64_t> known_length(const InferContext& context, size_t i, std::string_view what) {
  const TensorType& type = context.type(i);
  MRVLC_TRY(check_elem(context, i, spec::kIndices));
  MRVLC_TRY(check_rank(context, i, 0, 1));
  if (!type.is_static()) return make_diag<DiagCode::MRV0207>(fmt::format("{} ({})", i, what));
  if (type.elements() > 2 * kMaxRank)
    return bad_operands(fmt::format("input {} ({}) has {} elements", i, what, type.elements()));
  return type.elements();
}

Status check_one_integer(const InferContext& context, size_t i, std::string_view what) {
  MRVLC_TRY(check_elem(context, i, spec::kIndices));
  MRVLC_TRY(check_rank(context, i, 0, 1));
  if (context.type(i).is_static() && context.type(i).elements() == 1) return {};
  return bad_operands(fmt::format("input {} ({}) must be one integer", i, what));
}

Result<std::optional<std::vector<int64_t>>> ints_if_known(const InferContext& context, size_t i,
                                                          std::string_view what) {
  std::optional<std::vector<int64_t>> values;
  if (!context.has(i) || context.constant(i) == nullptr) return values;
  MRVLC_ASSIGN(values, known_ints(context, i, what, 2 * kMaxRank));
  return values;
}

Texts texts_of(const Shape& numbers) {
  Texts texts;
  for (int64_t n : numbers) texts.push_back(fmt::format("{}", n));
  return texts;
}

std::optional<Shape> numbers_of(const Texts& texts) {
  Shape numbers;
  for (const std::string& text : texts) {
    if (!is_integer(text)) return std::nullopt;
    numbers.push_back(std::stoll(text));
  }
  return numbers;
}

Texts in_dims(const EmitContext& context, size_t i) {
  Texts dims;
  for (int64_t d = 0; d < context.in_type(i).rank(); ++d) dims.push_back(context.in_dim(i, d));
  return dims;
}

Texts out_dims(const EmitContext& context, size_t i) {
  Texts dims;
  for (int64_t d = 0; d < context.out_type(i).rank(); ++d) dims.push_back(context.out_dim(i, d));
  return dims;
}

std::string product_text(const Texts& dims, size_t first, size_t past) {
  int64_t known = 1;
  std::string text;
  for (size_t d = first; d < past; ++d) {
    if (is_integer(dims[d])) {
      known *= std::stoll(dims[d]);
    } else {
      text += (text.empty() ? "" : " * ") + dims[d];
    }
  }
  if (known == 0 || text.empty()) return fmt::format("{}", known);
  return known == 1 ? text : fmt::format("{} * {}", text, known);
}

std::string sum_text(const Texts& terms) {
  int64_t known = 0;
  std::string text;
  for (const std::string& term : terms) {
    if (is_integer(term)) {
      known += std::stoll(term);
    } else {
      text += (text.empty() ? "" : " + ") + term;
    }
  }
  if (text.empty()) return fmt::format("{}", known);
  return known == 0 ? text : fmt::format("{} + {}", text, known);
}

std::string list_text(const Texts& items) {
  return items.empty() ? "{0}" : fmt::format("{{{}}}", fmt::join(items, ", "));
}

void declare_list(EmitContext& context, std::string_view name, const Texts& items, bool constant) {
  context.line(fmt::format("{}int64_t {}[] = {};", constant ? "const " : "", name, list_text(items)));
}

Texts elements_of(std::string_view name, int64_t count) {
  Texts texts;
  for (int64_t i = 0; i < count; ++i) texts.push_back(fmt::format("{}[{}]", name, i));
  return texts;
}

void require_equal(EmitContext& context, const std::string& a, const std::string& b) {
  if (a != b) context.fail_if(fmt::format("{} != {}", a, b));
}

std::string bytes_text(ElementType elem, const std::string& count) {
  if (is_number(count)) return element_bytes(elem, std::stoll(count));
  return fmt::format("(size_t)({}) * {}", count, element_bytes(elem));
}

void emit_same_elements(EmitContext& context, size_t i, size_t output) {
  const std::string count = product_text(in_dims(context, i));
  if (count == "0") return;
  const std::string copy = fmt::format("memcpy({}, {}, {});", context.out(output), context.in(i),
                                       bytes_text(context.in_type(i).elem, count));
  context.line(is_number(count) ? copy : fmt::format("if ({} > 0) {}", count, copy));
}

void emit_operand_to_update(EmitContext& context) {
  if (!context.may_share()) return emit_same_elements(context);
  context.open(fmt::format("if ({} != {})", context.out(0), context.in(0)));
  emit_same_elements(context);
  context.close();
}

Texts stride_texts(const Texts& dims) {
  Texts strides;
  for (size_t d = 0; d < dims.size(); ++d) strides.push_back(product_text(dims, d + 1, dims.size()));
  return strides;
}

}  // namespace mrvlc::ops

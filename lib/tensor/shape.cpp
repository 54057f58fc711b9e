// Strides, broadcasting, shapes as text, and which actual types a declared type admits.
#include "mrvlc/tensor/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace mrvlc {

int64_t element_count(const Shape& shape) {
  return checked_product(shape).value_or(0);
}

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::string to_string(const Shape& shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

std::string to_string(const TensorType& type) {
  std::string dims = type.has_rank() ? "" : "*";
  for (int64_t d = 0; d < type.rank(); ++d) {
    const int64_t bound = type.shape[static_cast<size_t>(d)];
    dims += fmt::format("{}{}{}", d == 0 ? "" : ",", type.is_dynamic(d) ? "<=" : "", bound);
  }
  if (type.capacity >= 0) dims += fmt::format(";{}", type.capacity);
  std::string text = fmt::format("{}[{}]", name(type.elem), dims);
  if (type.wrapper == Wrapper::Sequence || type.wrapper == Wrapper::OptionalSequence)
    text = fmt::format("sequence({},{})", text, type.length);
  if (type.wrapper == Wrapper::Optional || type.wrapper == Wrapper::OptionalSequence)
    text = fmt::format("optional({})", text);
  return text;
}

bool admits(const TensorType& type, const TensorType& actual) {
  if (type.wrapper != actual.wrapper || actual.length > type.length) return false;
  const bool optional = type.wrapper == Wrapper::Optional || type.wrapper == Wrapper::OptionalSequence;
  if (actual.elem == ElementType::Undefined && optional) return true;  // it holds nothing
  if (type.elem != actual.elem) return false;
  // A sequence says as little of its tensors as it has room for.
  if (actual.wrapper == Wrapper::Sequence && actual.length == 0) return true;
  if (!type.has_rank()) return actual.elements() <= type.elements();
  if (type.rank() != actual.rank() || !actual.has_rank()) return false;
  for (int64_t d = 0; d < type.rank(); ++d) {
    const int64_t bound = type.shape[static_cast<size_t>(d)], dim = actual.shape[static_cast<size_t>(d)];
    if (type.is_dynamic(d) ? dim > bound : dim != bound) return false;
  }
  return actual.elements() <= type.elements();
}

std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) return std::nullopt;
    out[out.size() - 1 - i] = da == 1 ? db : da;
  }
  return out;
}

Shape broadcast_strides(const Shape& shape, const Shape& target) {
  Shape own = row_major_strides(shape);
  Shape out(target.size(), 0);
  for (size_t i = 0; i < shape.size(); ++i) {
    size_t t = target.size() - shape.size() + i;
    out[t] = shape[i] == 1 ? 0 : own[i];
  }
  return out;
}

}  // namespace mrvlc

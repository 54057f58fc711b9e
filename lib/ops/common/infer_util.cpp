// Checks of rank and element type with diagnostics; constants as lists of integers; axes normalised.
#include "common/infer_util.h"

#include <algorithm>

#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {

Diag bad_attr(std::string_view attr, std::string text) {
  return make_diag<DiagCode::MRV0204>(attr, text);
}
Diag bad_operands(std::string text) {
  return make_diag<DiagCode::MRV0208>(text);
}

Status check_rank(const InferContext& context, size_t i, int64_t at_least, int64_t at_most) {
  int64_t rank = context.type(i).rank();
  if (rank >= at_least && rank <= at_most) return {};
  auto expected =
      at_least == at_most ? fmt::format("{}", at_least) : fmt::format("{} to {}", at_least, at_most);
  return make_diag<DiagCode::MRV0203>(i, rank, expected);
}

Status check_elem(const InferContext& context, size_t i, TypeSet allowed) {
  ElementType elem = context.type(i).elem;
  if (allowed.has(elem)) return {};
  return make_diag<DiagCode::MRV0202>(i, name(elem), context.op->name);
}

Status check_same_elem(const InferContext& context, size_t i, size_t like) {
  if (context.type(i).elem == context.type(like).elem) return {};
  return make_diag<DiagCode::MRV0202>(i, name(context.type(i).elem), context.op->name);
}

Result<std::vector<int64_t>> known_ints(const InferContext& context, size_t i, std::string_view what,
                                        int64_t max_count) {
  const Tensor* tensor = context.constant(i);
  if (tensor == nullptr) return make_diag<DiagCode::MRV0207>(fmt::format("{} ({})", i, what));
  // ONNX has shapes, axes and the like in these two types alone.
  if (tensor->elem() != ElementType::I32 && tensor->elem() != ElementType::I64)
    return make_diag<DiagCode::MRV0202>(i, name(tensor->elem()), context.op->name);
  if (tensor->type().rank() > 1) return make_diag<DiagCode::MRV0203>(i, tensor->type().rank(), "0 or 1");
  if (tensor->elements() > max_count) {
    return bad_operands(
        fmt::format("input {} ({}) has {} elements, more than {}", i, what, tensor->elements(), max_count));
  }
  return tensor->to_ints();
}

Result<int64_t> known_int(const InferContext& context, size_t i, std::string_view what) {
  MRVLC_ASSIGN(auto values, known_ints(context, i, what, 1));
  if (values.size() != 1) return bad_operands(fmt::format("input {} ({}) has no element", i, what));
  return values[0];
}

Result<double> known_number(const InferContext& context, size_t i, std::string_view what) {
  const Tensor* tensor = context.constant(i);
  if (tensor == nullptr) return make_diag<DiagCode::MRV0207>(fmt::format("{} ({})", i, what));
  bool numeric =
      is_float(tensor->elem()) || is_integer(tensor->elem()) || tensor->elem() == ElementType::Bool;
  if (!numeric || tensor->elements() != 1) {
    return bad_operands(fmt::format("input {} ({}) must be one number", i, what));
  }
  return tensor->as_double(0);
}

Result<std::vector<int64_t>> normalize_axes(const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<int64_t> out;
  for (int64_t axis : axes) {
    MRVLC_ASSIGN(int64_t a, normalize_axis(axis, rank));
    if (std::find(out.begin(), out.end(), a) != out.end()) {
      return bad_operands(fmt::format("axis {} is given more than once", axis));
    }
    out.push_back(a);
  }
  return out;
}

Status check_dim(int64_t dim, std::string_view what) {
  if (dim > kMaxElements) return too_large();
  if (dim >= 0) return {};
  return bad_operands(fmt::format("{} would be {}, outside 0 to {}", what, dim, kMaxElements));
}

Status attr_to_input(RawNode& node, std::string_view attr, size_t position) {
  ir::Attr value = node.take(attr);
  if (!ir::is_set(value)) return {};
  const auto* ints = std::get_if<std::vector<int64_t>>(&value);
  if (ints == nullptr) return bad_attr(attr, "must be a list of integers");
  node.add_constant_input(position,
                          Tensor::of(ElementType::I64, {static_cast<int64_t>(ints->size())}, *ints));
  return {};
}

}  // namespace mrvlc::ops

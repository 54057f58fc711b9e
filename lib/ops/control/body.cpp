// What If, Loop and Scan share. The C of a body is made by the host code generator.
#include "control/body.h"

#include <algorithm>
#include <climits>

#include "common/slices.h"
#include "mrvlc/ops/dynamic_shapes.h"

namespace mrvlc::ops {

Result<Body> body_of(const InferContext& context, std::string_view attr) {
  const ir::Attr& value = context.attr(attr);
  if (!ir::is_set(value)) return bad_attr(attr, "is required");
  return std::get<Body>(value);
}

std::vector<TensorType> result_types(const ir::Graph& body) {
  std::vector<TensorType> types;
  for (ir::ValueId v : body.outputs()) types.push_back(body.value(v).type);
  return types;
}

std::vector<Tensor> inputs_from(const EvalContext& context, size_t first, size_t count) {
  std::vector<Tensor> inputs;
  for (size_t i = first; i < first + count; ++i) inputs.push_back(context.in(i));
  return inputs;
}

TensorType scanned_type(const TensorType& item, int64_t axis, int64_t count, bool dynamic) {
  TensorType type = with_dim(item, axis, count, dynamic);
  // What overflows is refused as too large.
  if (type.capacity >= 0)
    type.capacity = count == kNoBound ? -1 : checked_mul(type.capacity, count).value_or(INT64_MAX);
  return type;
}

namespace {

Result<Tensor> stack_scanned(const std::vector<Tensor>& items, const TensorType& item, int64_t axis) {
  if (items.empty()) {
    Shape shape = item.shape;
    for (int64_t& d : shape) d = std::max<int64_t>(d, 0);
    shape.insert(shape.begin() + axis, 0);
    return Tensor(TensorType{item.elem, shape});
  }
  auto all = stack(items, axis);
  if (!all) return bad_operands("the body scans tensors of different shapes");
  return *std::move(all);
}

}  // namespace

void Rounds::take(std::vector<Tensor> results, size_t first) {
  for (Tensor& state : states) state = std::move(results[first++]);
  for (auto& items : scanned) items.push_back(std::move(results[first++]));
}

Status Rounds::give(const EvalContext& context, std::span<const TensorType> items,
                    std::span<const int64_t> axes) {
  for (size_t i = 0; i < context.outputs->size(); ++i) {
    if (i < states.size()) {
      context.out(i) = std::move(states[i]);
      continue;
    }
    const size_t k = i - states.size();
    MRVLC_ASSIGN(context.out(i), stack_scanned(scanned[k], items[k], axes[k]));
  }
  return {};
}

OpDef control_flow_def(std::string_view name) {
  OpDef d;
  d.name = name;
  d.max_inputs = INT_MAX;  // not variadic: the trip count and the condition of a loop may be left out
  d.min_outputs = 0;
  d.max_outputs = -1;
  d.declined = "accelerator: no jumps; the C of bodies is made by the host code generator";
  return d;
}

ir::AttrSpec formals_attr() {
  return spec::with_int("formals", 0);
}

}  // namespace mrvlc::ops

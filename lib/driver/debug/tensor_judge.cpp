// Limits for the elements of a tensor, by what they were computed from.
#include "debug/tensor_judge.h"

#include <algorithm>
#include <cmath>

#include "mrvlc/calibration/error.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/ir/part.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/random.h"

namespace mrvlc::driver {
namespace {

constexpr double kAlone = 1e-4;

bool holds_floats(const Tensor& t) {
  return t.type().wrapper == Wrapper::None && is_float(t.elem());
}

// |a-b| may be `by(|b|)`, and nothing else.
Difference compare_within(const Tensor& theirs, const Tensor& reference, const auto& by) {
  Allowance allowed;
  allowed.by.reserve(static_cast<size_t>(reference.elements()));
  for (int64_t i = 0; i < reference.elements(); ++i) {
    const double b = std::abs(reference.as_double(i));
    allowed.by.push_back(by(std::isfinite(b) ? b : 0));
  }
  return compare(theirs, reference, {0, 0, 0}, allowed);
}

bool can_be_judged(const ir::Graph& graph, const ir::Node& node, const Tensor& theirs) {
  return holds_floats(theirs) && ir::bodies_of(node).empty() && !ops::rounds_to_integers(graph, node) &&
         !ops::is_random(node);
}

}  // namespace

Difference judge_from_inputs(const Tensor& theirs, const Tensor& reference) {
  const Limits limits;
  if (!holds_floats(reference)) return compare(theirs, reference, limits);
  const double limit = limit_of(reference.elem(), limits);
  const double least = std::min(1.0, calibration::magnitude(reference));
  return compare_within(theirs, reference, [&](double b) { return limit * (least + b); });
}

std::optional<Difference> judge_alone(const ir::Graph& graph, const ir::Node& node, ir::ValueId result,
                                      const Tensor& theirs, const Operands& operands) {
  const std::optional<Difference> none;
  if (!can_be_judged(graph, node, theirs)) return none;
  std::vector<ir::ValueId> inputs;
  std::vector<Tensor> values;
  for (ir::ValueId v : node.inputs) {
    if (!v.valid() || graph.is_constant(v) || std::ranges::find(inputs, v) != inputs.end()) continue;
    const Tensor* value = operands(v);
    if (value == nullptr) return none;
    inputs.push_back(v), values.push_back(*value);
  }
  const auto made = interp::run(ir::part_of(graph, {node.id}, inputs, {result}), values);
  if (!made.ok() || made->front().type() != theirs.type()) return none;  // operands of other shapes
  const Limits limits;
  const bool wide = theirs.elem() == ElementType::F32 || theirs.elem() == ElementType::F64;
  const double most = (wide ? kAlone : limits.narrow) * calibration::magnitude(made->front());
  return compare_within(theirs, made->front(), [&](double) { return most; });
}

}  // namespace mrvlc::driver

// Runs with every stored value rounded to fp16, to nearest or by lot, and the first value that overflows it.
#include "verify/fp16_ideal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "mrvlc/calibration/error.h"
#include "mrvlc/driver/compare.h"
#include "mrvlc/interp/visit.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::driver {
namespace {

constexpr double kOverflow = 65520;  // rounds to infinity from here on
constexpr double kSmallestNormal = 0x1p-14;

bool is_stored(const Tensor& tensor) {
  return tensor.type().wrapper == Wrapper::None && tensor.elem() == ElementType::F32;
}

// What leaves fp16 in float32: the largest magnitude, by value.
using Reach = std::map<size_t, double>;

Result<Reach> beyond_fp16(const ir::Graph& graph, const std::vector<Tensor>& inputs) {
  Reach reach;
  const auto look = [&](ir::ValueId id, Tensor& tensor) {
    if (!is_stored(tensor)) return;
    if (const double most = calibration::magnitude(tensor); most >= kOverflow) reach[id.index()] = most;
  };
  auto ran = interp::run_visited(graph, inputs, look, true);
  if (!ran.ok()) return ran.error();
  return reach;
}

// Values that lead to the output, the first ones of the order in front.
std::string overflow_of(const ir::Graph& graph, ir::ValueId output, const Reach& reach) {
  if (reach.empty()) return {};
  std::vector<bool> leads(graph.value_slots(), false);
  std::vector<ir::ValueId> todo = {output};
  while (!todo.empty()) {
    const ir::ValueId id = todo.back();
    todo.pop_back();
    if (!id.valid() || leads[id.index()]) continue;
    leads[id.index()] = true;
    const ir::NodeId made_by = graph.value(id).producer;
    if (made_by.valid())
      todo.insert(todo.end(), graph.node(made_by).inputs.begin(), graph.node(made_by).inputs.end());
  }
  const auto shown = [&](ir::ValueId id) {
    return fmt::format("'{}' reaches {:.2g}", printable(graph.value(id).name), reach.at(id.index()));
  };
  const auto counts = [&](ir::ValueId id) {
    return id.valid() && leads[id.index()] && reach.contains(id.index());
  };
  for (ir::ValueId id : graph.inputs())
    if (counts(id)) return "input " + shown(id);
  for (ir::NodeId n : graph.topological_order()) {
    const ir::Node& node = graph.node(n);
    for (ir::ValueId id : node.inputs)
      if (counts(id) && graph.is_constant(id)) return "constant " + shown(id);
    for (ir::ValueId id : node.outputs)
      if (counts(id))
        return fmt::format("node '{}' ({}): {}", printable(node.name), node.op->name, shown(id));
  }
  return {};
}

}  // namespace

void Rounder::operator()(const ir::Graph& graph, ir::ValueId id, Tensor& tensor) {
  if (!is_stored(tensor)) return;
  const bool constant = graph.is_constant(id);
  for (float& v : tensor.mutable_data<float>()) {
    // Constants are rounded after what is folded into them, which may bring small ones into range.
    const bool small = constant && std::abs(static_cast<double>(v)) < kSmallestNormal && v != 0;
    int exponent = 0;
    const float mantissa = small ? std::frexp(v, &exponent) : v;
    v = std::ldexp(rounded(mantissa), exponent);
  }
}

float Rounder::rounded(float v) {
  const double exact = static_cast<double>(v);
  const uint16_t nearest = double_to_half(exact);
  const double other = 2 * exact - static_cast<double>(half_to_float(nearest));
  return half_to_float(state_ != 0 && lot() && std::isfinite(other) ? double_to_half(other) : nearest);
}

bool Rounder::lot() {
  // The linear congruential generator of Knuth's MMIX; the top bit is the best of it.
  state_ = state_ * 6364136223846793005u + 1442695040888963407u;
  return state_ >> 63 != 0;
}

Result<std::vector<Fp16Error>> fp16_errors(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                                           const std::vector<Tensor>& expected) {
  std::vector<Fp16Error> errors(expected.size());
  MRVLC_ASSIGN(const Reach reach, beyond_fp16(graph, inputs));
  for (uint64_t run = 0; run < kRoundedRuns; ++run) {
    Rounder rounder(run);
    const auto round = [&](ir::ValueId id, Tensor& tensor) { rounder(graph, id, tensor); };
    auto ideal = interp::run_visited(graph, inputs, round, true);
    if (!ideal.ok()) return ideal.error();
    for (size_t i = 0; i < expected.size(); ++i) {
      const Difference d = compare((*ideal)[i], expected[i], {0, 0, 0});
      errors[i].error = std::max(errors[i].error, d.error);
      errors[i].elements = std::max(errors[i].elements, d.elements);
    }
  }
  for (size_t i = 0; i < expected.size(); ++i)
    errors[i].overflow = overflow_of(graph, graph.outputs()[i], reach);
  return errors;
}

}  // namespace mrvlc::driver

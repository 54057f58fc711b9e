// One rounding at a time: only what it reaches is evaluated again.
#include "mrvlc/calibration/sensitivity.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "mrvlc/calibration/error.h"
#include "mrvlc/interp/visit.h"
#include "mrvlc/ops/weights.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/parallel.h"
#include "mrvlc/support/saturating.h"
#include "mrvlc/tensor/float16.h"
#include "rounded_error.h"

namespace mrvlc::calibration {
namespace {

bool can_be_rounded(const Tensor& tensor) {
  return tensor.type().wrapper == Wrapper::None && tensor.elem() == ElementType::F32;
}

Tensor rounded(const Rounding& by, ir::ValueId id, Tensor tensor) {
  if (by.round) {
    by.round(id, tensor);
    return tensor;
  }
  for (float& v : tensor.mutable_data<float>()) v = half_to_float(float_to_half(v));
  return tensor;
}

// A constant as operand `i` of a node. Weights are rounded to fp16 as they are stored: errors of one sum
// cancel.
Tensor rounded_operand(const Rounding& by, const ir::Node& node, size_t i, const Tensor& tensor) {
  const auto layout = by.round || i != 1 ? std::nullopt : ops::weight_layout(node, tensor.shape());
  if (!layout) return rounded(by, node.inputs[i], tensor);
  const std::vector<uint16_t> halves = round_weights({tensor, *layout, 1, {}});
  Tensor out(tensor.type());
  std::ranges::transform(halves, out.mutable_data<float>().begin(), half_to_float);
  return out;
}

// Float32 values of one sample, all of them, and what roundings make of them.
class Sample {
 public:
  Sample(const ir::Graph& graph, const std::vector<ir::ValueId>& compared)
      : graph_(graph), compared_(compared), values_(graph.value_slots()) {}

  Status run(const std::vector<Tensor>& inputs, int64_t max_bytes) {
    int64_t bytes = 0;
    const auto keep = [&](ir::ValueId id, Tensor& tensor) {
      bytes = saturating_add(bytes, tensor.type().bytes());
      if (bytes <= max_bytes) values_[id.index()] = tensor;
    };
    auto ran = interp::run_visited(graph_, inputs, keep, false);
    if (!ran.ok()) return ran.error();
    if (bytes > max_bytes) return make_diag<DiagCode::MRV0008>(bytes, max_bytes);
    return {};
  }

  Result<double> error_of(const Rounding& rounding) const {
    MRVLC_ASSIGN(const std::vector<double> errors, errors_of(rounding, float_error));
    return errors.empty() ? 0 : std::ranges::max(errors);
  }

  // By what is compared.
  Result<std::vector<double>> errors_of(const Rounding& rounding, const ErrorMeasure& measure) const {
    Changed changed;
    const std::set<ir::ValueId> values(rounding.values.begin(), rounding.values.end());
    const std::set<ir::NodeId> constants(rounding.constants_of.begin(), rounding.constants_of.end());
    for (ir::ValueId id : graph_.inputs())
      if (values.contains(id)) take(id, values_[id.index()], &rounding, changed);
    for (ir::NodeId id : nodes_reached(graph_, rounding)) {
      const bool own = std::ranges::any_of(graph_.node(id).outputs,
                                           [&](ir::ValueId v) { return v.valid() && values.contains(v); });
      MRVLC_TRY(evaluate(id, rounding, constants.contains(id), own ? &values : nullptr, changed));
    }
    std::vector<double> errors;
    for (ir::ValueId id : compared_) {
      const auto now = changed.find(id);
      errors.push_back(now == changed.end() ? 0 : measure(now->second, values_[id.index()]));
    }
    return errors;
  }

 private:
  using Changed = std::map<ir::ValueId, Tensor>;

  // `by`: rounded so, null: not at all.
  void take(ir::ValueId id, Tensor now, const Rounding* by, Changed& changed) const {
    if (by != nullptr && can_be_rounded(now)) now = rounded(*by, id, std::move(now));
    if (now.type().wrapper != Wrapper::None || !(now == values_[id.index()]))
      changed.insert_or_assign(id, std::move(now));
  }

  // `round`: values that are rounded, null where none of the node's is.
  Status evaluate(ir::NodeId id, const Rounding& by, bool round_constants, const std::set<ir::ValueId>* round,
                  Changed& changed) const {
    const ir::Node& node = graph_.node(id);
    std::vector<Tensor> held(node.inputs.size());
    std::vector<const Tensor*> inputs;
    bool differs = false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ir::ValueId v = node.inputs[i];
      const Tensor* constant = v.valid() ? graph_.constant(v) : nullptr;
      const auto now = changed.find(v);
      if (!v.valid()) {
        inputs.push_back(nullptr);
      } else if (constant != nullptr) {
        const bool rounds = round_constants && can_be_rounded(*constant);
        if (rounds) held[i] = rounded_operand(by, node, i, *constant);
        differs = differs || rounds;
        inputs.push_back(rounds ? &held[i] : constant);
      } else {
        differs = differs || now != changed.end();
        inputs.push_back(now == changed.end() ? &values_[v.index()] : &now->second);
      }
    }
    if (!differs) {  // what it makes is known
      for (ir::ValueId v : node.outputs)
        if (round != nullptr && v.valid() && round->contains(v)) take(v, values_[v.index()], &by, changed);
      return {};
    }
    auto results = interp::evaluate(graph_, node, inputs);
    if (!results.ok()) return at_node(std::move(results).error(), node.name, node.op->name);
    for (size_t i = 0; i < node.outputs.size() && i < results->size(); ++i) {
      const ir::ValueId v = node.outputs[i];
      if (!v.valid()) continue;
      const bool rounds = round != nullptr && round->contains(v);
      take(v, std::move((*results)[i]), rounds ? &by : nullptr, changed);
    }
    return {};
  }

  const ir::Graph& graph_;
  const std::vector<ir::ValueId>& compared_;
  std::vector<Tensor> values_;
};

}  // namespace

std::vector<ir::NodeId> nodes_reached(const ir::Graph& graph, const Rounding& rounding) {
  std::vector<bool> changed(graph.value_slots(), false);
  for (ir::ValueId v : rounding.values) changed[v.index()] = true;
  std::vector<bool> first(graph.node_slots(), false);
  for (ir::NodeId n : rounding.constants_of) first[n.index()] = true;
  std::vector<ir::NodeId> out;
  const auto reached = [&](const std::vector<ir::ValueId>& values) {
    return std::ranges::any_of(values, [&](ir::ValueId v) { return v.valid() && changed[v.index()]; });
  };
  for (ir::NodeId id : graph.topological_order()) {
    const ir::Node& node = graph.node(id);
    if (!first[id.index()] && !reached(node.inputs) && !reached(node.outputs)) continue;
    out.push_back(id);
    for (ir::ValueId v : node.outputs)
      if (v.valid()) changed[v.index()] = true;
  }
  return out;
}

Result<std::vector<double>> sensitivities(const ir::Graph& graph,
                                          const std::vector<std::vector<Tensor>>& samples,
                                          const std::vector<Rounding>& roundings,
                                          const std::vector<ir::ValueId>& compared,
                                          const SensitivityOptions& options) {
  std::vector<double> errors(roundings.size(), 0);
  for (const std::vector<Tensor>& inputs : samples) {
    Sample sample(graph, compared);
    MRVLC_TRY(sample.run(inputs, options.max_bytes));
    MRVLC_TRY(for_each_index(roundings.size(), options.jobs, [&](size_t i) -> Status {
      MRVLC_ASSIGN(const double error, sample.error_of(roundings[i]));
      errors[i] = std::max(errors[i], error);
      return {};
    }));
  }
  return errors;
}

int64_t measuring_cost(const ir::Graph& graph, const Rounding& rounding,
                       const std::function<int64_t(const ir::Node&)>& of_node) {
  int64_t cost = 0;
  for (ir::NodeId n : nodes_reached(graph, rounding)) cost = saturating_add(cost, of_node(graph.node(n)));
  return cost;
}

namespace {

// What a record asks for: its value, and the constants of its node.
struct Asked {
  std::optional<double> ValueRecord::*field;
  ValueRecord* record;
};

bool reads_constants(const ir::Graph& graph, const ir::Node& node) {
  return std::ranges::any_of(node.inputs, [&](ir::ValueId v) {
    const Tensor* constant = v.valid() ? graph.constant(v) : nullptr;
    return constant != nullptr && can_be_rounded(*constant);
  });
}

void collect(const ir::Graph& graph, Calibration& calibration, std::vector<Rounding>& roundings,
             std::vector<Asked>& asked) {
  std::map<std::string_view, ValueRecord*> by_name;
  for (ValueRecord& v : calibration.values) by_name.emplace(v.name, &v);
  const auto look_at = [&](ir::ValueId id) {
    const ir::Value& value = graph.value(id);
    const auto found = by_name.find(recorded_name(value.name));
    if (found == by_name.end() || found->second->elem != ElementType::F32) return;
    asked.push_back({&ValueRecord::sensitivity, found->second});
    roundings.push_back({{id}, {}});
    if (value.producer.valid() && reads_constants(graph, graph.node(value.producer))) {
      asked.push_back({&ValueRecord::constants_sensitivity, found->second});
      roundings.push_back({{}, {value.producer}});
    }
    by_name.erase(found);
  };
  for (ir::ValueId id : graph.inputs()) look_at(id);
  for (ir::NodeId n : graph.topological_order())
    for (ir::ValueId id : graph.node(n).outputs)
      if (id.valid()) look_at(id);
}

}  // namespace

Status add_sensitivities(const ir::Graph& graph, const std::vector<std::vector<Tensor>>& samples,
                         int64_t budget, const std::function<int64_t(const ir::Node&)>& of_node,
                         const SensitivityOptions& options, Calibration& calibration) {
  std::vector<Rounding> roundings;
  std::vector<Asked> asked;
  collect(graph, calibration, roundings, asked);
  int64_t cost = 1;
  for (const Rounding& r : roundings) {
    cost = saturating_add(cost, measuring_cost(graph, r, of_node));
    if (cost > budget) return {};
  }
  const std::vector<ir::ValueId> floats = float_outputs(graph);
  if (floats.empty()) return {};
  const auto taken =
      static_cast<size_t>(std::min<int64_t>(budget / cost, static_cast<int64_t>(samples.size())));
  const std::vector<std::vector<Tensor>> first(samples.begin(), samples.begin() + static_cast<long>(taken));
  MRVLC_ASSIGN(const std::vector<double> errors, sensitivities(graph, first, roundings, floats, options));
  for (size_t i = 0; i < errors.size(); ++i) asked[i].record->*asked[i].field = to_three_digits(errors[i]);
  calibration.sensitivity_samples = static_cast<int64_t>(taken);
  return {};
}

double to_three_digits(double error) {
  if (!std::isfinite(error)) return kInfinite;
  double out = 0;
  const std::string text = fmt::format("{:.2e}", error);
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

std::vector<ir::ValueId> float_outputs(const ir::Graph& graph) {
  std::vector<ir::ValueId> out;
  for (ir::ValueId v : graph.outputs())
    if (is_float(graph.value(v).type.elem) && graph.value(v).type.wrapper == Wrapper::None) out.push_back(v);
  return out;
}

Result<std::vector<double>> rounded_errors(const ir::Graph& graph, const std::vector<Tensor>& sample,
                                           const Rounding& rounding, const std::vector<ir::ValueId>& compared,
                                           const ErrorMeasure& measure, const SensitivityOptions& options) {
  Sample values(graph, compared);
  MRVLC_TRY(values.run(sample, options.max_bytes));
  return values.errors_of(rounding, measure);
}

double predicted_error(std::span<const double> sensitivities) {
  double sum = 0;
  for (double s : sensitivities) sum += s * s;
  return std::sqrt(sum);
}

}  // namespace mrvlc::calibration

#include "ideal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grow.h"
#include "mrvlc/driver/compare.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::graphs {
namespace {

constexpr double kFactor = 4;
constexpr double kFloor = 8 * 0x1p-11, kLeast = 0x1p-23;  // eight units, four of the least subnormal numbers
constexpr double kBeyond = 65520;                         // rounds to infinity
constexpr uint64_t kRuns = 3;

bool is_stored(const Tensor& tensor) {
  return tensor.elem() == ElementType::F32 && tensor.type().wrapper == Wrapper::None;
}

double round_to_fp16(double v, bool other_side) {
  const double nearest = static_cast<double>(half_to_float(double_to_half(v)));
  if (!other_side || !std::isfinite(nearest)) return nearest;
  return static_cast<double>(half_to_float(double_to_half(2 * v - nearest)));
}

// Of weights only the mantissa: they are rounded after what is folded into them.
double round_weight(double v, bool other_side) {
  if (std::abs(v) >= 0x1p-14 || v == 0) return round_to_fp16(v, other_side);
  int exponent = 0;
  const double mantissa = std::frexp(v, &exponent);
  return std::ldexp(round_to_fp16(mantissa, other_side), exponent);
}

bool evaluate(const Model& model, const Node& node, const std::vector<Tensor>& held,
              std::vector<Tensor>& out) {
  std::vector<const Tensor*> in;
  for (int v : node.inputs) in.push_back(v < 0 ? nullptr : &held[static_cast<size_t>(v)]);
  auto result = node.bodies.empty() ? evaluate_op(*node.op, node.attrs, in, node.outputs.size())
                                    : evaluate_control(node, in, held);
  if (!result.ok()) return false;
  out = std::move(*result);
  for (size_t i = 0; i < out.size(); ++i)
    if (!(out[i].type() == model.values[static_cast<size_t>(node.outputs[i])].data.type())) return false;
  return true;
}

// One run with roundings; empty tensors where nothing came out, or something of another type.
class Run {
 public:
  Run(const Model& model, uint64_t number) : model_(model), number_(number), dice_(number) {
    for (const Value& value : model.values) {
      held_.push_back(value.data);
      if (value.kind == Kind::Constant || value.kind == Kind::Input) round(held_.back(), value.kind);
    }
    for (const Node& node : model.nodes) step(node);
  }
  const Tensor& held(size_t v) const { return held_[v]; }
  bool failed(size_t v) const { return failed_.size() > v && failed_[v]; }

 private:
  void round(Tensor& tensor, Kind kind) {
    if (!is_stored(tensor)) return;
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      const bool other = number_ > 0 && dice_.chance(50);
      const double v = tensor.as_double(i);
      tensor.set_double(i, kind == Kind::Constant ? round_weight(v, other) : round_to_fp16(v, other));
    }
  }

  void step(const Node& node) {
    failed_.resize(model_.values.size(), false);
    std::vector<Tensor> out;
    const bool good = evaluate(model_, node, held_, out);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const auto v = static_cast<size_t>(node.outputs[i]);
      failed_[v] = !good;
      if (!good) continue;
      held_[v] = std::move(out[i]);
      // What only moves values finds them rounded.
      if (!keeps_bits(*node.op) || !node.bodies.empty()) round(held_[v], Kind::Result);
    }
  }

  const Model& model_;
  uint64_t number_;
  random::Dice dice_;
  std::vector<Tensor> held_;
  std::vector<bool> failed_;
};

std::vector<int> read_by(const Node& node) {
  std::vector<int> inputs = node.inputs;
  for (const auto& [name, body] : node.bodies)
    for (const Value& value : body->values)
      if (value.kind == Kind::Outer) inputs.push_back(value.outer);
  std::erase(inputs, -1);
  return inputs;
}

// Values behind a step of a value that roundings move.
std::vector<bool> lost_values(const Model& model, const std::vector<Run>& runs) {
  const size_t count = model.values.size();
  std::vector<bool> moves(count, false), lost(count, false);
  for (size_t v = 0; v < count; ++v)
    for (const Run& run : runs)
      moves[v] = moves[v] || run.failed(v) || !(run.held(v) == model.values[v].data);
  for (const Node& node : model.nodes) {
    bool moved = false, behind = false;
    for (int v : read_by(node)) {
      moved = moved || moves[static_cast<size_t>(v)];
      behind = behind || lost[static_cast<size_t>(v)];
    }
    for (int v : node.outputs) {
      const auto at = static_cast<size_t>(v);
      const bool steps = is_step(node) || !is_float(model.values[at].data.elem()) || !node.bodies.empty();
      const bool failed =
          std::any_of(runs.begin(), runs.end(), [&](const Run& run) { return run.failed(at); });
      lost[at] = failed || (!depends_on_shape_alone(*node.op) && (behind || (moved && steps)));
    }
  }
  return lost;
}

double reach(const Tensor& tensor) {
  double most = 0;
  if (!is_stored(tensor)) return 0;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (std::isfinite(tensor.as_double(i))) most = std::max(most, std::abs(tensor.as_double(i)));
  return most;
}

// In the order of the model; "a sum" when only roundings on the way make it infinite.
std::string first_beyond(const Model& model) {
  for (const Value& value : model.values) {
    if (value.kind == Kind::Input && reach(value.data) >= kBeyond) return "input";
    if (value.kind == Kind::Constant && reach(value.data) >= kBeyond) return "constant";
  }
  for (const Node& node : model.nodes)
    for (int v : node.outputs)
      if (reach(model.values[static_cast<size_t>(v)].data) >= kBeyond) return std::string(node.op->name);
  return "of roundings alone";
}

void take_error(const Tensor& rounded, const Tensor& exact, const Model& model, Ideal& ideal) {
  for (int64_t i = 0; i < exact.elements(); ++i) {
    const double a = rounded.as_double(i), b = exact.as_double(i);
    if (!std::isfinite(b)) continue;
    if (!std::isfinite(a)) ideal.overflow = first_beyond(model);
    ideal.error = std::max(ideal.error, std::isfinite(a) ? std::abs(a - b) : 0);
  }
}

}  // namespace

bool to_edges(Model& model, uint64_t seed) {
  random::Dice dice(seed);
  std::vector<Tensor> held;
  for (Value& value : model.values) {
    if (value.kind == Kind::Input && is_stored(value.data)) {
      const double amplitude = std::pow(10.0, dice.real(-7, 5));
      for (int64_t i = 0; i < value.data.elements(); ++i) {
        const double v = value.data.as_double(i) * amplitude;
        value.data.set_double(i, std::clamp(v, -1e5, 1e5));
      }
    }
    held.push_back(value.data);
  }
  for (const Node& node : model.nodes) {
    std::vector<Tensor> out;
    if (!evaluate(model, node, held, out)) return false;
    for (size_t i = 0; i < out.size(); ++i)
      held[static_cast<size_t>(node.outputs[i])] = model.values[static_cast<size_t>(node.outputs[i])].data =
          std::move(out[i]);
  }
  return true;
}

std::vector<Ideal> ideal_fp16(const Model& model) {
  std::vector<Run> runs;
  for (uint64_t k = 0; k < kRuns; ++k) runs.emplace_back(model, k);
  const std::vector<bool> lost = lost_values(model, runs);
  std::vector<Ideal> out;
  for (int output : model.outputs) {
    const auto v = static_cast<size_t>(output);
    Ideal& ideal = out.emplace_back();
    ideal.comparable = !lost[v];
    const Tensor& exact = model.values[v].data;
    if (!ideal.comparable || !is_float(exact.elem()) || exact.type().wrapper != Wrapper::None) continue;
    for (const Run& run : runs) take_error(run.held(v), exact, model, ideal);
  }
  return out;
}

std::string worse_than(const Ideal& ideal, const Tensor& actual, const Tensor& expected) {
  if (!ideal.comparable || !ideal.overflow.empty()) return {};
  const bool floats = is_float(expected.elem()) && expected.type().wrapper == Wrapper::None;
  if (!floats || !(actual.type() == expected.type())) return driver::compare(actual, expected, {}).text;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double a = actual.as_double(i), b = expected.as_double(i);
    if (!std::isfinite(b)) continue;
    const double allowed = kFactor * ideal.error + kFloor * std::abs(b) + kLeast;
    if (std::abs(a - b) <= allowed) continue;
    return fmt::format("element {} is {}, not {}; ideal fp16 is off by {:.3g} at most", i, a, b, ideal.error);
  }
  return {};
}

}  // namespace mrvlc::graphs

#include "coarse.h"

#include <algorithm>
#include <cmath>

#include "grow.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::graphs {
namespace {

constexpr int kRuns = 4;
constexpr double kFloor = 2e-3;      // of a tolerance: four units of fp16 at 1
constexpr double kFactor = 6;        // the largest of four random errors to any
constexpr double kSensitive = 1e-2;  // what moves more is not compared
constexpr double kUnit =
    0x1p-10;  // of a rounding to fp16, and of the tables of functions: docs/arithmetic.md
constexpr double kSmallest = 0x1p-24;  // of the subnormal numbers

enum class State : uint8_t { Exact, Moved, Lost };

bool is_coarse(ElementType elem) {
  return elem == ElementType::F32 || elem == ElementType::F16;
}

Tensor moved(random::Dice& dice, Tensor tensor, double error) {
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double v = tensor.as_double(i);
    tensor.set_double(i, v + dice.of({-1.0, 1.0}) * (error * std::abs(v) + kSmallest));
  }
  return tensor;
}

bool is_fp16(const Tensor& tensor) {
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double v = tensor.as_double(i);
    if (static_cast<double>(half_to_float(double_to_half(v))) != v) return false;
  }
  return true;
}

double distance(const Tensor& a, const Tensor& b) {
  if (!(a.type() == b.type())) return INFINITY;
  double most = 0;
  for (int64_t i = 0; i < b.elements(); ++i) {
    const double d = std::abs(a.as_double(i) - b.as_double(i)) / (1 + std::abs(b.as_double(i)));
    most = d <= most ? most : std::isnan(d) ? INFINITY : d;
  }
  return most;
}

// The passes may scale weights by a constant that follows, so that they are rounded even where they were
// fp16.
bool is_weight(const Model& model, size_t v) {
  return model.values[v].kind == Kind::Constant && std::ranges::any_of(model.nodes, [&](const Node& n) {
           const bool product = n.op->kind == Op::Conv || n.op->kind == Op::ConvTranspose ||
                                n.op->kind == Op::Gemm || n.op->kind == Op::MatMul;
           return product && std::ranges::find(n.inputs, static_cast<int>(v)) != n.inputs.end();
         });
}

// One run with random errors.
class Run {
 public:
  Run(const Model& model, size_t set, uint64_t seed)
      : model_(model), set_(set), dice_(seed), held_(model.values.size()) {
    state_.assign(model.values.size(), State::Exact);
    for (size_t v = 0; v < model.values.size(); ++v) {
      const Value& value = model.values[v];
      if (value.kind == Kind::Result) continue;
      held_[v] = value.at(set);
      if (!is_coarse(value.data.elem()) || value.data.type().wrapper != Wrapper::None) continue;
      if (is_fp16(value.at(set)) && !is_weight(model, v)) continue;
      held_[v] = moved(dice_, value.at(set), kUnit);
      state_[v] = State::Moved;
    }
    for (const Node& node : model.nodes) step(node);
  }

  State state(int v) const { return state_[static_cast<size_t>(v)]; }
  const Tensor& held(int v) const { return held_[static_cast<size_t>(v)]; }

 private:
  State worst_input(const Node& node) const {
    State worst = State::Exact;
    for (int v : node.inputs) worst = v < 0 ? worst : std::max(worst, state(v));
    for (const auto& [name, body] : node.bodies) {
      for (const Value& value : body->values)
        if (value.kind == Kind::Outer) worst = std::max(worst, state(value.outer));
    }
    return worst;
  }

  bool compute(const Node& node, std::vector<Tensor>& out) const {
    std::vector<const Tensor*> in;
    for (int v : node.inputs) in.push_back(v < 0 ? nullptr : &held(v));
    auto result = node.bodies.empty() ? evaluate_op(*node.op, node.attrs, in, node.outputs.size())
                                      : evaluate_control(node, in, held_);
    if (!result.ok()) return false;
    out = std::move(*result);
    return true;
  }

  void step(const Node& node) {
    const State worst = worst_input(node);
    std::vector<Tensor> out;
    const bool lost = worst == State::Lost || !compute(node, out);
    for (size_t i = 0; i < node.outputs.size(); ++i)
      set(node, static_cast<size_t>(node.outputs[i]), lost ? nullptr : &out[i], worst);
  }

  void set(const Node& node, size_t v, Tensor* result, State worst) {
    const Tensor& expected = model_.values[v].at(set_);
    const bool same_type = result != nullptr && result->type() == expected.type();
    const bool stays = worst == State::Exact || depends_on_shape_alone(*node.op);
    const bool steps = !stays && (!is_float(expected.elem()) || is_step(node));
    held_[v] = expected;
    state_[v] = !same_type || steps ? State::Lost : stays ? State::Exact : State::Moved;
    if (!same_type || steps) return;
    held_[v] = *result;
    // Nothing is rounded by what only moves or chooses values.
    const bool rounds = is_coarse(expected.elem()) && expected.type().wrapper == Wrapper::None &&
                        (!keeps_bits(*node.op) || !node.bodies.empty()) && !depends_on_shape_alone(*node.op);
    if (!rounds) return;
    held_[v] = moved(dice_, std::move(*result), node.bodies.empty() ? kUnit : 4 * kUnit);
    state_[v] = State::Moved;
  }

  const Model& model_;
  size_t set_;
  random::Dice dice_;
  std::vector<Tensor> held_;
  std::vector<State> state_;
};

}  // namespace

std::vector<std::optional<double>> fp16_tolerances(const Model& model, size_t set) {
  std::vector<std::optional<double>> out(model.outputs.size(), 0.0);
  for (uint64_t k = 0; k < kRuns; ++k) {
    const Run run(model, set, k);
    for (size_t i = 0; i < out.size(); ++i) {
      const int v = model.outputs[i];
      if (run.state(v) == State::Lost) out[i] = std::nullopt;
      if (!out[i] || run.state(v) == State::Exact) continue;
      const double moved_by = distance(run.held(v), model.values[static_cast<size_t>(v)].at(set));
      if (moved_by > kSensitive) {
        out[i] = std::nullopt;
      } else {
        out[i] = std::max(*out[i], kFloor + kFactor * moved_by);
      }
    }
  }
  return out;
}

}  // namespace mrvlc::graphs

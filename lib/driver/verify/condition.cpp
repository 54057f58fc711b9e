// Runs of the interpreter with floats moved by units in the last place, and what outputs do then.
#include "verify/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mrvlc/interp/visit.h"
#include "mrvlc/ops/random.h"
#include "mrvlc/ops/work.h"

namespace mrvlc::driver {
namespace {

// Sums of a few thousand terms, in any order, and Winograd's convolutions stay within as many times what one
// unit of each operand does.
constexpr double kUnitFactor = 32;
constexpr uint64_t kUnitRuns = 4;  // with one unit; behind them, with as many units as the factor has
constexpr double kWideFactor = 2;
// A few runs see some of the elements that may jump.
constexpr int64_t kJumpFactor = 4;
constexpr double kExactIntegers = 65536;  // and less, of float and double; of 16 bits what their digits hold

// As a float has them: digits of the mantissa, and how many at its end are 0 in a value that is taken for
// exact.
struct Format {
  unsigned width, digits, free;
};

std::optional<Format> format_of(ElementType elem) {
  switch (elem) {
    case ElementType::F64:
      return Format{64, 52, 32};
    case ElementType::F32:
      return Format{32, 23, 12};
    case ElementType::F16:
      return Format{16, 10, 6};
    case ElementType::BF16:
      return Format{16, 7, 4};
    default:
      return std::nullopt;
  }
}

// `units` further from 0 or nearer to it. What is not finite, would not be, or would change its sign stays.
template <class Bits>
void nudge(Bits& bits, const Format& f, int64_t units) {
  const uint64_t sign = uint64_t{1} << (f.width - 1), infinity = (sign - 1) >> f.digits << f.digits;
  const uint64_t magnitude = bits & (sign - 1);
  const auto moved = static_cast<int64_t>(magnitude) + units;
  if (magnitude >= infinity || moved <= 0 || static_cast<uint64_t>(moved) >= infinity) return;
  bits = static_cast<Bits>((bits & sign) | static_cast<uint64_t>(moved));
}

bool is_exact(double v, uint64_t bits, const Format& f) {
  const bool few = (bits & ((uint64_t{1} << f.free) - 1)) == 0;
  return few || (f.width >= 32 && std::abs(v) <= kExactIntegers && v == std::trunc(v));
}

template <class Bits, class Lot>
void nudge_all(Tensor& tensor, const Format& f, int64_t units, const Lot& up) {
  const std::span<Bits> all = tensor.mutable_data<Bits>();
  for (size_t i = 0; i < all.size(); ++i)
    if (!is_exact(tensor.as_double(static_cast<int64_t>(i)), all[i], f))
      nudge(all[i], f, up() ? units : -units);
}

// Rounds to integers by a scale: which side is a matter of its last digit.
bool rounds_by_scale(const ir::Node& node) {
  const std::string_view name = node.op->name;
  return name.find("Quantize") != std::string_view::npos || name.starts_with("QLinear");
}

bool overflows(const Tensor& tensor) {
  if (tensor.type().wrapper != Wrapper::None || tensor.elem() != ElementType::F16) return false;
  return std::ranges::any_of(tensor.data<uint16_t>(), [](uint16_t h) { return (h & 0x7fff) == 0x7c00; });
}

std::string maker_of(const ir::Graph& graph, ir::ValueId id) {
  const ir::NodeId made_by = graph.value(id).producer;
  if (!made_by.valid()) return {};
  const ir::Node& node = graph.node(made_by);
  return fmt::format("node '{}' ({})", printable(node.name), node.op->name);
}

bool draws(const ir::Graph& graph) {
  return std::ranges::any_of(graph.topological_order(),
                             [&](ir::NodeId n) { return ops::is_random(graph.node(n)); });
}

}  // namespace

Nudger::Nudger(const ir::Graph& graph, uint64_t run)
    : graph_(graph), constants_(graph.value_slots(), false), run_(run), state_(run + 1) {
  for (ir::NodeId n : graph.topological_order()) {
    const ir::Node& node = graph.node(n);
    if (ops::macs(graph, node) == 0 && !rounds_by_scale(node)) continue;
    for (ir::ValueId v : node.inputs)
      if (v.valid() && graph.is_constant(v)) constants_[v.index()] = true;
  }
}

double Nudger::factor() const {
  return run_ < kUnitRuns ? kUnitFactor : kWideFactor;
}

void Nudger::operator()(ir::ValueId id, Tensor& tensor) {
  const auto format = format_of(tensor.elem());
  if (!format || tensor.type().wrapper != Wrapper::None) return;
  if (graph_.is_constant(id) && !constants_[id.index()]) return;
  const auto units = run_ < kUnitRuns ? int64_t{1} : static_cast<int64_t>(kUnitFactor);
  // The linear congruential generator of Knuth's MMIX; the top bit is the best of it.
  const auto up = [this] {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 63 != 0;
  };
  if (format->width == 64) return nudge_all<uint64_t>(tensor, *format, units, up);
  if (format->width == 32) return nudge_all<uint32_t>(tensor, *format, units, up);
  // Of 16 bits a unit is much, and generated C rounds to them where the reference does.
  nudge_all<uint16_t>(tensor, *format, 1, up);
}

void Movement::add(const Tensor& moved, const Tensor& still, double factor, const Limits& limits) {
  if (still.type().wrapper != Wrapper::None || !(moved.type() == still.type())) return;
  const double limit = limit_of(still.elem(), limits);
  const bool floats = is_float(still.elem());
  auto& by = allowance_.by;
  if (floats) by.resize(static_cast<size_t>(still.elements()), 0);
  int64_t jumps = 0;
  for (int64_t i = 0; i < still.elements(); ++i) {
    const double error = element_error(moved, still, i);
    // What overflows, or is no number any more, says nothing of how far a right value may be.
    if (!std::isfinite(error)) continue;
    const double by_here = floats ? error * (1 + std::abs(still.as_double(i))) : error;
    if (floats) by[static_cast<size_t>(i)] = std::max(by[static_cast<size_t>(i)], factor * by_here);
    if (error <= limit) continue;
    ++jumps;
    allowance_.jump = std::max(allowance_.jump, floats ? kWideFactor * by_here : by_here);
  }
  allowance_.jumps = std::max(allowance_.jumps, kJumpFactor * jumps);
}

Condition::Condition(const ir::Graph& graph, const std::vector<Tensor>& inputs, std::vector<Tensor> still,
                     const Limits& limits)
    : graph_(graph), inputs_(inputs), still_(std::move(still)), limits_(limits), movements_(still_.size()) {
  if (draws(graph)) run_ = kNudgedRuns;
}

bool Condition::next() {
  while (run_ < kNudgedRuns) {
    Nudger nudger(graph_, run_++);
    const auto nudge = [&](ir::ValueId id, Tensor& tensor) {
      nudger(id, tensor);
      if (overflow_.empty() && overflows(tensor)) overflow_ = maker_of(graph_, id);
    };
    const auto moved = interp::run_visited(graph_, inputs_, nudge, true);
    if (!moved.ok()) continue;  // a shape that is computed in floats, say
    for (size_t i = 0; i < moved->size() && i < still_.size(); ++i)
      movements_[i].add((*moved)[i], still_[i], nudger.factor(), limits_);
    return true;
  }
  return false;
}

}  // namespace mrvlc::driver

// Interval analysis of a graph, operand by operand in its order.
#include "mrvlc/range/range.h"

#include "transfer.h"

namespace mrvlc::range {
namespace {

// What one operation of the type is off by, of its result: some units, as functions are not rounded
// correctly; and of results that are nearly zero.
struct Rounding {
  double relative = 0, least = 0, largest = 0;
};

Rounding rounding_of(ElementType type) {
  switch (type) {
    case ElementType::F16:
      return {0x1p-9, 0x1p-23, 65504};
    case ElementType::BF16:
      return {0x1p-6, 0x1p-120, 0x1.FEp127};
    case ElementType::F64:
      return {0x1p-45, 0x1p-1060, std::numeric_limits<double>::max()};
    default:
      return {0x1p-20, 0x1p-140, std::numeric_limits<float>::max()};
  }
}

// Rounding keeps signs: what is zero or more stays so.
double up(double v, const Rounding& r) {
  if (v == 0 || !std::isfinite(v)) return v;
  const double wider = v + std::fabs(v) * r.relative + r.least;
  return v < 0 ? std::min(wider, 0.0) : wider;
}

Interval rounded(const Interval& i, ElementType type, bool exact) {
  const Rounding r = rounding_of(type);
  Interval out = exact ? i : Interval{-up(-i.low, r), up(i.high, r)};
  if (std::isnan(out.low) || std::isnan(out.high) || out.low > out.high) return {};
  if (out.low < -r.largest) out.low = -kInfinity;
  if (out.high > r.largest) out.high = kInfinity;
  return out;
}

const Table& table() {
  static const Table all = [] {
    Table t;
    add_functions(t);
    add_arithmetic(t);
    add_products(t);
    add_windows(t);
    add_normalizations(t);
    add_reductions(t);
    add_conversions(t);
    return t;
  }();
  return all;
}

// Channels that all know the same are one.
Range plain(Range range) {
  const bool same =
      std::ranges::all_of(range.channels, [&](const Interval& i) { return i == range.channels[0]; });
  if (range.channels.empty()) return {};
  if (same || range.channels.size() > size_t{kMostChannels}) return range.hull();
  return range;
}

// Of all values of a graph, beside one for each: 64 MiB. What comes later has one interval a value.
constexpr size_t kMostIntervals = size_t{1} << 22;

Range result_of(const Operands& o) {
  const TensorType& type = o.result();
  if (type.wrapper != Wrapper::None) return {};
  std::optional<Outcome> out = moved(o);
  if (!is_float(type.elem) && !out) return of_type(type.elem);
  if (!out) {
    if (o.output() != 0) return {};
    const auto at = table().find(o.node().kind());
    if (at == table().end()) return {};
    out = at->second(o);
  }
  Range range = each(out->range, [&](const Interval& i) {
    return is_float(type.elem) ? rounded(i, type.elem, out->exact) : i;
  });
  // Where sizes are known at run time only, a channel has no number.
  return o.sized() ? plain(std::move(range)) : Range(range.hull());
}

}  // namespace

Interval Range::hull() const {
  return hull_of(channels);
}

Interval hull_of(const std::vector<Interval>& all) {
  if (all.empty()) return {};
  Interval out = all[0];
  for (const Interval& i : all) out = hull(out, i);
  return out;
}

Interval of_type(ElementType type) {
  if (type == ElementType::Bool) return {0, 1};
  if (!is_integer(type)) return {};
  switch (type) {
    case ElementType::I4:
      return {-8, 7};
    case ElementType::U4:
      return {0, 15};
    case ElementType::I2:
      return {-2, 1};
    case ElementType::U2:
      return {0, 3};
    default:
      break;
  }
  const double half = std::ldexp(1, static_cast<int>(8 * byte_size(type) - 1));
  return is_signed_integer(type) ? Interval{-half, half - 1} : Interval{0, 2 * half - 1};
}

std::vector<Interval> of_constant(const Tensor& tensor, int64_t axis) {
  const Shape& shape = tensor.shape();
  const bool channels = axis >= 0 && axis < static_cast<int64_t>(shape.size()) &&
                        shape[static_cast<size_t>(axis)] <= kMostChannels;
  const int64_t n = channels ? shape[static_cast<size_t>(axis)] : 1;
  if (tensor.elements() == 0 || tensor.elem() == ElementType::String ||
      tensor.type().wrapper != Wrapper::None)
    return {Interval{}};
  int64_t inner = 1;
  for (size_t d = static_cast<size_t>(axis + 1); channels && d < shape.size(); ++d) inner *= shape[d];
  if (!channels) inner = tensor.elements();
  std::vector<Interval> out(static_cast<size_t>(n), {kInfinity, -kInfinity});
  const float* floats = tensor.elem() == ElementType::F32 ? tensor.data<float>().data() : nullptr;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double v = floats != nullptr ? static_cast<double>(floats[i]) : tensor.as_double(i);
    Interval& of = out[static_cast<size_t>(i / inner % n)];
    if (std::isnan(v)) return {Interval{}};
    of.low = std::min(of.low, v), of.high = std::max(of.high, v);
  }
  return out;
}

bool all_sized(const ir::Graph& graph, const ir::Node& node) {
  const auto sized_value = [&](ir::ValueId v) { return !v.valid() || graph.value(v).type.is_static(); };
  return std::ranges::all_of(node.inputs, sized_value) && std::ranges::all_of(node.outputs, sized_value);
}

Interval Operands::hull(size_t i) const {
  if (!has(i)) return {};
  const Tensor* t = constant(i);
  return t != nullptr ? of_constant(*t, -1)[0] : known_(node_.inputs[i]).hull();
}

std::vector<Interval> Operands::along(size_t i, int64_t axis) const {
  if (!has(i)) return {Interval{}};
  if (const Tensor* t = constant(i)) {
    const bool there = axis >= 0 && axis < t->type().rank();
    return of_constant(*t, there ? axis : -1);
  }
  const Range r = range(i);
  return r.by_channel() && r.axis == axis ? r.channels : std::vector{r.hull()};
}

Ranges::Ranges(const ir::Graph& graph, const Stated& stated) : ranges_(graph.value_slots()) {
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ir::Value& input = graph.value(graph.inputs()[i]);
    const auto told = stated.find(i);
    if (input.type.wrapper == Wrapper::None)
      ranges_[input.id.index()] = told != stated.end() ? told->second : of_type(input.type.elem);
  }
  size_t room = kMostIntervals;
  const Operands::Known known = [this](ir::ValueId v) -> const Range& { return range(v); };
  for (ir::NodeId id : graph.topological_order()) {
    const ir::Node& node = graph.node(id);
    const bool sized = all_sized(graph, node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].valid()) continue;
      Range range = result_of(Operands(graph, node, i, known, sized));
      const size_t more = range.channels.size() - 1;
      if (more > room) range = range.hull();
      room -= more > room ? 0 : more;
      ranges_[node.outputs[i].index()] = std::move(range);
    }
  }
}

const Range& Ranges::range(ir::ValueId value) const {
  static const Range kNothing;
  return value.valid() && value.index() < ranges_.size() ? ranges_[value.index()] : kNothing;
}

}  // namespace mrvlc::range

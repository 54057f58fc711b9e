// Initializers, batch norm and factors folded into them, and their rounding.
#include "constants.h"

#include <algorithm>
#include <cmath>

#include "mrvlc/tensor/float16.h"

namespace mrvlc::prove {
namespace {

// What a node behind a product does to its channels: y = scale x + shift.
struct Affine {
  std::vector<double> scale, shift;
};

const Tensor* constant_input(const ir::Graph& g, const ir::Node& n, size_t i) {
  return i < n.inputs.size() ? g.constant(n.inputs[i]) : nullptr;
}

std::string_view op_of(const ir::Node& n) {
  return n.op->name;
}

std::optional<Affine> batch_norm(const ir::Graph& g, const ir::Node& n) {
  const Tensor* t[4];
  for (size_t i = 0; i < 4; ++i)
    if ((t[i] = constant_input(g, n, i + 1)) == nullptr) return std::nullopt;
  Affine a;
  const auto epsilon = static_cast<double>(n.float_attr("epsilon"));
  for (int64_t c = 0; c < t[0]->elements(); ++c) {
    a.scale.push_back(t[0]->as_double(c) / std::sqrt(t[3]->as_double(c) + epsilon));
    a.shift.push_back(t[1]->as_double(c) - t[2]->as_double(c) * a.scale.back());
  }
  return a;
}

std::optional<Affine> affine(const ir::Graph& g, const ir::Node& n) {
  if (op_of(n) == "BatchNormalization") return batch_norm(g, n);
  const bool sum = op_of(n) == "Add" || op_of(n) == "Sub";
  if (!sum && op_of(n) != "Mul" && op_of(n) != "Div") return std::nullopt;
  const Tensor* t = constant_input(g, n, 1);
  const bool commutes = op_of(n) == "Add" || op_of(n) == "Mul";
  if (t == nullptr && commutes) t = constant_input(g, n, 0);
  if (t == nullptr || !is_float(t->elem())) return std::nullopt;
  Affine a;
  for (int64_t c = 0; c < t->elements(); ++c) {
    const double x = t->as_double(c);
    a.scale.push_back(op_of(n) == "Mul" ? x : op_of(n) == "Div" ? 1 / x : 1);
    a.shift.push_back(op_of(n) == "Add" ? x : op_of(n) == "Sub" ? -x : 0);
  }
  return a;
}

double of_channel(const std::vector<double>& v, size_t c) {
  return v.size() == 1 ? v[0] : v[c];
}

}  // namespace

void Constants::index() {
  for (size_t i = 0; i < g_.value_slots(); ++i) {
    const ir::ValueId id(static_cast<uint32_t>(i));
    if (g_.is_constant(id)) by_name_.emplace(g_.value(id).name, id);
  }
  for (ir::NodeId n : g_.topological_order())
    for (ir::SourceId s : g_.lineage(n).sources) by_source_.emplace(g_.sources()[s.index()].id, n);
}

const Tensor& Constants::of(const std::string& name) {
  if (const auto known = known_.find(name); known != known_.end()) return known->second;
  const auto hint = region_.constants.find(name);
  if (hint == region_.constants.end()) throw NotProved{"it reads '" + name + "', which is no constant"};
  const FoldedConstant& c = hint->second;
  if (c.folded) return known_.emplace(name, folded(c)).first->second;
  const auto value = by_name_.find(name);
  if (value == by_name_.end()) throw NotProved{"constant '" + name + "' is not one of the model"};
  const Tensor& t = g_.value(value->second).constant();
  if (t.elem() != c.value.elem || t.elements() != element_count(c.value.shape))
    throw NotProved{"constant '" + name + "' has another type or shape in the model"};
  return known_.emplace(name, t.reshaped(c.value.shape)).first->second;
}

Tensor Constants::folded(const FoldedConstant& c) {
  if (auto derived = scaled(c)) return std::move(*derived);
  const TensorType type{c.value.elem, c.value.shape};
  if (!c.bytes || static_cast<int64_t>(c.bytes->size()) != type.bytes())
    throw NotProved{"how constant '" + c.value.name + "' was folded is not known"};
  taken_.push_back(c.value.name);
  return Tensor(type, *c.bytes);
}

// Weights or bias of a product and what follows it: w = fp32(double(w) * s), b = fp32(double(b) * s + t), in
// turn.
std::optional<Tensor> Constants::scaled(const FoldedConstant& c) const {
  if (c.value.elem != ElementType::F32) return std::nullopt;
  std::vector<ir::NodeId> nodes;
  for (const std::string& s : c.sources) {
    const auto found = by_source_.find(s);
    if (found == by_source_.end()) return std::nullopt;
    nodes.push_back(found->second);
  }
  std::sort(nodes.begin(), nodes.end(),
            [&](ir::NodeId a, ir::NodeId b) { return g_.node(a).position < g_.node(b).position; });
  if (nodes.size() < 2) return std::nullopt;
  const ir::Node& product = g_.node(nodes[0]);
  if (op_of(product) != "Conv") return std::nullopt;
  const Tensor* w = constant_input(g_, product, 1);
  const Tensor* b = constant_input(g_, product, 2);
  if (w == nullptr || (product.inputs.size() > 2 && product.inputs[2].valid() && b == nullptr))
    return std::nullopt;
  const auto channels = static_cast<size_t>(w->shape()[0]);
  const bool weights = c.value.shape == w->shape();
  if (!weights && c.value.shape != Shape{static_cast<int64_t>(channels)}) return std::nullopt;
  const size_t inner = weights ? static_cast<size_t>(w->elements()) / channels : 1;
  std::vector<float> v(channels * inner, 0.0f);
  for (size_t i = 0; i < v.size(); ++i)
    if (weights || b != nullptr)
      v[i] = static_cast<float>((weights ? w : b)->as_double(static_cast<int64_t>(i)));
  for (size_t k = 1; k < nodes.size(); ++k) {
    const auto a = affine(g_, g_.node(nodes[k]));
    if (!a || (a->scale.size() != 1 && a->scale.size() != channels)) return std::nullopt;
    const bool unit = std::all_of(a->scale.begin(), a->scale.end(), [](double x) { return x == 1; });
    for (size_t i = 0; i < v.size(); ++i) {
      const double s = of_channel(a->scale, i / inner), t = of_channel(a->shift, i / inner);
      if (weights && !unit) v[i] = static_cast<float>(static_cast<double>(v[i]) * s);
      if (!weights) v[i] = static_cast<float>(static_cast<double>(v[i]) * s + t);
    }
  }
  Tensor out(TensorType{ElementType::F32, c.value.shape});
  std::copy(v.begin(), v.end(), out.mutable_data<float>().begin());
  return out;
}

std::vector<float> Constants::numbers(const std::string& name) {
  std::vector<float> out;
  for (double d : of(name).to_doubles()) out.push_back(static_cast<float>(d));
  return out;
}

float rounded_half(float v) {
  return half_to_float(float_to_half(v));
}

bool fits_half(std::span<const float> numbers) {
  double all = 0, lost = 0;
  for (float v : numbers) {
    if (!std::isfinite(v)) continue;
    const float h = rounded_half(v);
    if (!std::isfinite(h)) return false;
    const auto x = static_cast<double>(v), e = x - static_cast<double>(h);
    all += x * x;
    if (std::fabs(v) < 0x1p-14f) lost += e * e;
  }
  return lost <= 0x1p-16 * all;
}

std::vector<float> as_stored(std::vector<float> numbers) {
  if (fits_half(numbers))
    for (float& v : numbers) v = rounded_half(v);
  return numbers;
}

std::vector<float> carried(std::span<const float> p, std::span<const uint32_t> channel_of,
                           uint32_t channels) {
  std::vector<float> carry(channels, 0.0f), out(p.size());
  for (size_t i = 0; i < p.size(); ++i) {
    float& c = carry[channel_of[i]];
    if (p[i] == 0) continue;
    const float sum = p[i] + c;
    out[i] = rounded_half(sum);
    c = sum - out[i];
    if (!std::isfinite(out[i])) {
      out[i] = rounded_half(p[i]);
      c = 0;
    }
  }
  return out;
}

}  // namespace mrvlc::prove

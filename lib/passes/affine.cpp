// BatchNormalization and arithmetic by constants as scale and shift of channels, folded into the layer ahead.
#include "affine.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/weights.h"

namespace mrvlc::passes {
namespace {

bool all_finite(const std::vector<double>& v) {
  return std::all_of(v.begin(), v.end(), [](double x) { return std::isfinite(x); });
}

int64_t channels(const TensorType& type) {
  return type.rank() >= 2 ? type.shape[1] : 0;
}

// The constant as one number a channel; nullopt when it varies along another axis of a result of `rank`
// dimensions.
std::optional<std::vector<double>> per_channel(const Tensor& t, const TensorType& result) {
  int64_t count = channels(result), first = result.rank() - t.type().rank();
  if (first < 0 || count == 0 || !is_float(t.elem())) return std::nullopt;
  for (int64_t d = 0; d < t.type().rank(); ++d) {
    if (t.shape()[static_cast<size_t>(d)] != 1 && d + first != 1) return std::nullopt;
  }
  if (t.elements() != 1 && t.elements() != count) return std::nullopt;
  std::vector<double> v = t.to_doubles();
  v.resize(static_cast<size_t>(count), v[0]);
  return v;
}

bool is_finite(float x) {
  return (std::bit_cast<uint32_t>(x) & 0x7f800000u) != 0x7f800000u;
}

// The case of nearly all weights; they may lie in the model's file, at any address.
std::optional<Tensor> scaled_f32(const Tensor& w, const WeightLayout& layout,
                                 const std::vector<double>& scale) {
  Tensor out(w.type());
  auto from = w.bytes();
  auto to = out.mutable_data<float>();
  bool overflow = false;
  for (size_t i = 0; i < to.size();) {
    double factor = scale[static_cast<size_t>(layout.channel(static_cast<int64_t>(i)))];
    for (size_t end = i + static_cast<size_t>(layout.inner); i < end; ++i) {
      float before = 0;
      std::memcpy(&before, from.data() + i * sizeof before, sizeof before);
      to[i] = static_cast<float>(static_cast<double>(before) * factor);
      overflow |= is_finite(before) && !is_finite(to[i]);
    }
  }
  if (overflow) return std::nullopt;
  return out;
}

// nullopt when a finite weight would become infinite in its type.
std::optional<Tensor> scaled(const Tensor& w, const WeightLayout& layout, const std::vector<double>& scale) {
  if (w.elem() == ElementType::F32) return scaled_f32(w, layout, scale);
  Tensor out(w.type());
  for (int64_t i = 0; i < w.elements(); ++i) {
    double before = w.as_double(i);
    out.set_double(i, before * scale[static_cast<size_t>(layout.channel(i))]);
    if (std::isfinite(before) && !std::isfinite(out.as_double(i))) return std::nullopt;
  }
  return out;
}

// The bias as one number a channel, beta of Gemm included; zeros when there is none.
std::optional<std::vector<double>> bias_of(const Graph& g, const Node& n, const TensorType& result) {
  ValueId bias = input_or_none(n, 2);
  if (!bias.valid()) return std::vector<double>(static_cast<size_t>(channels(result)), 0.0);
  if (!g.is_constant(bias)) return std::nullopt;
  const Tensor& t = *g.constant(bias);
  if (!n.is(Op::Gemm)) return t.elements() == channels(result) ? std::optional(t.to_doubles()) : std::nullopt;
  auto v = per_channel(t, result);
  if (v) {
    for (double& x : *v) x *= static_cast<double>(ops::attr::beta(n));
  }
  return v;
}

std::optional<Tensor> new_bias(const Graph& g, const Node& n, ElementType elem, const ChannelAffine& a) {
  auto bias = bias_of(g, n, type_of(g, n.outputs[0]));
  if (!bias || bias->size() != a.scale.size()) return std::nullopt;
  Tensor out(TensorType{elem, {static_cast<int64_t>(bias->size())}});
  for (size_t c = 0; c < bias->size(); ++c) {
    out.set_double(static_cast<int64_t>(c), (*bias)[c] * a.scale[c] + a.shift[c]);
    if (!std::isfinite(out.as_double(static_cast<int64_t>(c)))) return std::nullopt;
  }
  return out;
}

bool foldable_producer(const Graph& g, const Node* n, ValueId data, ValueId follower_out) {
  if (n == nullptr || !n->is(Op::Conv, Op::ConvTranspose, Op::Gemm)) return false;
  if (!single_use(g, data) || g.use_count(follower_out) == 0 || n->inputs.size() < 2) return false;
  if (!g.is_constant(n->inputs[1]) || !is_float(type_of(g, n->inputs[1]).elem)) return false;
  // Other dimensions than that of the channels may be dynamic: the map does not depend on them.
  const TensorType& type = type_of(g, data);
  return type == type_of(g, follower_out) && type.wrapper == Wrapper::None && !type.is_dynamic(1);
}

bool is_one(const std::vector<double>& v) {
  return std::all_of(v.begin(), v.end(), [](double x) { return x == 1; });
}

}  // namespace

std::optional<ChannelAffine> batchnorm_affine(const Graph& g, const Node& n) {
  if (!n.is(Op::BatchNormalization) || n.inputs.size() != 5 || ops::attr::training_mode(n))
    return std::nullopt;
  for (size_t i = 1; i < n.outputs.size(); ++i) {
    if (g.use_count(n.outputs[i]) != 0) return std::nullopt;
  }
  std::array<std::vector<double>, 4> stats;  // gamma, beta, mean, variance
  auto count = static_cast<size_t>(channels(type_of(g, n.outputs[0])));
  for (size_t i = 0; i < 4; ++i) {
    const Tensor* t = g.constant(n.inputs[i + 1]);
    if (t == nullptr || static_cast<size_t>(t->elements()) != count) return std::nullopt;
    stats[i] = t->to_doubles();
  }
  ChannelAffine a;
  auto epsilon = static_cast<double>(ops::attr::epsilon(n));
  for (size_t c = 0; c < count; ++c) {
    a.scale.push_back(stats[0][c] / std::sqrt(stats[3][c] + epsilon));
    a.shift.push_back(stats[1][c] - stats[2][c] * a.scale[c]);
  }
  if (count == 0 || !all_finite(a.scale) || !all_finite(a.shift)) return std::nullopt;
  return a;
}

std::optional<ChannelAffine> arithmetic_affine(const Graph& g, const Node& n, ValueId& data) {
  bool commutes = n.is(Op::Mul, Op::Add);
  if ((!commutes && !n.is(Op::Div, Op::Sub)) || n.inputs.size() != 2) return std::nullopt;
  size_t c = g.is_constant(n.inputs[1]) ? 1 : 0;
  const Tensor* t = g.constant(n.inputs[c]);
  data = n.inputs[1 - c];
  const TensorType& result = type_of(g, n.outputs[0]);
  if (t == nullptr || (c == 0 && !commutes) || !(type_of(g, data) == result)) return std::nullopt;
  auto v = per_channel(*t, result);
  if (!v) return std::nullopt;
  ChannelAffine a{std::vector<double>(v->size(), 1.0), std::vector<double>(v->size(), 0.0)};
  for (size_t i = 0; i < v->size(); ++i) {
    double x = (*v)[i];
    if (n.is(Op::Mul)) a.scale[i] = x;
    if (n.is(Op::Div)) a.scale[i] = 1 / x;
    if (n.is(Op::Add)) a.shift[i] = x;
    if (n.is(Op::Sub)) a.shift[i] = -x;
  }
  if (!all_finite(a.scale) || !all_finite(a.shift)) return std::nullopt;
  return a;
}

bool is_rounded_next(const Graph& g, ValueId value) {
  constexpr int kMostSteps = 4;  // scale, shift, and the same once more
  for (int step = 0; step < kMostSteps; ++step) {
    const auto& users = g.value(value).users;
    if (std::any_of(users.begin(), users.end(),
                    [&](NodeId u) { return ops::rounds_to_integers(g, g.node(u)); }))
      return true;
    ValueId data;
    if (users.size() != 1 || !arithmetic_affine(g, g.node(users[0]), data)) return false;
    value = g.node(users[0]).outputs[0];
  }
  return false;
}

bool leaves_half(const Tensor& before, const Tensor& after) {
  return before.elem() == ElementType::F32 && !fits_format(after) && fits_format(before);
}

bool fold_into_producer(Rewriter& rw, NodeId follower, ValueId data, const ChannelAffine& affine,
                        Because because, bool half_weights) {
  const Graph& g = rw.graph();
  const Node* layer = producer(g, data);
  if (!foldable_producer(g, layer, data, g.node(follower).outputs[0])) return false;
  if (is_rounded_next(g, g.node(follower).outputs[0])) return false;
  NodeId layer_id = layer->id;
  ValueId weights = layer->inputs[1], bias = input_or_none(*layer, 2);
  bool keeps_weights = is_one(affine.scale);
  // A copy of weights that others read, too, would cost more memory than the arithmetic it saves.
  if (!keeps_weights && g.use_count(weights) != 1) return false;
  const Tensor& w = *g.constant(weights);
  auto b = new_bias(g, *layer, w.elem(), affine);
  if (!b) return false;
  std::vector<Attr> attrs = layer->attrs;
  if (layer->is(Op::Gemm)) ir::set_attr(*layer->op, attrs, "beta", Attr(1.0f));
  ValueId new_weights = weights;
  if (!keeps_weights) {
    auto layout = ops::weight_layout(*layer, w.shape());
    auto s = layout ? scaled(w, *layout, affine.scale) : std::nullopt;
    if (!s || (half_weights && leaves_half(w, *s))) return false;
    new_weights = rw.constant(std::move(*s), origins(g, {layer_id, follower}, {weights}));
  }
  ValueId b_id = rw.constant(std::move(*b), origins(g, {layer_id, follower}, {bias}));
  const Node& old = g.node(layer_id);  // making constants moved nothing of the nodes
  std::array<NodeId, 2> from{layer_id, follower};
  TensorType type = type_of(g, data);
  NodeId now =
      rw.create(*old.op, {old.inputs[0], new_weights, b_id}, std::move(attrs), {type}, from, old.name);
  bypass(rw, follower, rw.output(now), because);
  erase_if_unused(rw, layer_id, "merged with what scales its result");
  return true;
}

}  // namespace mrvlc::passes

// Conv, Gemm, MatMul and their epilogues.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reference.h"
#include "shapes.h"

namespace mrvlc::prove {
namespace {

std::vector<uint64_t> elements(const Field& f, std::span<const float> numbers) {
  std::vector<uint64_t> out;
  out.reserve(numbers.size());
  for (float v : numbers) out.push_back(f.of(v));
  return out;
}

// Weights with the factors of their channels, before rounding.
std::vector<float> factored(std::span<const float> w, std::span<const uint32_t> channel_of,
                            const std::vector<float>& scale) {
  std::vector<float> p(w.begin(), w.end());
  if (!scale.empty())
    for (size_t i = 0; i < p.size(); ++i) p[i] = p[i] * scale[channel_of[i]];
  return p;
}

}  // namespace

// A constant operand of one value or one a channel: scale and shift of each.
std::optional<std::pair<std::vector<float>, std::vector<float>>> Reference::affine(const Node& n,
                                                                                   const std::string& current,
                                                                                   uint32_t channels,
                                                                                   size_t channel_dim) {
  if (!n.is({"Add", "Sub", "Mul", "Div"}) || n.inputs.size() != 2) return std::nullopt;
  const bool left = n.inputs[0] == current;
  const std::string& other = n.inputs[left ? 1 : 0];
  if (n.inputs[left ? 0 : 1] != current || !c_.is_constant(other)) return std::nullopt;
  if (!left && n.is({"Sub", "Div"})) return std::nullopt;
  const Tensor& t = c_.of(other);
  const size_t rank = n.outputs.at(0).shape.size();
  if (t.shape().size() > rank || (t.elements() != 1 && t.elements() != channels)) return std::nullopt;
  for (size_t d = 0; d < t.shape().size(); ++d)
    if (t.shape()[d] != 1 && d + rank - t.shape().size() != channel_dim) return std::nullopt;
  std::vector<float> c = c_.numbers(other);
  c.resize(channels, c[0]);
  std::vector<float> scale(channels, 1.0f), shift(channels, 0.0f);
  for (uint32_t i = 0; i < channels; ++i) {
    if (n.op == "Add") shift[i] = c[i];
    if (n.op == "Sub") shift[i] = -c[i];
    if (n.op == "Mul") scale[i] = c[i];
    if (n.op == "Div") scale[i] = 1 / c[i];
  }
  return std::pair{scale, shift};
}

Reference::Epilogue Reference::fold(const Layer& l, std::span<const float> p,
                                    std::span<const uint32_t> channel_of, uint32_t channels,
                                    bool allow_residual) {
  Epilogue e, best;
  e.taken = best.taken = l.anchor + 1;
  std::string current = l.nodes[l.anchor].outputs.at(0).name;
  const size_t channel_dim =
      l.kind == "fc" || l.kind == "matmul" ? l.nodes[l.anchor].outputs[0].shape.size() - 1 : 1;
  std::vector<float> scale(channels, 1.0f), shift(channels, 0.0f);
  while (e.taken < l.nodes.size()) {
    const Node& n = l.nodes[e.taken];
    const auto step = affine(n, current, channels, channel_dim);
    if (!step || n.outputs.at(0).shape != l.nodes[l.anchor].outputs[0].shape || is_wide(n.outputs[0].name))
      break;
    for (uint32_t i = 0; i < channels; ++i) {
      if (n.is({"Add", "Sub"})) {
        shift[i] += step->second[i];
      } else {
        scale[i] *= step->first[i];
        shift[i] *= step->first[i];
      }
    }
    ++e.taken;
    current = n.outputs[0].name;
    if (!p.empty() && !fits_half(factored(p, channel_of, scale))) continue;
    if (p.empty() && !std::all_of(scale.begin(), scale.end(), [](float s) { return s == 1; })) break;
    best.taken = e.taken;
    best.scale = scale;
    best.shift = shift;
  }
  current = l.nodes[best.taken - 1].outputs[0].name;
  while (best.taken < l.nodes.size() && best.activation == nullptr) {
    const Node& n = l.nodes[best.taken];
    const bool wide = is_wide(n.outputs.at(0).name) && !is_asked(n.outputs[0].name);
    if (n.outputs[0].shape != l.nodes[l.anchor].outputs[0].shape || wide) break;
    const bool own = !n.inputs.empty() && n.inputs[0] == current;
    if (own && (n.is({"Relu", "Clip", "LeakyRelu", "HardSigmoid", "HardSwish"}) || table_function(n))) {
      best.activation = &n;
    } else {
      if (n.op != "Add" || n.inputs.size() != 2 || !best.residual.empty() || !allow_residual) break;
      const std::string& other = n.inputs[own ? 1 : 0];
      if (other == current || c_.is_constant(other) || is_wide(other) ||
          get(other).shape != n.outputs[0].shape)
        break;
      const auto stored = region_.stored.find(other);
      if (stored == region_.stored.end() || stored->second != ElementType::F16) break;
      best.residual = other;
    }
    ++best.taken;
    current = n.outputs[0].name;
  }
  return best;
}

void Reference::finish_product(const Layer& l, const Epilogue& e, Symbols s, const std::vector<float>& bias,
                               size_t channel_dim) {
  const size_t channels = static_cast<size_t>(s.shape[channel_dim]);
  size_t inner = 1;
  for (size_t d = channel_dim + 1; d < s.shape.size(); ++d) inner *= static_cast<size_t>(s.shape[d]);
  const Symbols* residual = e.residual.empty() ? nullptr : &get(e.residual);
  for (size_t i = 0; i < s.v.size(); ++i) {
    const size_t c = i / inner % channels;
    float b = bias.empty() ? 0.0f : bias[c];
    if (!e.scale.empty()) b = b * e.scale[c] + e.shift[c];
    Val x = s.v[i] == 0 ? number(0) : s.v[i];
    x = v_.add(x, number(b));
    if (residual != nullptr) x = v_.add(x, residual->v[i]);
    if (e.activation != nullptr) x = activation(*e.activation, x);
    s.v[i] = x;
  }
  const ValueInfo& y = l.nodes[e.taken - 1].outputs.at(0);
  // What is left of the epilogue reads the stored y.
  if (e.taken < l.nodes.size() && !region_.stored.contains(y.name) &&
      !is_asked(l.nodes.back().outputs.at(0).name))
    for (Val& v : s.v) v = v_.half(v);
  put(y, std::move(s));
  if (e.taken < l.nodes.size()) elementwise(l, e.taken);
}

void Reference::conv(const Layer& l) {
  if (l.anchor != 0) throw NotProved{"a convolution that is not the first of its layer"};
  const Node& n = l.nodes[0];
  if (is_asked(n.inputs.at(0)) || is_asked(n.inputs.at(1)))
    throw NotProved{"pairs and shifts have no reference yet"};
  const Symbols& x = get(n.inputs.at(0));
  const Tensor& w = c_.of(n.inputs.at(1));
  const ConvShape c = conv_shape(n, x.shape, w.shape(), n.outputs.at(0).shape);
  const std::vector<float> p = c_.numbers(n.inputs[1]);
  const auto each = static_cast<uint32_t>(p.size() / static_cast<size_t>(c.out));
  std::vector<uint32_t> channel_of(p.size());
  for (uint32_t i = 0; i < channel_of.size(); ++i) channel_of[i] = i / each;
  const bool multiplier = c.in == c.groups && c.groups > 1 && c.out > c.in;
  const Epilogue e = fold(l, p, channel_of, static_cast<uint32_t>(c.out), !multiplier);
  const std::vector<float> rounded =
      carried(factored(p, channel_of, e.scale), channel_of, static_cast<uint32_t>(c.out));
  Symbols s{n.outputs[0].shape, conv_sums(v_, x, c, elements(v_.field(), rounded), {}, true)};
  const bool biased = n.inputs.size() > 2 && !n.inputs[2].empty();
  finish_product(l, e, std::move(s), biased ? c_.numbers(n.inputs[2]) : std::vector<float>(), 1);
}

void Reference::transposed(const Layer&) {
  throw NotProved{"ConvTranspose has no reference yet"};
}

// Where the operand is a flattened image that is stored channels last: k in the order of storage.
std::vector<int64_t> Reference::storage_order(const std::string& name, int64_t k) const {
  std::vector<int64_t> order(static_cast<size_t>(k));
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto made = producer_.find(name);
  if (made == producer_.end() || !made->second->is({"Reshape", "Flatten", "Squeeze"})) return order;
  const std::string& source = made->second->inputs.at(0);
  const Symbols* x = find(source);
  if (x == nullptr || !channels_last_.contains(source) || x->shape.size() < 3) return order;
  const Shape& s = x->shape;
  if (made->second->outputs.at(0).shape != Shape{s[0], k}) return order;
  const auto from = producer_.find(source);
  const bool input = from == producer_.end();
  // Views and parts of a Concat are copied first.
  if (!input && from->second->is(
                    {"Reshape", "Slice", "Split", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Expand"}))
    return order;
  for (const Layer& l : region_.layers)
    for (const Node& n : l.nodes) {
      const bool reads = std::find(n.inputs.begin(), n.inputs.end(), name) != n.inputs.end();
      if (reads && !(n.is({"Gemm", "MatMul"}) && n.inputs[0] == name && c_.is_constant(n.inputs.at(1))))
        return order;
      const bool joined =
          n.op == "Concat" && std::find(n.inputs.begin(), n.inputs.end(), source) != n.inputs.end();
      if (joined) return order;
    }
  for (const ProgramPort& p : region_.outputs)
    if (p.value.name == name) return order;
  if (s[1] == 0) return order;
  const int64_t inner = k / s[1];
  for (int64_t i = 0; i < k; ++i) order[static_cast<size_t>(i)] = i % s[1] * inner + i / s[1];
  return order;
}

void Reference::product(const Layer& l) {
  if (l.anchor != 0) throw NotProved{"a product that is not the first of its layer"};
  const Node& n = l.nodes[0];
  if (is_asked(n.inputs.at(0)) || is_asked(n.inputs.at(1)))
    throw NotProved{"pairs and shifts have no reference yet"};
  if (!c_.is_constant(n.inputs.at(1)) || c_.of(n.inputs[1]).shape().size() > 2)
    return product_of_activations(l);
  const Symbols& x = get(n.inputs.at(0));
  const Tensor& t = c_.of(n.inputs[1]);
  if (t.shape().size() != 2 || x.shape.empty()) throw NotProved{"a product with a vector"};
  const bool gemm = n.op == "Gemm", across = gemm && n.integer("transB", 0) != 0;
  if (gemm && n.integer("transA", 0) != 0) throw NotProved{"Gemm with transA has no reference yet"};
  const int64_t k = t.shape()[across ? 1 : 0], m = t.shape()[across ? 0 : 1];
  if (x.shape.back() != k) throw NotProved{"a product whose shapes do not agree"};
  std::vector<float> p = c_.numbers(n.inputs[1]);
  const float alpha = gemm ? n.real("alpha", 1) : 1.0f;
  std::vector<uint32_t> channel_of(p.size());
  for (size_t i = 0; i < p.size(); ++i) {
    channel_of[i] = static_cast<uint32_t>(across ? static_cast<int64_t>(i) / k : static_cast<int64_t>(i) % m);
    p[i] = p[i] * alpha;
  }
  std::vector<float> bias;
  if (gemm && n.inputs.size() > 2 && !n.inputs[2].empty()) {
    const Shape& shape = c_.of(n.inputs[2]).shape();
    if (shape.size() > 1 && shape[0] != 1)
      throw NotProved{"Gemm with a bias of several rows has no reference yet"};
    bias = c_.numbers(n.inputs[2]);
    bias.resize(static_cast<size_t>(m), bias[0]);
    for (float& b : bias) b = n.real("beta", 1) * b;
  }
  const Epilogue e = fold(l, p, channel_of, static_cast<uint32_t>(m), true);
  const std::vector<float> rounded =
      carried(factored(p, channel_of, e.scale), channel_of, static_cast<uint32_t>(m));
  const std::vector<int64_t> order = storage_order(n.inputs[0], k);
  std::vector<uint64_t> w(static_cast<size_t>(k * m)), in(x.v.size());
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < m; ++j) {
      const int64_t from = order[static_cast<size_t>(i)];
      w[static_cast<size_t>(i * m + j)] =
          v_.field().of(rounded[static_cast<size_t>(across ? j * k + from : from * m + j)]);
    }
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = v_.element(x.v[i / static_cast<size_t>(k) * static_cast<size_t>(k) +
                           static_cast<size_t>(order[i % static_cast<size_t>(k)])]);
  Window window;
  window.in_h = window.out_h = static_cast<int64_t>(in.size()) / k;
  Symbols s{n.outputs.at(0).shape, std::vector<Val>(static_cast<size_t>(window.out_h * m), 0)};
  Weights(v_.field(), 1, k, m, w, true).add_sums(window, in, s.v);
  finish_product(l, e, std::move(s), bias, s.shape.size() - 1);
}

void Reference::product_of_activations(const Layer& l) {
  const Node& n = l.nodes[0];
  if (n.op != "MatMul") throw NotProved{"Gemm of two activations"};
  const bool constant_right = c_.is_constant(n.inputs.at(1)), constant_left = c_.is_constant(n.inputs.at(0));
  const auto half = [&](const std::string& name) {
    Symbols s = constant(name);
    for (Val& v : s.v) v = v_.half(v);
    return s;
  };
  const Symbols a = constant_left ? half(n.inputs[0]) : get(n.inputs[0]),
                b = constant_right ? half(n.inputs[1]) : get(n.inputs[1]);
  if (a.shape.size() < 2 || b.shape.size() < 2) throw NotProved{"a product with a vector"};
  const Shape& y = n.outputs.at(0).shape;
  Symbols s{y, product_sums(v_, a, b, y, true)};
  const Epilogue e = fold(l, {}, {}, static_cast<uint32_t>(y.back()), true);
  finish_product(l, e, std::move(s), {}, y.size() - 1);
}

void Reference::integer_conv(const Layer& l) {
  const Node& n = l.nodes.at(l.anchor);
  if (n.op != "QLinearConv") throw NotProved{n.op + " has no reference yet"};
  if (l.anchor != 0) throw NotProved{"a product that is not the first of its layer"};
  const Symbols& x = get(n.inputs.at(0));
  const Tensor& w = c_.of(n.inputs.at(3));
  const ConvShape c = conv_shape(n, x.shape, w.shape(), n.outputs.at(0).shape);
  const Quantum qx = quantum(n, 1, 2), qy = quantum(n, 6, 7);
  const Tensor& sw = c_.of(n.inputs.at(4));
  const Tensor& zw = c_.of(n.inputs.at(5));
  const Field& f = v_.field();
  const auto each = static_cast<size_t>(w.elements() / c.out);
  std::vector<uint64_t> weights(static_cast<size_t>(w.elements()));
  for (size_t i = 0; i < weights.size(); ++i) {
    const int64_t zero = zw.as_int(zw.elements() == 1 ? 0 : static_cast<int64_t>(i / each));
    weights[i] = f.of(static_cast<float>(w.as_int(static_cast<int64_t>(i)) - zero));
  }
  const uint64_t zero = f.neg(f.of(qx.zero));
  std::vector<uint64_t> sums = conv_sums(
      v_, x, c, weights, [&](uint64_t e) { return f.add(e, zero); }, false);
  const Tensor* bias = n.inputs.size() > 8 && !n.inputs[8].empty() ? &c_.of(n.inputs[8]) : nullptr;
  const bool is_signed = n.outputs[0].elem == ElementType::I8;
  const Type type = is_signed ? Type::I8 : Type::U8;
  float low = -kInfinity, high = kInfinity;
  for (size_t k = 1; k < l.nodes.size(); ++k) {
    const Node& clip = l.nodes[k];
    if (clip.op != "Clip") throw NotProved{clip.op + " behind a product of integers"};
    const auto bound = [&](size_t i, float otherwise) {
      return i < clip.inputs.size() && !clip.inputs[i].empty()
                 ? static_cast<float>(c_.of(clip.inputs[i]).as_int(0))
                 : otherwise;
    };
    // The bounds are integers of y.
    low = std::max(low, (bound(1, -kInfinity) - qy.zero));
    high = std::min(high, (bound(2, kInfinity) - qy.zero));
  }
  Symbols s{n.outputs[0].shape, {}};
  const auto pixels = sums.size() / static_cast<size_t>(c.batch * c.out);
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto channel = static_cast<int64_t>(i / pixels % static_cast<size_t>(c.out));
    uint64_t sum = sums[i];
    if (bias != nullptr) {
      const auto b = static_cast<int32_t>(bias->as_int(channel));
      sum =
          f.add(sum, f.add(f.of(static_cast<float>(b / 65536 * 65536)), f.of(static_cast<float>(b % 65536))));
    }
    const auto scale = static_cast<float>(sw.as_double(sw.elements() == 1 ? 0 : channel));
    const float product = qx.scale * scale;
    const Val real = v_.is_real() ? v_.div(v_.mul(number(qx.scale), number(scale)), number(qy.scale))
                                  : number(product / qy.scale);
    const Val y = v_.clip(v_.mul(v_.from_sum(sum), real), low, high);
    s.v.push_back(v_.store(y, {qy.zero, 1.0f}, type));
  }
  put(l.nodes.back().outputs.at(0), std::move(s));
}

}  // namespace mrvlc::prove

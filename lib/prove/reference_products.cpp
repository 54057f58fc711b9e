// Conv, Gemm, MatMul and their epilogues.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

Reference::Factors Reference::factors(const Layer& l) {
  const Node& n = l.nodes[l.anchor];
  const bool matrix = l.kind == "fc" || l.kind == "matmul";
  Factors f;
  if (!c_.is_constant(n.inputs.at(1)) || (matrix && c_.of(n.inputs[1]).shape().size() != 2)) {
    f.channels = static_cast<uint32_t>(n.outputs.at(0).shape.at(n.outputs[0].shape.size() - 1));
    return f;
  }
  const Shape& w = c_.of(n.inputs[1]).shape();
  if (w.size() < 2) throw NotProved{"a product with a vector"};
  f.p = c_.numbers(n.inputs[1]);
  f.channel_of.resize(f.p.size());
  const auto first = static_cast<size_t>(w[0]), second = static_cast<size_t>(w[1]);
  const bool across = n.op == "Gemm" && n.integer("transB", 0) != 0, transposed = n.op == "ConvTranspose";
  const auto groups = static_cast<size_t>(std::max<int64_t>(1, transposed ? n.integer("group", 1) : 1));
  f.channels = static_cast<uint32_t>(matrix && !across ? second : transposed ? second * groups : first);
  const size_t each = f.p.size() / std::max<size_t>(1, first), taps = each / std::max<size_t>(1, second),
               in = std::max<size_t>(1, first / groups);
  const float alpha = n.op == "Gemm" ? n.real("alpha", 1) : 1.0f;
  for (size_t i = 0; i < f.p.size(); ++i) {
    const size_t row = i / each;
    const size_t channel = matrix && !across ? i % second
                           : transposed      ? row / in * second + i % each / taps
                                             : row;
    f.channel_of[i] = static_cast<uint32_t>(channel);
    f.p[i] = f.p[i] * alpha;
  }
  return f;
}

Reference::Epilogue Reference::steps(const Layer& l, const Factors& f) {
  Epilogue e, best;
  e.taken = best.taken = l.anchor + 1;
  std::string current = l.nodes[l.anchor].outputs.at(0).name;
  const size_t channel_dim =
      l.kind == "fc" || l.kind == "matmul" ? l.nodes[l.anchor].outputs[0].shape.size() - 1 : 1;
  std::vector<float> scale(f.channels, 1.0f), shift(f.channels, 0.0f);
  while (e.taken < l.nodes.size()) {
    const Node& n = l.nodes[e.taken];
    const auto step = affine(n, current, f.channels, channel_dim);
    if (!step || n.outputs.at(0).shape != l.nodes[l.anchor].outputs[0].shape) break;
    for (uint32_t i = 0; i < f.channels; ++i) {
      if (n.is({"Add", "Sub"})) {
        shift[i] += step->second[i];
      } else {
        scale[i] *= step->first[i];
        shift[i] *= step->first[i];
      }
    }
    ++e.taken;
    current = n.outputs[0].name;
    if (!f.p.empty() && !fits_half(factored(f.p, f.channel_of, scale))) continue;
    if (f.p.empty() && !std::all_of(scale.begin(), scale.end(), [](float s) { return s == 1; })) break;
    best.taken = e.taken;
    best.scale = scale;
    best.shift = shift;
  }
  return best;
}

size_t Reference::folded(const Layer& l) {
  try {
    const bool more = l.nodes.size() > l.anchor + 1 && !has_bias_matrix(l);
    return more ? steps(l, factors(l)).taken - l.anchor - 1 : 0;
  } catch (const NotProved&) {
    return 0;
  }
}

Reference::Epilogue Reference::fold(const Layer& l, const Factors& f, bool allow_residual, int32_t shift) {
  Epilogue e = steps(l, f);
  e.powers = powers(shift, f, e.scale);
  if (e.powers.after == 0) take_rest(l, allow_residual, e);
  return e;
}

// A residual, and an activation.
void Reference::take_rest(const Layer& l, bool allow_residual, Epilogue& e) {
  std::string current = l.nodes[e.taken - 1].outputs[0].name;
  while (e.taken < l.nodes.size() && e.activation == nullptr) {
    const Node& n = l.nodes[e.taken];
    const bool wide = is_wide(n.outputs.at(0).name) && !is_asked(n.outputs[0].name);
    if (n.outputs[0].shape != l.nodes[l.anchor].outputs[0].shape || wide) break;
    const bool own = !n.inputs.empty() && n.inputs[0] == current;
    if (own && (n.is({"Relu", "Clip", "LeakyRelu", "HardSigmoid", "HardSwish"}) || table_function(n))) {
      e.activation = &n;
    } else {
      if (n.op != "Add" || n.inputs.size() != 2 || !e.residual.empty() || !allow_residual) break;
      const std::string& other = n.inputs[own ? 1 : 0];
      if (other == current || c_.is_constant(other) || is_wide(other) ||
          get(other).shape != n.outputs[0].shape)
        break;
      if (codes_.contains(other)) break;  // integers
      e.residual = other;
    }
    ++e.taken;
    current = n.outputs[0].name;
  }
}

std::vector<std::vector<float>> Reference::stored_weights(const Factors& f, bool carry, const Epilogue& e,
                                                          const std::vector<Term>& terms) const {
  const std::vector<float> scaled = factored(f.p, f.channel_of, e.powers.of_weights);
  std::vector<float> high;
  if (carry)
    high = carried(scaled, f.channel_of, f.channels);
  else
    for (float v : scaled) high.push_back(rounded_half(v));
  std::vector<std::vector<float>> out;
  for (const Term& t : terms) out.push_back(t.right ? remainders(scaled, high) : high);
  return out;
}

void Reference::finish_product(const Layer& l, const Epilogue& e, Symbols s, const std::vector<float>& bias,
                               size_t channel_dim) {
  const size_t channels = static_cast<size_t>(s.shape[channel_dim]);
  size_t inner = 1;
  for (size_t d = channel_dim + 1; d < s.shape.size(); ++d) inner *= static_cast<size_t>(s.shape[d]);
  const Function activate = e.activation == nullptr ? Function() : activation(*e.activation);
  const Symbols* residual = e.residual.empty() ? nullptr : &get(e.residual);
  for (size_t i = 0; i < s.v.size(); ++i) {
    const size_t c = i / inner % channels;
    float b = bias.empty() ? 0.0f : bias[c];
    if (!e.scale.empty()) b = b * e.scale[c] + e.shift[c];
    Val x = s.v[i] == 0 ? number(0) : s.v[i];
    if (e.powers.after != 0) x = v_.fma(number(std::ldexp(1.0f, e.powers.after)), x, number(0));
    x = v_.add(x, number(b));
    if (residual != nullptr) x = v_.add(x, residual->v[i]);
    if (activate) x = activate(x);
    s.v[i] = x;
  }
  const ValueInfo& y = l.nodes[e.taken - 1].outputs.at(0);
  // What is left of the epilogue reads the stored y.
  if (e.taken < l.nodes.size() && !is_wide(y.name) && !is_asked(y.name))
    for (Val& v : s.v) v = v_.half(v);
  put(y, std::move(s));
  if (e.taken < l.nodes.size()) elementwise(l, e.taken);
}

namespace {

// Weights of all terms, as those of a convolution with so many times the channels.
std::vector<float> of_terms(const ConvShape& c, const std::vector<std::vector<float>>& w, bool transposed) {
  if (w.size() == 1) return w[0];
  const int64_t taps = c.w.kernel_h * c.w.kernel_w, ic = c.in / c.groups, oc = c.out / c.groups,
                n = static_cast<int64_t>(w.size());
  std::vector<float> out(w[0].size() * w.size());
  const int64_t inner = transposed ? oc * taps : taps, outer = transposed ? c.groups : c.out;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t t = 0; t < n; ++t)
      for (int64_t i = 0; i < ic * inner; ++i)
        out[static_cast<size_t>((o * n + t) * ic * inner + i)] =
            w[static_cast<size_t>(t)][static_cast<size_t>(o * ic * inner + i)];
  return out;
}

}  // namespace

void Reference::conv(const Layer& l) {
  if (l.anchor != 0) throw NotProved{"a convolution that is not the first of its layer"};
  const Node& n = l.nodes[0];
  const bool transposed = n.op == "ConvTranspose";
  if (!transposed && n.op != "Conv") throw NotProved{n.op + " has no reference yet"};
  const Tensor& w = c_.of(n.inputs.at(1));
  const Symbols& x = get(n.inputs.at(0));
  ConvShape c = transposed ? transposed_shape(n, x.shape, w.shape(), n.outputs.at(0).shape)
                           : conv_shape(n, x.shape, w.shape(), n.outputs.at(0).shape);
  const Factors f = factors(l);
  const bool depthwise = c.in == c.groups && c.groups > 1;
  const Epilogue e = fold(l, f, !(depthwise && c.out > c.in), precision(n.inputs[0]).shift);
  const bool dilated = depthwise && c.w.kernel_w > 1 && c.w.dilation_w > 1;
  const std::vector<Term> all = dilated ? std::vector<Term>(1) : terms(n.inputs[0], n.inputs[1]);
  const std::vector<float> weights = of_terms(c, stored_weights(f, !transposed, e, all), transposed);
  const Symbols read = left_halves(n.inputs[0], x, 1, c.groups, all);
  c.in *= static_cast<int64_t>(all.size());
  const std::vector<uint64_t> of_field = elements(v_.field(), weights);
  Symbols s{n.outputs[0].shape, transposed ? transposed_sums(v_, read, c, of_field, true)
                                           : conv_sums(v_, read, c, of_field, {}, true)};
  const bool biased = n.inputs.size() > 2 && !n.inputs[2].empty();
  finish_product(l, e, std::move(s), biased ? c_.numbers(n.inputs[2]) : std::vector<float>(), 1);
}

namespace {

std::vector<int64_t> in_order(int64_t k) {
  std::vector<int64_t> order(static_cast<size_t>(k));
  std::iota(order.begin(), order.end(), int64_t{0});
  return order;
}

}  // namespace

// Where the operand is a flattened image that is stored channels last: k in the order of storage.
std::vector<int64_t> Reference::storage_order(const std::string& name, int64_t k) const {
  std::vector<int64_t> order = in_order(k);
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

bool Reference::has_bias_matrix(const Layer& l) {
  const Node& n = l.nodes[l.anchor];
  if (n.op != "Gemm" || n.inputs.size() < 3 || n.inputs[2].empty()) return false;
  const Shape& shape = c_.of(n.inputs[2]).shape();
  return shape.size() > 1 && shape[0] != 1;
}

// A bias of several rows is added to the product that is stored, and the epilogue follows that.
Symbols Reference::with_bias_matrix(const Layer& l, Symbols y) {
  const Node& n = l.nodes[0];
  std::vector<float> c = c_.numbers(n.inputs.at(2));
  const bool exact = l.nodes.back().op == "QuantizeLinear" || is_asked(l.nodes.back().outputs.at(0).name);
  if (!exact) c = as_stored(std::move(c));
  const bool half = !is_wide(n.outputs[0].name) && !is_asked(n.outputs[0].name);
  const std::vector<size_t> from = broadcast_offsets(c_.of(n.inputs[2]).shape(), y.shape);
  for (size_t i = 0; i < y.v.size(); ++i) {
    Val v = y.v[i] == 0 ? number(0) : y.v[i];
    if (half) v = v_.half(v);
    y.v[i] = v_.fma(number(1), v, v_.mul(number(n.real("beta", 1)), number(c[from[i]])));
    if (half) y.v[i] = v_.half(y.v[i]);
  }
  return y;
}

void Reference::product(const Layer& l) {
  if (l.anchor != 0) throw NotProved{"a product that is not the first of its layer"};
  const Node& n = l.nodes[0];
  if (!c_.is_constant(n.inputs.at(1)) || c_.of(n.inputs[1]).shape().size() > 2)
    return product_of_activations(l);
  Symbols x = get(n.inputs.at(0));
  const Tensor& t = c_.of(n.inputs[1]);
  if (t.shape().size() != 2 || x.shape.empty()) throw NotProved{"a product with a vector"};
  const bool gemm = n.op == "Gemm", across = gemm && n.integer("transB", 0) != 0,
             turned = gemm && n.integer("transA", 0) != 0;
  if (turned) x = transposed_matrix(x);
  const int64_t k = t.shape()[across ? 1 : 0], m = t.shape()[across ? 0 : 1];
  if (x.shape.back() != k || k < 1) throw NotProved{"a product whose shapes do not agree"};
  const bool matrix = has_bias_matrix(l);
  std::vector<float> bias;
  if (gemm && !matrix && n.inputs.size() > 2 && !n.inputs[2].empty()) {
    bias = c_.numbers(n.inputs[2]);
    bias.resize(static_cast<size_t>(m), bias.at(0));
    for (float& b : bias) b = n.real("beta", 1) * b;
  }
  const Factors f = factors(l);
  const int32_t shift = precision(n.inputs[0]).shift;
  Epilogue e;
  e.taken = 1;
  if (matrix)
    e.powers = powers(shift, f, {});
  else
    e = fold(l, f, true, shift);
  const std::vector<Term> all = terms(n.inputs[0], n.inputs[1]);
  const auto rounded = stored_weights(f, true, e, all);
  const Symbols read = left_halves(n.inputs[0], x, x.shape.size() - 1, 1, all);
  const std::vector<int64_t> order = turned ? in_order(k) : storage_order(n.inputs[0], k);
  const int64_t depth = k * static_cast<int64_t>(all.size());
  std::vector<uint64_t> w(static_cast<size_t>(depth * m)), in(read.v.size());
  for (int64_t i = 0; i < depth; ++i)
    for (int64_t j = 0; j < m; ++j) {
      const int64_t from = order[static_cast<size_t>(i % k)];
      w[static_cast<size_t>(i * m + j)] = v_.field().of(
          rounded[static_cast<size_t>(i / k)][static_cast<size_t>(across ? j * k + from : from * m + j)]);
    }
  for (size_t i = 0; i < in.size(); ++i) {
    const auto of_k = static_cast<size_t>(k);
    in[i] = v_.element(read.v[i / of_k * of_k + static_cast<size_t>(order[i % of_k])]);
  }
  Window window;
  window.in_h = window.out_h = static_cast<int64_t>(in.size()) / depth;
  OrderedSums sums(v_.field(), window.out_h, m);
  sums.add(window, depth, w, in);
  Symbols s{n.outputs.at(0).shape, sums.symbols()};
  if (!matrix) return finish_product(l, e, std::move(s), bias, s.shape.size() - 1);
  if (e.powers.after != 0)
    for (Val& v : s.v)
      v = v_.fma(number(std::ldexp(1.0f, e.powers.after)), v == 0 ? number(0) : v, number(0));
  finish(l, n, with_bias_matrix(l, std::move(s)));
}

void Reference::product_of_activations(const Layer& l) {
  const Node& n = l.nodes[0];
  if (n.op != "MatMul") throw NotProved{"Gemm of two activations"};
  // Constants are halves if they are pairs, else rounded.
  const auto operand = [&](const std::string& name) {
    if (!c_.is_constant(name)) return get(name);
    Symbols s = constant(name);
    if (!precision(name).pair)
      for (Val& v : s.v) v = v_.half(v);
    return s;
  };
  const Symbols a = operand(n.inputs.at(0)), b = operand(n.inputs.at(1));
  if (a.shape.size() < 2 || b.shape.size() < 2) throw NotProved{"a product with a vector"};
  const Shape& y = n.outputs.at(0).shape;
  const std::vector<Term> all = terms(n.inputs[0], n.inputs[1]);
  const Symbols left = left_halves(n.inputs[0], a, a.shape.size() - 1, 1, all),
                right = right_halves(n.inputs[1], b, all);
  Symbols s{y, product_sums(v_, left, right, y, true)};
  const int32_t shift = precision(n.inputs[0]).shift + precision(n.inputs[1]).shift;
  const Epilogue e = fold(l, factors(l), true, shift);
  finish_product(l, e, std::move(s), {}, y.size() - 1);
}

}  // namespace mrvlc::prove

// Convolutions and pools.
#include <cmath>
#include <limits>

#include "model.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel_random {
namespace {

// The values a constant has for each channel, if it varies along the channels only.
std::optional<std::vector<float>> per_channel(const ir::Graph& graph, ir::ValueId v, size_t channel,
                                              const Shape& out) {
  const Tensor* t = graph.constant(v);
  if (t == nullptr || t->shape().size() > out.size()) return std::nullopt;
  size_t missing = out.size() - t->shape().size();
  for (size_t d = 0; d < t->shape().size(); ++d)
    if (t->shape()[d] != 1 && d + missing != channel) return std::nullopt;
  std::vector<float> values;
  for (int64_t c = 0; c < out[channel]; ++c)
    values.push_back(static_cast<float>(t->as_double(t->elements() == 1 ? 0 : c)));
  return values;
}

// scale * sum + shift, followed by Add, Sub, Mul or Div with a constant of each channel.
bool absorb(Tail& tail, const ir::Node& node, bool constant_right, const std::vector<float>& c, bool scales) {
  bool adds = node.is(Op::Add) || (node.is(Op::Sub) && constant_right);
  bool multiplies = scales && (node.is(Op::Mul) || (node.is(Op::Div) && constant_right));
  if (!adds && !multiplies) return false;
  tail.scale.resize(c.size(), 1.0f);
  tail.shift.resize(c.size(), 0.0f);
  for (size_t i = 0; i < c.size(); ++i) {
    float factor = node.is(Op::Div) ? 1 / c[i] : c[i];
    if (multiplies) tail.scale[i] *= factor;
    tail.shift[i] = multiplies         ? tail.shift[i] * factor
                    : node.is(Op::Sub) ? tail.shift[i] - c[i]
                                       : tail.shift[i] + c[i];
  }
  return true;
}

// The taps along one dimension that reach output `o`: (index into the kernel, input position), in order of
// the input position.
using Taps = std::vector<std::pair<int64_t, int64_t>>;
Taps taps_of(const ops::WindowParams& p, size_t d, int64_t o, bool transposed) {
  Taps taps;
  for (int64_t i = 0; i < p.kernel[d]; ++i) {
    int64_t k = transposed ? p.kernel[d] - 1 - i : i;
    int64_t at = transposed ? o + p.pads_begin[d] - k * p.dilations[d]
                            : o * p.strides[d] - p.pads_begin[d] + k * p.dilations[d];
    if (transposed && at % p.strides[d] != 0) continue;
    if (transposed) at /= p.strides[d];
    if (at >= 0 && at < p.input[d]) taps.emplace_back(k, at);
  }
  return taps;
}

std::vector<Taps> all_taps(const ops::WindowParams& p, size_t d, bool transposed) {
  std::vector<Taps> all;
  for (int64_t o = 0; o < p.output[d]; ++o) all.push_back(taps_of(p, d, o, transposed));
  return all;
}

// One spatial dimension is an image of one row.
template <class P>
P plane(P p) {
  if (p.input.size() == 2) return p;
  auto first = [](std::vector<int64_t>& v, int64_t value) { v.insert(v.begin(), value); };
  for (auto* v : {&p.input, &p.kernel, &p.strides, &p.dilations, &p.output}) first(*v, 1);
  for (auto* v : {&p.pads_begin, &p.pads_end}) first(*v, 0);
  return p;
}

// Of weight i: [M, C/group, ...], or transposed [C, M/group, ...].
int64_t output_channel(const ops::ConvParams& p, int64_t i, bool transposed) {
  int64_t in = p.in_channels / p.group, out = p.out_channels / p.group, taps = p.kernel[0] * p.kernel[1];
  int64_t first = i / taps / (transposed ? out : in), second = i / taps % (transposed ? out : in);
  return transposed ? first / in * out + second : first;
}

class Convolution {
 public:
  Convolution(const ops::ConvParams& p, const Tensor& weights, const Tail& tail, bool transposed)
      : p_(p), in_(p.in_channels / p.group), out_(p.out_channels / p.group), transposed_(transposed) {
    rows_ = all_taps(p, 0, transposed);
    cols_ = all_taps(p, 1, transposed);
    WeightRounding rounded(!transposed);
    for (int64_t i = 0; i < weights.elements(); ++i) {
      auto w = static_cast<float>(weights.as_double(i));
      int64_t m = output_channel(p, i, transposed);
      float whole = tail.of_weights.empty() ? w : w * tail.of_weights[static_cast<size_t>(m)];
      w_.push_back(rounded(whole, m));
      low_.push_back(std::isfinite(w_.back()) ? narrow(whole - w_.back()) : 0);
    }
  }

  // Of an operand's halves: an image, and whether it meets the low halves of the weights.
  using Halves = std::vector<std::pair<const float*, bool>>;

  float sum(const Halves& images, int64_t m, int64_t y, int64_t x) const {
    float acc = 0;
    int64_t group = m / out_, plane = p_.input[0] * p_.input[1], taps = p_.kernel[0] * p_.kernel[1];
    int64_t step = transposed_ ? out_ * taps : taps;
    int64_t base = transposed_ ? group * in_ * step + m % out_ * taps : m * in_ * taps;
    for (auto [r, iy] : rows_[static_cast<size_t>(y)])
      for (auto [s, ix] : cols_[static_cast<size_t>(x)])
        for (auto [image, low] : images) {
          const float* w = (low ? low_ : w_).data() + base + r * p_.kernel[1] + s;
          const float* v = image + group * in_ * plane + iy * p_.input[1] + ix;
          for (int64_t c = 0; c < in_; ++c) acc = std::fma(v[c * plane], w[c * step], acc);
        }
    return acc;
  }

 private:
  const ops::ConvParams& p_;
  int64_t in_, out_;
  bool transposed_;
  std::vector<Taps> rows_, cols_;
  std::vector<float> w_, low_;
};

}  // namespace

Tail tail_of(const ir::Graph& graph, const partition::Layer& layer, size_t channel, bool constant_weights,
             bool residual_allowed, bool constants_only, const std::set<ir::ValueId>& wide,
             const std::set<ir::ValueId>& asked) {
  Tail tail;
  tail.value = graph.node(layer.anchor).outputs[0];
  const Shape& out = graph.value(tail.value).type.shape;
  for (; tail.taken < layer.nodes.size() && !tail.activation; ++tail.taken) {
    const ir::Node& node = graph.node(layer.nodes[tail.taken]);
    bool left = node.inputs[0] == tail.value;
    std::optional<Unary> activation = left ? activation_of(graph, node) : std::nullopt;
    if (wide.contains(node.outputs[0]) || (activation && constants_only)) break;
    if (activation) {
      tail.activation = *activation;
    } else {
      if (node.inputs.size() != 2) break;
      ir::ValueId other = node.inputs[left ? 1 : 0];
      auto c = per_channel(graph, other, channel, out);
      if (c && !tail.residual.valid()) {
        if (!absorb(tail, node, left, *c, constant_weights)) break;
      } else {
        bool residual = node.is(Op::Add) && residual_allowed && !tail.residual.valid() &&
                        !graph.is_constant(other) && !wide.contains(other) && !asked.contains(other);
        if (!residual) break;
        tail.residual = other;
      }
    }
    tail.value = node.outputs[0];
  }
  return tail;
}

Status Model::conv(const partition::Layer& layer) {
  const ir::Node& node = graph_.node(layer.anchor);
  bool transposed = node.is(Op::ConvTranspose);
  ops::InferContext context = ops::infer_context(graph_, node);
  MRVLC_ASSIGN(ops::ConvParams p,
               transposed ? ops::conv_transpose_params(context) : ops::conv_params(context));
  p = plane(p);
  bool depthwise = p.group > 1 && p.in_channels == p.group;
  Tail tail = tail_of(graph_, layer, 1, true, !depthwise || p.out_channels == p.group, false, wide_, asked_);
  take_power(
      layer, 1, graph_.constant(node.inputs[1]), [&](int64_t i) { return output_channel(p, i, transposed); },
      tail);
  Convolution convolution(p, *graph_.constant(node.inputs[1]), tail, transposed);
  const Tensor* bias = node.inputs.size() > 2 ? graph_.constant(node.inputs[2]) : nullptr;
  std::vector<Term> terms = left_terms(node.inputs[0], node.inputs[1]);
  if (depthwise && p.dilations[1] > 1 && p.kernel[1] > 1) terms.resize(1);
  const float* residual = tail.residual.valid() ? get(tail.residual).data<float>().data() : nullptr;
  Tensor out = zeros(shape(tail.value));
  float* y = out.mutable_data<float>().data();
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t m = 0; m < p.out_channels; ++m) {
      auto channel = static_cast<size_t>(m);
      float add = bias != nullptr ? static_cast<float>(bias->as_double(m)) : 0.0f;
      if (!tail.scale.empty()) add = add * tail.scale[channel] + tail.shift[channel];
      Convolution::Halves images;
      for (const Term& t : terms)
        images.emplace_back(t.halves.data<float>().data() + b * p.in_channels * p.input[0] * p.input[1],
                            t.right_low);
      for (int64_t i = 0; i < p.output[0] * p.output[1]; ++i, ++y) {
        float v = convolution.sum(images, m, i / p.output[1], i % p.output[1]);
        v = std::fma(std::ldexp(1.0f, tail.after), v, 0.0f) + add;
        if (residual != nullptr) v += *residual++;
        *y = tail.activation ? tail.activation(v) : v;
      }
    }
  store(tail.value, out);
  return chain(layer, tail.taken, tail.value);
}

namespace {

// A window of a pool: taps inside the input, row by row.
float window(const ops::PoolParams& p, const float* image, const Taps& rows, const Taps& cols) {
  float v = p.is_max ? -std::numeric_limits<float>::infinity() : 0.0f;
  bool first = true;
  for (auto [r, iy] : rows)
    for (auto [s, ix] : cols) {
      float x = image[iy * p.input[1] + ix];
      if (first) {
        v = x;
      } else if (!p.is_max) {
        v += x;
      } else {
        v = v != v ? v : x != x ? x : v > x ? v : x;
      }
      first = false;
    }
  if (p.is_max) return v;
  auto inside = static_cast<float>(rows.size() * cols.size());
  return p.count_include_pad ? v * (1.0f / static_cast<float>(p.kernel[0] * p.kernel[1])) : v / inside;
}

// In float32: the columns of each row first.
float greatest(const ops::PoolParams& p, const float* image, const Taps& rows, const Taps& cols) {
  std::vector<float> of_rows;
  for (auto [r, iy] : rows) {
    float v = image[iy * p.input[1] + cols[0].second];
    for (size_t k = 1; k < cols.size(); ++k) v = maximum(v, image[iy * p.input[1] + cols[k].second]);
    of_rows.push_back(v);
  }
  float v = of_rows[0];
  for (size_t k = 1; k < of_rows.size(); ++k) v = maximum(v, of_rows[k]);
  return v;
}

// Taps inside the input or its declared padding: in ceil mode the last windows reach further.
int64_t covered(const ops::PoolParams& p, size_t d, int64_t o) {
  int64_t n = 0;
  for (int64_t k = 0; k < p.kernel[d]; ++k)
    if (o * p.strides[d] + k * p.dilations[d] < p.pads_begin[d] + p.input[d] + p.pads_end[d]) ++n;
  return n;
}

}  // namespace

Status Model::global_pool(const ir::Node& node, const ops::PoolParams& p) {
  std::vector<int64_t> axes;
  int64_t count = 1;
  for (size_t d = 0; d < p.input.size(); ++d) {
    axes.push_back(static_cast<int64_t>(d) + 2);
    count *= p.input[d];
  }
  float alpha = p.is_max ? 1.0f : 1.0f / static_cast<float>(count);
  store(node.outputs[0], reduced(get(node.inputs[0]), axes, p.is_max ? Fold::Max : Fold::Sum, true, alpha));
  return {};
}

Status Model::pool(const partition::Layer& layer) {
  const ir::Node& node = graph_.node(layer.anchor);
  MRVLC_ASSIGN(ops::PoolParams p, ops::pool_params(ops::infer_context(graph_, node)));
  if (node.is(Op::GlobalAveragePool) || node.is(Op::GlobalMaxPool)) return global_pool(node, p);
  p = plane(p);
  const bool whole = p.is_max && asked_.contains(node.outputs[0]);
  const Tensor image = whole ? get(node.inputs[0]) : narrowed(get(node.inputs[0]));
  auto all = static_cast<float>(p.kernel[0] * p.kernel[1]);
  std::vector<Taps> rows = all_taps(p, 0, false), cols = all_taps(p, 1, false);
  const float* x = image.data<float>().data();
  Tensor out = zeros(shape(node.outputs[0]));
  float* y = out.mutable_data<float>().data();
  bool correct = false;
  for (int64_t o = 0; o < p.output[0]; ++o) correct = correct || covered(p, 0, o) != p.kernel[0];
  for (int64_t o = 0; o < p.output[1]; ++o) correct = correct || covered(p, 1, o) != p.kernel[1];
  for (int64_t c = 0; c < p.batch * p.channels; ++c, x += p.input[0] * p.input[1])
    for (int64_t oy = 0; oy < p.output[0]; ++oy)
      for (int64_t ox = 0; ox < p.output[1]; ++ox, ++y) {
        const Taps &down = rows[static_cast<size_t>(oy)], &across = cols[static_cast<size_t>(ox)];
        if (whole) {
          *y = greatest(p, x, down, across);
          continue;
        }
        float v = narrow(window(p, x, down, across));
        if (!p.is_max && p.count_include_pad && correct)
          v = narrow(v * (all / static_cast<float>(covered(p, 0, oy) * covered(p, 1, ox))));
        *y = v;
      }
  store(node.outputs[0], out);
  return {};
}

}  // namespace mrvlc::accel_random

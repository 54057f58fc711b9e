// Which DequantizeLinear, product, bias, Relu or Clip and QuantizeLinear are one product of integers.
#include "quantized/integer_chain.h"

#include <algorithm>
#include <cmath>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/quantized.h"

namespace mrvlc::passes {

double number(const Graph& g, ValueId v, int64_t k) {
  const Tensor& t = *g.constant(v);
  return t.as_double(t.elements() == 1 ? 0 : k);
}

namespace {

// The dimension of the weights that output channels lie along.
int64_t channel_axis(const Chain& c) {
  return c.transposed ? 1 : 0;
}

bool plain_gemm(const Node& n) {
  return ops::attr::alpha(n) == 1 && ops::attr::beta(n) == 1 && !ops::attr::trans_a(n);
}

// Matrices whose rows are images of a batch.
bool few_rows(const Graph& g, const Node& n, const PassContext& context) {
  const TensorType &x = type_of(g, n.inputs[0]), &w = type_of(g, n.inputs[1]);
  return x.rank() == 2 && w.rank() == 2 && x.is_static() && x.shape[0] >= 1 &&
         x.shape[0] <= context.largest_batch;
}

bool find_product(const Graph& g, const PassContext& context, const Node& product, Chain& c) {
  c.product = product.id;
  if (product.is(Op::Conv)) return true;
  if (!product.is(Op::Gemm, Op::MatMul) || !few_rows(g, product, context)) return false;
  if (product.is(Op::Gemm) && !plain_gemm(product)) return false;
  c.transposed = product.is(Op::MatMul) || !ops::attr::trans_b(product);
  return true;
}

bool find_operands(const Graph& g, const PassContext& context, Chain& c) {
  const Node& n = g.node(c.product);
  c.x = quantize_step(g, producer_of(g, n.inputs[0], Op::DequantizeLinear), true);
  c.w = quantize_step(g, producer_of(g, n.inputs[1], Op::DequantizeLinear), false);
  if (!c.x || !c.w || !g.is_constant(c.w.data) || g.is_constant(c.x.data)) return false;
  if (!is_byte(type_of(g, c.x.data).elem) || !is_byte(type_of(g, c.w.data).elem)) return false;
  const TensorType& w = type_of(g, c.w.data);
  if (w.rank() < 2) return false;
  c.channels = w.shape[static_cast<size_t>(channel_axis(c))];
  const int64_t scales = type_of(g, c.w.scale).elements();
  int64_t axis = ops::attr::axis(g.node(c.w.node));
  if (axis < 0) axis += static_cast<int64_t>(w.rank());
  if (scales != 1 && (axis != channel_axis(c) || scales != c.channels)) return false;
  return !context.stays || !context.stays(g, g.node(c.w.node));
}

bool is_taken(const Graph& g, const PassContext& context, const Chain& c) {
  const Tensor& zeros = *g.constant(c.w.zero);
  for (int64_t i = 1; i < zeros.elements(); ++i)
    if (zeros.as_int(i) != zeros.as_int(0)) return false;
  if (!g.node(c.product).is(Op::Conv)) return true;
  const TensorType& x = type_of(g, c.x.data);
  return (x.rank() == 3 || x.rank() == 4) && x.is_static() && x.shape[0] <= context.largest_batch;
}

// One number, or one for each channel of the product, and no more dimensions than that has.
bool is_by_channel(const Graph& g, const Chain& c, const TensorType& term) {
  const TensorType& sum = type_of(g, g.node(c.product).outputs[0]);
  if (!term.is_static() || term.rank() > sum.rank()) return false;
  if (term.elements() == 1) return true;
  const size_t behind = g.node(c.product).is(Op::Conv) ? static_cast<size_t>(sum.rank()) - 2 : 0;
  const auto rank = static_cast<size_t>(term.rank());
  return rank > behind && term.shape[rank - 1 - behind] == c.channels && term.elements() == c.channels;
}

bool is_of_constants(const Graph& g, ValueId v) {
  const Node* d = producer_of(g, v, Op::DequantizeLinear);
  return g.is_constant(v) || (d != nullptr && g.is_constant(d->inputs[0]));
}

// The bias of the product itself, or what an Add behind it, which reads it alone, adds to each channel.
void find_terms(const Graph& g, const PassContext& context, Chain& c) {
  const Node& product = g.node(c.product);
  const ValueId sum = product.outputs[0];
  c.terms = input_or_none(product, 2);
  if (c.terms.valid() || !single_use(g, sum)) return;
  const Node& add = g.node(g.value(sum).users[0]);
  if (!add.is(Op::Add) || reserves(context, g, {add.id})) return;
  const ValueId other = add.inputs[add.inputs[0] == sum ? 1 : 0];
  if (!is_of_constants(g, other) || !is_by_channel(g, c, type_of(g, other))) return;
  if (!(type_of(g, add.outputs[0]) == type_of(g, sum))) return;
  c.adds = add.id;
  c.terms = other;
}

// The terms of the product itself: those of a Gemm may be a column, which is no bias of channels.
bool is_row_of_product(const Graph& g, const Chain& c) {
  const TensorType& t = type_of(g, c.terms);
  return c.adds.valid() || t.elements() == 1 || (t.rank() > 0 && t.shape.back() == c.channels);
}

// The bias in units of the sums: an integer of 32 bits for each channel.
bool take_bias(const Graph& g, Chain& c) {
  if (!c.terms.valid()) return true;
  const QuantizeStep b = quantize_step(g, producer_of(g, c.terms, Op::DequantizeLinear), false);
  const Tensor* t = b ? g.constant(b.data) : nullptr;
  if (t == nullptr || t->elem() != ElementType::I32 || !is_row_of_product(g, c)) return false;
  if (t->elements() != c.channels && t->elements() != 1) return false;
  constexpr double kSame = 1e-6;  // products of scales are rounded to fp32
  for (int64_t k = 0; k < c.channels; ++k) {
    const double unit = number(g, c.x.scale, 0) * number(g, c.w.scale, k);
    if (number(g, b.zero, k) != 0 || !(std::fabs(number(g, b.scale, k) / unit - 1) <= kSame)) return false;
    c.bias.push_back(static_cast<int32_t>(t->as_int(t->elements() == 1 ? 0 : k)));
  }
  c.folded.push_back(b.node);
  return true;
}

// The numbers of a bias: a constant, or integers of any scale.
bool take_numbers(const Graph& g, Chain& c) {
  if (!c.terms.valid()) return true;
  const int64_t count = type_of(g, c.terms).elements();
  if ((count != c.channels && count != 1) || !is_row_of_product(g, c)) return false;
  const QuantizeStep b = quantize_step(g, producer_of(g, c.terms, Op::DequantizeLinear), false);
  const Tensor* t = g.constant(b ? b.data : c.terms);
  if (t == nullptr) return false;
  for (int64_t k = 0; k < c.channels; ++k) {
    const double v = t->as_double(count == 1 ? 0 : k);
    const auto step = static_cast<float>(b ? number(g, b.scale, k) : 1);
    c.addend.push_back(static_cast<float>(b ? v - number(g, b.zero, k) : v) * step);
  }
  if (b) c.folded.push_back(b.node);
  return true;
}

// The largest magnitude of each channel's sum, without the bias.
std::vector<int64_t> largest_sums(const Graph& g, const Chain& c) {
  if (c.channels == 0) return {};
  const Tensor& w = *g.constant(c.w.data);
  const int64_t zero_w = g.constant(c.w.zero)->as_int(0), zero_x = g.constant(c.x.zero)->as_int(0);
  const ops::IntRange codes = ops::range_of(type_of(g, c.x.data).elem), weights = ops::range_of(w.elem());
  const int64_t most_x = std::max(zero_x - codes.low, codes.high - zero_x),
                most_w = std::max(zero_w - weights.low, weights.high - zero_w);
  const int64_t terms = w.elements() / c.channels;
  std::vector<int64_t> sums(static_cast<size_t>(c.channels), terms * most_x * most_w);
  if (sums[0] < INT32_MAX / 2) return sums;
  std::fill(sums.begin(), sums.end(), 0);
  for (int64_t i = 0; i < w.elements(); ++i)
    sums[static_cast<size_t>(c.transposed ? i % c.channels : i / terms)] +=
        most_x * std::abs(w.as_int(i) - zero_w);
  return sums;
}

// Sums that int32 does not hold wrap, where floats would not. With a bias that could make one, the result
// must saturate in any case: then a bias just small enough does as well.
bool sums_fit(const Graph& g, Chain& c) {
  const std::vector<int64_t> most = largest_sums(g, c);
  for (size_t k = 0; k < most.size(); ++k) {
    const int64_t room = INT32_MAX - most[k];
    const bool adds = c.y && !c.bias.empty();
    if (room >= (adds ? std::abs(int64_t{c.bias[k]}) : 0)) continue;
    constexpr double kBeyond = 512;  // steps: further than 8 bits reach from any zero point
    const auto channel = static_cast<int64_t>(k);
    const double step =
        adds ? number(g, c.x.scale, 0) * number(g, c.w.scale, channel) / number(g, c.y.scale, 0) : 0;
    if (!(static_cast<double>(room - most[k]) * step >= kBeyond)) return false;
    c.bias[k] = static_cast<int32_t>(c.bias[k] > 0 ? room : -room);
  }
  return true;
}

// What makes `v`, or what an Add of constants behind it adds to; null: others read it too.
const Node* product_before(const Graph& g, ValueId v) {
  const Node* n = producer(g, v);
  if (n == nullptr || !single_use(g, v)) return nullptr;
  if (!n->is(Op::Add)) return n;
  const ValueId sum = n->inputs[is_of_constants(g, n->inputs[0]) ? 1 : 0];
  return single_use(g, sum) ? producer(g, sum) : nullptr;
}

// Bounds of a Relu or Clip; nullopt: not known.
std::optional<std::pair<double, double>> kept_range(const Graph& g, const Node& n) {
  double low = -INFINITY, high = INFINITY;
  if (n.is(Op::Relu)) return std::pair(0.0, high);
  for (size_t i = 1; i < n.inputs.size(); ++i) {
    if (!n.inputs[i].valid()) continue;
    std::optional<double> bound = uniform_constant(g, n.inputs[i]);
    if (!bound || std::isnan(*bound)) return std::nullopt;
    (i == 1 ? low : high) = *bound;
  }
  return std::pair(low, high);
}

// What Relu and Clip in front of `v` leave of a result; what they read takes its place.
bool find_bounds(const Graph& g, const PassContext& context, ValueId& v, Chain& c) {
  for (const Node* n = producer(g, v); n != nullptr && n->is(Op::Relu, Op::Clip); n = producer(g, v)) {
    if (!single_use(g, v) || !kept_range(g, *n) || reserves(context, g, {n->id})) return false;
    c.bounds.push_back(n->id);
    v = n->inputs[0];
  }
  for (auto id = c.bounds.rbegin(); id != c.bounds.rend(); ++id) {
    const auto [low, high] = *kept_range(g, g.node(*id));
    c.low = std::min(std::max(c.low, low), high);
    c.high = std::min(std::max(c.high, low), high);
  }
  return true;
}

}  // namespace

bool find_chain(const Graph& g, const PassContext& context, const Node& quantize, Chain& c) {
  c.y = quantize_step(g, &quantize, true);
  if (!c.y || !is_byte(type_of(g, quantize.outputs[0]).elem)) return false;
  if (type_of(g, quantize.inputs[0]).elem != ElementType::F32) return false;
  ValueId v = quantize.inputs[0];
  if (!find_bounds(g, context, v, c)) return false;
  const Node* product = product_before(g, v);
  if (product == nullptr) return false;
  if (reserves(context, g, {product->id, quantize.id})) return false;
  if (!find_product(g, context, *product, c) || !find_operands(g, context, c)) return false;
  if (!is_taken(g, context, c)) return false;
  c.folded = {c.w.node};
  find_terms(g, context, c);
  if (g.node(c.last()).outputs[0] != v) return false;
  if (!take_bias(g, c) || !sums_fit(g, c)) return false;
  c.from = {c.x.node, c.product};
  if (c.adds.valid()) c.from.push_back(c.adds);
  c.from.insert(c.from.end(), c.bounds.rbegin(), c.bounds.rend());
  c.from.push_back(quantize.id);
  return true;
}

// A product of integers whose results are numbers; `c.y` and `c.bounds` are none.
bool find_chain_of_numbers(const Graph& g, const PassContext& context, const Node& product, Chain& c) {
  if (type_of(g, product.outputs[0]).elem != ElementType::F32 || reserves(context, g, {product.id}))
    return false;
  if (!find_product(g, context, product, c) || !find_operands(g, context, c)) return false;
  if (!is_taken(g, context, c)) return false;
  c.folded = {c.w.node};
  find_terms(g, context, c);
  if (!take_numbers(g, c) || !sums_fit(g, c)) return false;
  c.from = {c.x.node, product.id};
  if (c.adds.valid()) c.from.push_back(c.adds);
  return true;
}

}  // namespace mrvlc::passes

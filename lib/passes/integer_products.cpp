// integer-products
//   before  %1 = DequantizeLinear(%x, %sx, %zx)
//           %2 = DequantizeLinear(%w, %sw, %zw)    %3 = DequantizeLinear(%b, %sb, %zb)
//           %4 = Conv(%1, %2, %3)    %5 = Relu(%4)    %6 = QuantizeLinear(%5, %sy, %zy)
//   after   %6 = QLinearConv(%x, %sx, %zx, %w, %sw, %zw, %sy, %zy, %b)
// and Gemm and MatMul of matrices as convolutions of single pixels. A Relu or Clip that leaves more than the
// type of the result does is a Clip of integers behind. A product that no QuantizeLinear follows:
//   before  %4 = Conv(%1, %2, %3)
//   after   %i = ConvInteger(%x, %w, %zx, %zw)    %f = Cast(%i)    %m = Mul(%f, sx * sw)    %4 = Add(%m, %b)
// Preconditions: integers of 8 bits, constant weights, scales and zero points; one scale for %x and for %y,
// one for all weights or one an output channel; one zero point for all weights, one or two spatial
// dimensions, a batch within the context's (accelerators take no others); the context reserves none of them;
// the scale of the bias is the product of the others; no sum is beyond 32 bits, or the result saturates
// whichever it is; nothing else reads what lies between; the context does not ask for the weights'
// DequantizeLinear. Safe because the sum is exact in integers, where floats round it
// at every step, in an order that ONNX leaves open: results differ by one step, and only where the exact
// value lies within that error of half a step (docs/arithmetic.md).
#include <algorithm>
#include <cmath>
#include <functional>

#include "mrvlc/ir/pass_names.h"
#include "mrvlc/ops/quantized.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

double number(const Graph& g, ValueId v, int64_t k) {
  const Tensor& t = *g.constant(v);
  return t.as_double(t.elements() == 1 ? 0 : k);
}

// What becomes one QLinearConv, as far as it is known.
struct Chain {
  QuantizeStep x, w, y;
  NodeId product, bound;  // bound: Relu or Clip, or none
  int64_t channels = 0;
  bool transposed = false;     // weights of Gemm and MatMul: [K, N]
  std::vector<int32_t> bias;   // empty: none
  std::vector<NodeId> from;    // what it is made of
  std::vector<NodeId> folded;  // and the DequantizeLinear of its constants
};

// The dimension of the weights that output channels lie along.
int64_t channel_axis(const Chain& c) {
  return c.transposed ? 1 : 0;
}

bool plain_gemm(const Node& n) {
  return n.float_attr("alpha") == 1 && n.float_attr("beta") == 1 && n.int_attr("transA") == 0;
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
  c.transposed = product.is(Op::MatMul) || product.int_attr("transB") == 0;
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
  int64_t axis = g.node(c.w.node).int_attr("axis");
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

// The bias in units of the sums: an integer of 32 bits for each channel.
bool take_bias(const Graph& g, Chain& c) {
  const ValueId bias = input_or_none(g.node(c.product), 2);
  if (!bias.valid()) return true;
  const QuantizeStep b = quantize_step(g, producer_of(g, bias, Op::DequantizeLinear), false);
  const Tensor* t = b ? g.constant(b.data) : nullptr;
  if (t == nullptr || t->elem() != ElementType::I32) return false;
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

// Whether the chain ends in this QuantizeLinear.
bool find(const Graph& g, const PassContext& context, const Node& quantize, Chain& c) {
  c.y = quantize_step(g, &quantize, true);
  if (!c.y || !is_byte(type_of(g, quantize.outputs[0]).elem)) return false;
  if (type_of(g, quantize.inputs[0]).elem != ElementType::F32) return false;
  ValueId v = quantize.inputs[0];
  if (const Node* bound = producer(g, v); bound != nullptr && bound->is(Op::Relu, Op::Clip)) {
    if (!single_use(g, v) || !kept_range(g, *bound)) return false;
    c.bound = bound->id;
    v = bound->inputs[0];
  }
  const Node* product = producer(g, v);
  if (product == nullptr || !single_use(g, v)) return false;
  if (reserves(context, g, {product->id, c.bound, quantize.id})) return false;
  if (!find_product(g, context, *product, c) || !find_operands(g, context, c)) return false;
  if (!is_taken(g, context, c)) return false;
  c.folded = {c.w.node};
  if (!take_bias(g, c) || !sums_fit(g, c)) return false;
  c.from = {c.x.node, c.product};
  if (c.bound.valid()) c.from.push_back(c.bound);
  c.from.push_back(quantize.id);
  return true;
}

// A product of integers whose results are numbers; `c.y` and `c.bound` are none.
bool find_of_numbers(const Graph& g, const PassContext& context, const Node& product, Chain& c) {
  if (type_of(g, product.outputs[0]).elem != ElementType::F32 || reserves(context, g, {product.id}))
    return false;
  if (!find_product(g, context, product, c) || !find_operands(g, context, c)) return false;
  if (!is_taken(g, context, c)) return false;
  c.folded = {c.w.node};
  const ValueId bias = input_or_none(product, 2);
  const bool adds_later = bias.valid() && g.is_constant(bias) && type_of(g, bias).elements() == c.channels;
  if ((!adds_later && !take_bias(g, c)) || !sums_fit(g, c)) return false;
  c.from = {c.x.node, product.id};
  return true;
}

class Builder {
 public:
  Builder(Rewriter& rw, const Chain& chain) : rw_(rw), c_(chain), name_(product().name) {}

  // The result, as integers, or as numbers where no QuantizeLinear follows.
  ValueId run() {
    TensorType type = type_of(rw_.graph(), product().outputs[0]);
    if (c_.y) type.elem = type_of(rw_.graph(), c_.y.zero).elem;
    if (product().is(Op::Conv)) return bounded(conv(c_.x.data, c_.w.data, conv_attrs(), type), type);
    // Rows are images of one pixel.
    TensorType image = type_of(rw_.graph(), c_.x.data), pixels = type;
    image.shape.insert(image.shape.end(), {1, 1});
    pixels.shape.insert(pixels.shape.end(), {1, 1});
    const ValueId x = reshape(c_.x.data, image, c_.x.node);
    const ValueId y = conv(x, matrix(), ir::default_attrs(operator_of_ours()), pixels);
    return bounded(reshape(y, type, c_.from.back()), type);
  }

 private:
  // Nodes move when one is made.
  const Node& product() const { return rw_.graph().node(c_.product); }

  ValueId create(Op op, std::vector<ValueId> inputs, std::vector<Attr> attrs, const TensorType& type,
                 std::span<const NodeId> from) {
    return rw_.output(rw_.create(ops::op_def(op), std::move(inputs), std::move(attrs), {type}, from, name_));
  }

  const ir::OpSchema& operator_of_ours() const {
    return ops::op_def(c_.y ? Op::QLinearConv : Op::ConvInteger);
  }

  // Those of Conv have the same names.
  std::vector<Attr> conv_attrs() const {
    const ir::OpSchema &from = *product().op, &to = operator_of_ours();
    std::vector<Attr> out = ir::default_attrs(to);
    for (std::string_view name : {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"})
      ir::set_attr(to, out, name, product().attrs[static_cast<size_t>(from.attr_index(name))]);
    return out;
  }

  ValueId conv(ValueId x, ValueId w, const std::vector<Attr>& attrs, const TensorType& type) {
    if (!c_.y) return scaled(sums(x, w, attrs, type), type);
    std::vector<ValueId> inputs = {x, c_.x.scale, c_.x.zero, w, c_.w.scale, c_.w.zero, c_.y.scale, c_.y.zero};
    if (!c_.bias.empty())
      inputs.push_back(rw_.constant(Tensor::of(ElementType::I32, {c_.channels}, c_.bias), c_.from));
    return create(Op::QLinearConv, std::move(inputs), attrs, type, c_.from);
  }

  ValueId sums(ValueId x, ValueId w, const std::vector<Attr>& attrs, const TensorType& type) {
    // One zero point for all weights (is_taken), as a scalar.
    const Tensor& zeros = *rw_.graph().constant(c_.w.zero);
    const ValueId zero =
        rw_.constant(scalar_tensor(zeros.elem(), static_cast<double>(zeros.as_int(0))), c_.from);
    return create(Op::ConvInteger, {x, w, c_.x.zero, zero}, attrs, type.with_elem(ElementType::I32), c_.from);
  }

  // A number for each channel of a result of this type.
  ValueId by_channel(const TensorType& type, const std::function<double(int64_t)>& number_of) {
    Shape shape(static_cast<size_t>(type.rank()), 1);
    shape[1] = c_.channels;
    Tensor t(TensorType{ElementType::F32, shape});
    for (int64_t k = 0; k < c_.channels; ++k) t.set_double(k, number_of(k));
    return rw_.constant(std::move(t), c_.from);
  }

  ValueId scaled(ValueId sum, const TensorType& type) {
    const Graph& g = rw_.graph();
    const auto unit = [&](int64_t k) { return number(g, c_.x.scale, 0) * number(g, c_.w.scale, k); };
    std::vector<Attr> attrs = ir::default_attrs(ops::op_def(Op::Cast));
    ir::set_attr(ops::op_def(Op::Cast), attrs, "to", ElementType::F32);
    const std::vector<Attr> none = ir::default_attrs(ops::op_def(Op::Mul));
    ValueId v = create(Op::Cast, {sum}, std::move(attrs), type, c_.from);
    v = create(Op::Mul, {v, by_channel(type, unit)}, none, type, c_.from);
    const ValueId bias = input_or_none(product(), 2);
    if (!bias.valid()) return v;
    const Tensor* floats = g.constant(bias);
    const auto term = [&](int64_t k) {
      return floats != nullptr ? floats->as_double(k) : c_.bias[static_cast<size_t>(k)] * unit(k);
    };
    return create(Op::Add, {v, by_channel(type, term)}, none, type, c_.from);
  }

  ValueId reshape(ValueId v, const TensorType& type, NodeId of) {
    const NodeId from[] = {of};
    const ValueId shape = rw_.constant(ints_tensor(type.shape), from);
    return create(Op::Reshape, {v, shape}, ir::default_attrs(ops::op_def(Op::Reshape)), type, from);
  }

  // Weights as [N, K, 1, 1].
  ValueId matrix() {
    const Tensor& w = *rw_.graph().constant(c_.w.data);
    const int64_t k = w.shape()[c_.transposed ? 0 : 1], n = c_.channels;
    std::vector<uint8_t> bytes(static_cast<size_t>(k * n));
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < k; ++j)
        bytes[static_cast<size_t>(i * k + j)] =
            static_cast<uint8_t>(w.as_int(c_.transposed ? j * n + i : i * k + j));
    return rw_.constant(Tensor::of(w.elem(), {n, k, 1, 1}, bytes), c_.from);
  }

  // The bounds in steps of the result, where its type leaves more.
  ValueId bounded(ValueId v, const TensorType& type) {
    if (!c_.bound.valid()) return v;
    const Graph& g = rw_.graph();
    const ops::IntRange all = ops::range_of(type.elem);
    const auto [low, high] = *kept_range(g, g.node(c_.bound));
    const auto scale = static_cast<float>(number(g, c_.y.scale, 0));
    const int64_t zero = g.constant(c_.y.zero)->as_int(0);
    const int64_t from = ops::quantized(static_cast<float>(low), scale, zero, all),
                  to = ops::quantized(static_cast<float>(high), scale, zero, all);
    if (from == all.low && to == all.high) return v;
    auto bound = [&](int64_t b) {
      return rw_.constant(scalar_tensor(type.elem, static_cast<double>(b)), c_.from);
    };
    return create(Op::Clip, {v, bound(from), bound(to)}, ir::default_attrs(ops::op_def(Op::Clip)), type,
                  c_.from);
  }

  Rewriter& rw_;
  const Chain& c_;
  const std::string name_;
};

}  // namespace

Status integer_products(Graph& graph, const PassContext& context, bool& changed) {
  // The node that a chain ends in becomes the product of integers.
  const auto replace = [&](Rewriter& rw, NodeId last, const Chain& chain) {
    constexpr std::string_view kPart = "is part of a product of integers";
    if (!bypass(rw, last, Builder(rw, chain).run(), kPart)) return false;
    for (auto n = chain.from.rbegin(); n != chain.from.rend(); ++n)
      if (!rw.graph().node(*n).erased) erase_if_unused(rw, *n, kPart);
    for (NodeId n : chain.folded)
      if (!rw.graph().node(n).erased)
        erase_if_unused(rw, n, ir::folded("folded: a product reads its integers"));
    return true;
  };
  const auto of_integers = [&](Rewriter& rw, NodeId id) {
    Chain chain;
    return find(rw.graph(), context, rw.graph().node(id), chain) && replace(rw, id, chain);
  };
  const auto of_numbers = [&](Rewriter& rw, NodeId id) {
    Chain chain;
    return find_of_numbers(rw.graph(), context, rw.graph().node(id), chain) && replace(rw, id, chain);
  };
  changed = rewrite_nodes(graph, ir::kIntegerProducts, is_any<Op::QuantizeLinear>, of_integers);
  changed |= rewrite_nodes(graph, ir::kIntegerProducts, is_any<Op::Conv, Op::Gemm, Op::MatMul>, of_numbers);
  return {};
}

}  // namespace mrvlc::passes

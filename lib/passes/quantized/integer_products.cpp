// integer-products
//   before  %1 = DequantizeLinear(%x, %sx, %zx)
//           %2 = DequantizeLinear(%w, %sw, %zw)    %3 = DequantizeLinear(%b, %sb, %zb)
//           %4 = Conv(%1, %2, %3)    %5 = Relu(%4)    %6 = QuantizeLinear(%5, %sy, %zy)
//   after   %6 = QLinearConv(%x, %sx, %zx, %w, %sw, %zw, %sy, %zy, %b)
// and Gemm and MatMul of matrices as convolutions of single pixels. A Relu or Clip that leaves more than the
// type of the result does is a Clip of integers behind. A product that no QuantizeLinear follows:
//   before  %4 = Conv(%1, %2, %3)
//   after   %i = ConvInteger(%x, %w, %zx, %zw)    %f = Cast(%i)    %m = Mul(%f, sx * sw)    %4 = Add(%m, %b)
// %b is what an Add behind the product adds to each channel, too; integers of another scale are numbers.
// Preconditions: integers of 8 bits, constant weights, scales and zero points; one scale for %x and for %y,
// one for all weights or one an output channel; one zero point for all weights, one or two spatial
// dimensions, a batch within the context's (accelerators take no others); the context reserves none of them;
// the scale of the bias is the product of the others; no sum is beyond 32 bits, or the result saturates
// whichever it is; nothing else reads what lies between; the context does not ask for the weights'
// DequantizeLinear. Safe because the sum is exact in integers, where floats round it
// at every step, in an order that ONNX leaves open: results differ by one step, and only where the exact
// value lies within that error of half a step (docs/arithmetic.md).
#include <algorithm>
#include <functional>

#include "mrvlc/ir/pass_names.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/quantized.h"
#include "passes.h"
#include "quantized/integer_chain.h"

namespace mrvlc::passes {
namespace {

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
    if (c_.addend.empty()) return v;
    const auto term = [&](int64_t k) { return c_.addend[static_cast<size_t>(k)]; };
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
    if (c_.bounds.empty()) return v;
    const Graph& g = rw_.graph();
    const ops::IntRange all = ops::range_of(type.elem);
    const auto scale = static_cast<float>(number(g, c_.y.scale, 0));
    const int64_t zero = g.constant(c_.y.zero)->as_int(0);
    const int64_t from = ops::quantized(static_cast<float>(c_.low), scale, zero, all),
                  to = ops::quantized(static_cast<float>(c_.high), scale, zero, all);
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

// Functions of each element by itself, with other operands of one element that are constants.
bool is_of_each_element(const Graph& g, const Node& n, ValueId of) {
  if (!n.is(Op::Relu, Op::Clip, Op::LeakyRelu, Op::Sigmoid, Op::Tanh, Op::HardSigmoid, Op::HardSwish,
            Op::QuantizeLinear))
    return false;
  const auto one = [&](ValueId v) {
    return !v.valid() || (g.is_constant(v) && type_of(g, v).elements() == 1);
  };
  return n.inputs[0] == of && std::all_of(n.inputs.begin() + 1, n.inputs.end(), one);
}

// Rows are made of pixels behind what reads them alone and takes each element by itself: so it is of one
// layer with the product.
void reshape_late(Rewriter& rw, ValueId rows, const PassContext& context) {
  const Graph& g = rw.graph();
  while (producer_of(g, rows, Op::Reshape) != nullptr && single_use(g, rows)) {
    const NodeId reshape = g.value(rows).producer, id = g.value(rows).users[0], from[] = {id};
    const Node& n = g.node(id);
    if (!is_of_each_element(g, n, rows) || reserves(context, g, {id})) return;
    const TensorType type = type_of(g, n.outputs[0]);
    const TensorType pixels = type_of(g, g.node(reshape).inputs[0]).with_elem(type.elem);
    const ir::OpSchema& schema = *n.op;
    std::vector<ValueId> inputs = n.inputs;
    std::vector<Attr> attrs = n.attrs;
    if (n.is(Op::QuantizeLinear)) ir::set_attr(schema, attrs, "axis", int64_t{0});
    inputs[0] = g.node(reshape).inputs[0];
    const ValueId y =
        rw.output(rw.create(schema, std::move(inputs), std::move(attrs), {pixels}, from, n.name));
    const ValueId shape = g.node(reshape).inputs[1];
    rows = make(rw, Op::Reshape, {y, shape}, type, {id});
    if (!bypass(rw, id, rows, "reads the pixels of a product of integers")) return;
    erase_if_unused(rw, reshape, "makes rows further behind");
  }
}

}  // namespace

Status integer_products(Graph& graph, const PassContext& context, bool& changed) {
  // The node that a chain ends in becomes the product of integers.
  const auto replace = [&](Rewriter& rw, NodeId last, const Chain& chain) {
    constexpr std::string_view kPart = "is part of a product of integers";
    const ValueId result = Builder(rw, chain).run();
    if (!bypass(rw, last, result, kPart)) return false;
    for (auto n = chain.from.rbegin(); n != chain.from.rend(); ++n)
      if (!rw.graph().node(*n).erased) erase_if_unused(rw, *n, kPart);
    for (NodeId n : chain.folded)
      if (!rw.graph().node(n).erased)
        erase_if_unused(rw, n, ir::folded("folded: a product reads its integers"));
    if (!chain.y) reshape_late(rw, result, context);
    return true;
  };
  const auto of_integers = [&](Rewriter& rw, NodeId id) {
    Chain chain;
    return find_chain(rw.graph(), context, rw.graph().node(id), chain) && replace(rw, id, chain);
  };
  const auto of_numbers = [&](Rewriter& rw, NodeId id) {
    Chain chain;
    if (!find_chain_of_numbers(rw.graph(), context, rw.graph().node(id), chain)) return false;
    return replace(rw, chain.last(), chain);
  };
  changed = rewrite_nodes(graph, ir::kIntegerProducts, is_any<Op::QuantizeLinear>, of_integers);
  changed |= rewrite_nodes(graph, ir::kIntegerProducts, is_any<Op::Conv, Op::Gemm, Op::MatMul>, of_numbers);
  return {};
}

}  // namespace mrvlc::passes

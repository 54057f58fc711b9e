// Pairs behind activations, weights behind DequantizeLinear, biases in int32 in units of the sums.
#include "insert.h"

#include <algorithm>
#include <cmath>

#include "mrvlc/ir/rewriter.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::quantize {
namespace {

using ir::Rewriter;

struct Parameters {
  ValueId scale, zero;
};

class Inserter {
 public:
  explicit Inserter(Graph& graph) : rw_(graph, "quantize") {}

  ValueId make(Op op, std::vector<ValueId> inputs, const TensorType& type, NodeId from,
               const std::string& name, std::optional<int64_t> axis = std::nullopt) {
    const ops::OpDef& def = ops::op_def(op);
    std::vector<ir::Attr> attrs = ir::default_attrs(def);
    if (axis) ir::set_attr(def, attrs, "axis", *axis);
    const NodeId origin[] = {from};
    return rw_.output(rw_.create(def, std::move(inputs), std::move(attrs), {type}, origin, name));
  }

  ValueId constant(Tensor tensor, NodeId from, const std::string& name) {
    const NodeId origin[] = {from};
    return rw_.constant(std::move(tensor), origin, name);
  }

  Parameters parameters(const Affine& a, NodeId from, const std::string& name) {
    return {constant(Tensor::of<double>(ElementType::F32, {}, {static_cast<double>(a.scale)}), from,
                     name + "_scale"),
            constant(Tensor::of<int64_t>(a.type, {}, {a.zero}), from, name + "_zero_point")};
  }

  // The node that stands for a value in the ID map.
  NodeId origin(ValueId v) const {
    const ir::Value& value = rw_.graph().value(v);
    return value.producer.valid() ? value.producer : *std::ranges::min_element(value.users);
  }

  void pair(ValueId v, const Parameters& p) {
    const NodeId from = origin(v);
    const std::string name = ir::readable_name(rw_.graph(), v);
    const TensorType type = rw_.graph().value(v).type;
    const TensorType stored = type.with_elem(rw_.graph().value(p.zero).type.elem);
    const ValueId q = make(Op::QuantizeLinear, {v, p.scale, p.zero}, stored, from, name + "_QuantizeLinear");
    const ValueId d =
        make(Op::DequantizeLinear, {q, p.scale, p.zero}, type, from, name + "_DequantizeLinear");
    rw_.replace_all_uses(v, d);
    // The line above has made the pair read itself.
    rw_.set_input(rw_.graph().value(q).producer, 0, v);
  }

  Rewriter& rewriter() { return rw_; }

 private:
  Rewriter rw_;
};

}  // namespace

std::map<NodeId, NodeId> add_biases(Graph& graph, const Plan& plan) {
  Inserter in(graph);
  std::map<NodeId, NodeId> became;
  for (const Layer& layer : plan.layers) {
    const Node& n = graph.node(layer.node);
    if (!n.is(Op::Conv, Op::Gemm) || (n.inputs.size() > 2 && n.inputs[2].valid())) continue;
    const Shape shape = {product_shape(graph, n).channels()};
    const ValueId bias = in.constant(Tensor(TensorType{ElementType::F32, shape}), n.id, n.name + "_bias");
    const NodeId from[] = {n.id};
    const NodeId now = in.rewriter().create(*n.op, {n.inputs[0], n.inputs[1], bias}, n.attrs,
                                            {graph.value(n.outputs[0]).type}, from, n.name);
    in.rewriter().replace_all_uses(graph.node(layer.node).outputs[0], in.rewriter().output(now));
    in.rewriter().erase(layer.node, "has a bias now");
    became[layer.node] = now;
  }
  return became;
}

void insert_activations(Graph& graph, const Plan& plan, const std::vector<Affine>& affines) {
  Inserter in(graph);
  for (size_t i = 0; i < plan.groups.size(); ++i) {
    const ValueId first = plan.groups[i][0];
    const Parameters p = in.parameters(affines[i], in.origin(first), ir::readable_name(graph, first));
    for (ValueId v : plan.groups[i]) in.pair(v, p);
  }
}

namespace {

ValueId integer_weights(Inserter& in, const Graph& graph, const Node& n, const IntegerWeights& weights,
                        ElementType type) {
  const ProductShape shape = product_shape(graph, n);
  const TensorType of = graph.value(n.inputs[1]).type;
  const std::string name = ir::readable_name(graph, n.inputs[1]);
  const int64_t channels = shape.channels();
  Tensor integers(of.with_elem(type)), scales(TensorType{ElementType::F32, {channels}});
  for (int64_t m = 0; m < channels; ++m) {
    scales.set_double(m, static_cast<double>(weights.scales[static_cast<size_t>(m)]));
    for (int64_t k = 0; k < shape.depth; ++k)
      integers.set_int(shape.at(m, k), static_cast<int64_t>(weights.integers(m, k)));
  }
  const NodeId id = n.id;  // nodes move when one is made
  return in.make(Op::DequantizeLinear,
                 {in.constant(std::move(integers), id, name + "_quantized"),
                  in.constant(std::move(scales), id, name + "_scale"),
                  in.constant(Tensor(TensorType{type, {channels}}), id, name + "_zero_point")},
                 of, id, name + "_DequantizeLinear", shape.channel_axis);
}

// A bias in units of the sums, which round_weights made large enough.
struct IntegerBias {
  Tensor sums, units;
};

IntegerBias integer_bias(const Tensor& bias, const IntegerWeights& weights, const Affine& data) {
  // Sums have 32 bits, and products are still to be added.
  constexpr double kMostBias = 0x1p30;
  const TensorType type{ElementType::F32, {bias.elements()}};
  IntegerBias out{Tensor(type.with_elem(ElementType::I32)), Tensor(type)};
  for (int64_t m = 0; m < bias.elements(); ++m) {
    const float unit = data.scale * weights.scales[static_cast<size_t>(m)];
    const double q = std::nearbyint((bias.as_double(m) + weights.bias[m]) / static_cast<double>(unit));
    out.units.set_double(m, static_cast<double>(unit));
    out.sums.set_int(m, static_cast<int64_t>(std::clamp(q, -kMostBias, kMostBias)));
  }
  return out;
}

}  // namespace

void insert_weights(Graph& graph, const Layer& layer, const IntegerWeights& weights, ElementType type,
                    const Affine& data) {
  Inserter in(graph);
  const ValueId w = integer_weights(in, graph, graph.node(layer.node), weights, type);
  const std::vector<ValueId>& inputs = graph.node(layer.node).inputs;
  const ValueId bias = inputs.size() > 2 ? inputs[2] : ValueId();
  in.rewriter().set_input(layer.node, 1, w);
  if (!bias.valid()) return;
  const std::string name = ir::readable_name(graph, bias);
  IntegerBias b = integer_bias(*graph.constant(bias), weights, data);
  const TensorType floats = b.units.type();
  const auto constant = [&](Tensor t, std::string_view what) {
    return in.constant(std::move(t), layer.node, name + std::string(what));
  };
  const std::vector<ValueId> parts = {constant(std::move(b.sums), "_quantized"),
                                      constant(std::move(b.units), "_scale"),
                                      constant(Tensor(floats.with_elem(ElementType::I32)), "_zero_point")};
  in.rewriter().set_input(
      layer.node, 2, in.make(Op::DequantizeLinear, parts, floats, layer.node, name + "_DequantizeLinear", 0));
}

}  // namespace mrvlc::quantize

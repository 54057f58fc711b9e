// quantized-forms
//   before  %1 = DequantizeLinear(%x, %s)              (ONNX: a zero point left out is 0)
//           %2 = DequantizeLinear(%w, %sw, %zw)        %w of 4 or 2 bits, or of a zero point for each channel
//   after   %1 = DequantizeLinear(%x, %s, 0)
//           %2 = DequantizeLinear(%w - %zw, %sw, 0)    %w - %zw of int8
// and QuantizeLinear as %1. Preconditions of %2: constants; every %w - %zw lies within int8; no blocks; the
// context does not ask for the weights' DequantizeLinear. Safe because ONNX defines both forms by the same
// numbers, and (w - z) * s is computed from the same integer w - z. What knows quantised networks need then
// know one form.
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

bool quantises(const Node& n) {
  return n.is(Op::QuantizeLinear, Op::DequantizeLinear);
}

// The same node with other operands, in its place.
bool with_inputs(Rewriter& rw, NodeId id, std::vector<ValueId> inputs, Because because) {
  const Node& n = rw.graph().node(id);
  const ir::OpSchema& schema = *n.op;
  std::vector<Attr> attrs = n.attrs;
  const TensorType type = type_of(rw.graph(), n.outputs[0]);
  const NodeId from[] = {id};
  const NodeId now = rw.create(schema, std::move(inputs), std::move(attrs), {type}, from);
  return bypass(rw, id, rw.output(now), because);
}

bool below_a_byte(ElementType e) {
  return e == ElementType::I4 || e == ElementType::U4 || e == ElementType::I2 || e == ElementType::U2;
}

// Of the type that the integers have, one for each scale.
bool write_zero_point(Rewriter& rw, NodeId id, const PassContext& context) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (input_or_none(n, 2).valid() || (context.stays && context.stays(g, n))) return false;
  if (reserves(context, g, {id})) return false;
  const ElementType integers = type_of(g, n.is(Op::QuantizeLinear) ? n.outputs[0] : n.inputs[0]).elem;
  const TensorType& scale = type_of(g, n.inputs[1]);
  if ((!is_integer(integers) && !below_a_byte(integers)) || !scale.is_static()) return false;
  const NodeId from[] = {id};
  std::vector<ValueId> inputs = n.inputs;
  inputs.resize(3);
  inputs[2] = rw.constant(Tensor(scale.with_elem(integers)), from);
  return with_inputs(rw, id, std::move(inputs), "its zero point is written out");
}

// w - z of constant weights, one zero point for all or one for each index of `axis`; nullopt: beyond int8.
std::optional<Tensor> differences(const Tensor& w, const Tensor& zeros, size_t axis) {
  int64_t inner = 1;
  for (size_t d = axis + 1; d < w.shape().size(); ++d) inner *= w.shape()[d];
  Tensor out(TensorType{ElementType::I8, w.shape()});
  for (int64_t i = 0; i < w.elements(); ++i) {
    const int64_t z = zeros.as_int(zeros.elements() == 1 ? 0 : i / inner % zeros.elements());
    const int64_t difference = w.as_int(i) - z;
    if (difference < INT8_MIN || difference > INT8_MAX) return std::nullopt;
    out.set_double(i, static_cast<double>(difference));
  }
  return out;
}

bool several(const Tensor& zeros) {
  for (int64_t i = 1; i < zeros.elements(); ++i)
    if (zeros.as_int(i) != zeros.as_int(0)) return true;
  return false;
}

bool weights_of_bytes(Rewriter& rw, NodeId id, const PassContext& context) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  const Tensor *w = g.constant(n.inputs[0]), *zeros = g.constant(input_or_none(n, 2));
  if (w == nullptr || zeros == nullptr || ops::attr::block_size(n) != 0) return false;
  const bool bytes = is_byte(w->elem()) && several(*zeros);
  if ((!bytes && !below_a_byte(w->elem())) || (context.stays && context.stays(g, n))) return false;
  if (reserves(context, g, {id})) return false;
  const auto rank = static_cast<int64_t>(w->shape().size());
  int64_t axis = ops::attr::axis(n);
  if (axis < 0) axis += rank;
  if (zeros->elements() != 1 && (axis < 0 || axis >= rank)) return false;
  std::optional<Tensor> moved = differences(*w, *zeros, static_cast<size_t>(std::max<int64_t>(axis, 0)));
  if (!moved) return false;
  const NodeId from[] = {id};
  std::vector<ValueId> inputs = n.inputs;
  inputs[2] = rw.constant(Tensor(TensorType{ElementType::I8, zeros->shape()}), from);
  inputs[0] = rw.constant(std::move(*moved), from);
  return with_inputs(rw, id, std::move(inputs), "its weights are bytes with the zero point 0");
}

}  // namespace

Status quantized_forms(Graph& graph, const PassContext& context, bool& changed) {
  const auto zero_point = [&](Rewriter& rw, NodeId id) { return write_zero_point(rw, id, context); };
  const auto weights = [&](Rewriter& rw, NodeId id) { return weights_of_bytes(rw, id, context); };
  changed = rewrite_nodes(graph, "quantized-forms", quantises, zero_point);
  changed |= rewrite_nodes(graph, "quantized-forms", is_any<Op::DequantizeLinear>, weights);
  return {};
}

}  // namespace mrvlc::passes

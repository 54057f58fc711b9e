// The nodes of the graph in order: which become layers, and what the model's inputs and outputs are.
#include <algorithm>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/quantized.h"
#include "mrvlc/support/file_names.h"
#include "network/builder.h"

namespace mrvlc::mesh {
namespace {

// The stride of `rows` that are folded from several dimensions; nullopt: there is no single one.
std::optional<int64_t> folded_stride(const Shape& shape, const std::vector<size_t>& order, size_t first,
                                     size_t last) {
  const std::vector<int64_t> strides = row_major_strides(shape);
  std::optional<int64_t> stride;
  int64_t below = 0;
  for (size_t i = last; i-- > first;) {
    const int64_t size = shape[order[i]], own = strides[order[i]];
    if (size == 1) continue;
    if (stride && own != below) return std::nullopt;
    if (!stride) stride = own;
    below = own * size;
  }
  return stride.value_or(0);
}

std::optional<std::vector<int64_t>> host_strides(const Stored& s) {
  const size_t rank = s.order.size();
  const std::vector<int64_t> strides = row_major_strides(s.shape);
  const size_t rows_end = rank >= 4 ? rank - 2 : rank - std::min<size_t>(rank, 1);
  const auto rows = folded_stride(s.shape, s.order, 0, rows_end);
  if (!rows) return std::nullopt;
  return std::vector<int64_t>{*rows, rank >= 4 ? strides[s.order[rank - 2]] : 0,
                              rank >= 1 ? strides[s.order[rank - 1]] : 0};
}

bool has_elements(const TensorType& type) {
  return type.wrapper == Wrapper::None && type.dynamic == 0 &&
         std::ranges::all_of(type.shape, [](int64_t d) { return d > 0; });
}

}  // namespace

const ir::Node* NetworkBuilder::sole_user(const ir::Node& n) const {
  const ir::Value& v = g_.value(n.outputs[0]);
  if (v.output_uses != 0 || v.users.size() != 1) return nullptr;
  return &g_.node(v.users[0]);
}

const ir::Node* NetworkBuilder::quantize_behind(const ir::Node& n) const {
  const ir::Node* q = sole_user(n);
  return q != nullptr && q->is(Op::QuantizeLinear) && q->inputs[0] == n.outputs[0] ? q : nullptr;
}

Layer NetworkBuilder::new_layer(const ir::Node& n, Kind kind, const std::vector<Stored>& operands,
                                const Stored& result) const {
  Layer layer;
  layer.planned.node = n.name;
  layer.planned.op = n.op->name;
  layer.planned.kind = kind;
  for (const Stored& s : operands) layer.planned.inputs.push_back(s.tensor);
  layer.planned.output = result.tensor;
  return layer;
}

Stored NetworkBuilder::new_stored(const ir::Node& n, ir::ValueId value, Elem elem, const Shape& shape,
                                  std::vector<size_t> order) {
  Tensor3 t = folded(shape, order);
  t.name = value.valid() ? ir::readable_name(g_, value) : n.name;
  t.elem = elem;
  out_.tensors.push_back(std::move(t));
  return {static_cast<uint32_t>(out_.tensors.size() - 1), shape, std::move(order)};
}

// Of a QuantizeLinear or DequantizeLinear; `elem`: of its integers.
Result<Rounding> NetworkBuilder::rounding_of(const ir::Node& n, ElementType elem) const {
  const Tensor* scale = g_.constant(n.inputs[1]);
  const bool has_zero = n.inputs.size() > 2 && n.inputs[2].valid();
  const Tensor* zero = has_zero ? g_.constant(n.inputs[2]) : nullptr;
  if (scale == nullptr || scale->elements() != 1 || scale->elem() != ElementType::F32 ||
      (has_zero && (zero == nullptr || zero->elements() != 1)))
    return refused(n, "its scale and zero point are no single constants");
  if (!is_byte(elem)) return refused(n, "its integers are not of 8 bits");
  const ops::IntRange range = ops::range_of(elem);
  return Rounding{static_cast<float>(scale->as_double(0)),
                  zero == nullptr ? 0 : static_cast<int32_t>(zero->as_int(0)),
                  static_cast<int32_t>(range.low), static_cast<int32_t>(range.high)};
}

Result<Rounding> NetworkBuilder::rounding_of(const ir::Node& quantize) const {
  return rounding_of(quantize, g_.value(quantize.outputs[0]).type.elem);
}

Status NetworkBuilder::add_quantize(const ir::Node& n) {
  MRVLC_ASSIGN(const Rounding rounding, rounding_of(n));
  MRVLC_ASSIGN(const Numbers numbers, numbers_of(n, n.inputs[0]));
  MRVLC_ASSIGN(stored_[n.outputs[0]],
               store(n, numbers, rounding, g_.value(n.outputs[0]).type.elem, n.outputs[0]));
  return {};
}

Status NetworkBuilder::add_dequantize(const ir::Node& n) {
  const auto from = stored_.find(n.inputs[0]);
  if (from == stored_.end()) return refused(n, "it reads a constant that no pass has folded");
  MRVLC_ASSIGN(const Rounding r, rounding_of(n, g_.value(n.inputs[0]).type.elem));
  Step step;
  step.op = Step::Op::Dequantize;
  step.scale = r.scale, step.zero = r.zero;
  numbers_[n.outputs[0]] = Numbers{{from->second}, {step}};
  return {};
}

// Sums of 32 bits as numbers.
Status NetworkBuilder::add_cast(const ir::Node& n) {
  const auto from = stored_.find(n.inputs[0]);
  if (from == stored_.end() || tensor(from->second).elem != Elem::I32 ||
      g_.value(n.outputs[0]).type.elem != ElementType::F32)
    return refused(n, "only sums of 32 bits are cast, to float32");
  numbers_[n.outputs[0]] = Numbers{{from->second}, {Step{}}};
  return {};
}

Status NetworkBuilder::add_node(const ir::Node& n) {
  if (stored_.contains(n.outputs[0]) || done_.contains(n.id)) return {};  // a part of a layer before
  for (const ir::ValueId out : n.outputs)
    if (!has_elements(g_.value(out).type)) return refused(n, "the shape of its result is not fixed");
  if (n.outputs.size() != 1) return refused(n, "it has several results");
  switch (n.kind()) {
    case Op::QuantizeLinear:
      return add_quantize(n);
    case Op::DequantizeLinear:
      return add_dequantize(n);
    case Op::Cast:
      return add_cast(n);
    case Op::QLinearConv:
    case Op::ConvInteger:
      return add_conv(n);
    case Op::MaxPool:
    case Op::AveragePool:
    case Op::GlobalMaxPool:
    case Op::GlobalAveragePool:
      return add_pool(n);
    case Op::Softmax:
      return add_softmax(n);
    case Op::Transpose:
      return add_transpose(n);
    case Op::Reshape:
    case Op::Flatten:
    case Op::Squeeze:
    case Op::Unsqueeze:
    case Op::Identity:
      return add_view(n);
    case Op::Concat:
      return add_concat(n);
    case Op::Slice:
      return add_slice(n);
    default:
      return add_elementwise(n);
  }
}

Status NetworkBuilder::add_inputs() {
  std::vector<std::string> names;
  for (const ir::ValueId id : g_.inputs()) names.push_back(g_.value(id).name);
  const auto files = file_names(names);
  for (size_t i = 0; i < files.size(); ++i) {
    const ir::Value& v = g_.value(g_.inputs()[i]);
    const auto elem = elem_of(v.type.elem);
    if (!elem || *elem == Elem::I32 || !has_elements(v.type))
      return make_diag<DiagCode::MRV1303>("input '" + printable(v.name) +
                                          "' is not of 8 bits or float32, or its shape is not fixed");
    const size_t rank = v.type.shape.size();
    // What its only reader moves is stored as the model has it.
    const bool moved = v.users.size() == 1 && g_.node(v.users[0]).is(Op::Transpose, Op::Reshape, Op::Flatten);
    const bool image = rank > 2 && v.type.shape[0] == 1 && !moved;
    const Stored s =
        new_stored({}, v.id, *elem, v.type.shape, image ? channels_last(rank) : identity_order(rank));
    out_.inputs.push_back({v.name, files[i], s.tensor, v.type.shape, host_strides(s).value()});
    stored_[v.id] = s;
  }
  return {};
}

Status NetworkBuilder::add_outputs() {
  std::vector<std::string> names;
  for (const ir::ValueId id : g_.outputs()) names.push_back(g_.value(id).name);
  const auto files = file_names(names);
  for (size_t i = 0; i < files.size(); ++i) {
    const ir::Value& v = g_.value(g_.outputs()[i]);
    if (v.kind != ir::ValueKind::Result)
      return make_diag<DiagCode::MRV1303>("output '" + printable(v.name) + "' is no result of a node");
    const ir::Node& n = g_.node(v.producer);
    MRVLC_ASSIGN(Stored s, stored(n, v.id));
    if (!host_strides(s)) s = row_major(n, s);
    out_.outputs.push_back({v.name, files[i], s.tensor, v.type.shape, host_strides(s).value()});
  }
  return {};
}

Result<NetworkOf> NetworkBuilder::run() {
  MRVLC_TRY(add_inputs());
  for (const ir::NodeId id : g_.topological_order()) MRVLC_TRY(add_node(g_.node(id)));
  MRVLC_TRY(add_outputs());
  return std::move(out_);
}

Result<NetworkOf> network_of(const ir::Graph& graph) {
  return NetworkBuilder(graph).run();
}

}  // namespace mrvlc::mesh

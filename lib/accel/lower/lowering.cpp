// Where the values of a region are stored, its weights, and one layer after the other.
#include "lower/lowering.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mrvlc/accel/epilogue.h"
#include "mrvlc/accel/legality.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/checked.h"
#include "mrvlc/tensor/float16.h"
#include "plan/pe_plan.h"
#include "primitive/cost_limits.h"

namespace mrvlc::accel {
namespace {

constexpr int64_t kWeightAlignment = 128;  // a burst

int64_t storage_bytes(const Dims& dims, isa::DataType type) {
  int64_t n = element_count(dims) * isa::data_bytes(type);
  return round_up(std::max<int64_t>(n, 1), kWeightAlignment);
}

int64_t row_bytes(const Dims& dims, std::span<const int64_t> perm, isa::DataType type) {
  int64_t inner = perm.empty() ? 1 : dims[static_cast<size_t>(perm.back())];
  return std::max<int64_t>(inner, 1) * isa::data_bytes(type);
}

Buffer make_buffer(Buffer::Kind kind, const Dims& dims, std::span<const int64_t> perm, isa::DataType type) {
  Buffer b;
  b.kind = kind;
  b.bytes = storage_bytes(dims, type);
  b.pitch = row_bytes(dims, perm, type);
  b.rows = std::max<int64_t>(1, element_count(dims) * isa::data_bytes(type) / b.pitch);
  bool image = dims.size() == 4 && perm.back() == 1;
  if (image) b.grain = std::max<int64_t>(1, dims[3]);
  return b;
}

}  // namespace

Lowering::Lowering(const ir::Graph& graph, const partition::Region& region, const target::Machine& machine)
    : graph_(graph),
      region_(region),
      machine_(machine),
      channels_last_(accel::channels_last(graph, region)),
      wide_(choose_wide(graph, region)) {
  lowered_.layer_weight_bytes.assign(region.layers.size(), 0);
  for (uint32_t l = 0; l < region.layers.size(); ++l)
    for (ir::NodeId n : region.layers[l].nodes) layer_of_[n] = l;
}

const partition::Layer* Lowering::layer_of(ir::NodeId node) const {
  auto it = layer_of_.find(node);
  return it == layer_of_.end() ? nullptr : &region_.layers[it->second];
}

std::vector<int64_t> Lowering::perm_of(ir::ValueId value) const {
  size_t rank = shape(value).size();
  return channels_last(value) ? channels_last_perm(rank) : identity_perm(rank);
}

partition::Precision Lowering::precision(ir::ValueId value) const {
  auto asked = region_.precisions.find(value);
  return asked == region_.precisions.end() ? partition::Precision{} : asked->second;
}

std::optional<View> Lowering::deferred(ir::ValueId value) const {
  auto it = deferred_.find(value);
  return it == deferred_.end() ? std::nullopt : std::optional(it->second);
}

void Lowering::make_ports() {
  auto port = [&](ir::ValueId v, Buffer::Kind kind) {
    auto buffer = static_cast<uint32_t>(program_.buffers.size());
    isa::DataType type = type_of(v);
    program_.buffers.push_back(make_buffer(kind, shape(v), perm_of(v), type));
    program_.buffers.back().value = v;
    views_[v] = {buffer, type, 0, shape(v), dense_strides(shape(v), perm_of(v)), as_they_are(type)};
    return buffer;
  };
  auto layout = [&](ir::ValueId v) { return backend::Port{v, perm_of(v), element_type(views_.at(v).type)}; };
  for (ir::ValueId v : region_.inputs) {
    lowered_.input_buffers.push_back(port(v, Buffer::Kind::Input));
    lowered_.inputs.push_back(layout(v));
  }
  for (ir::ValueId v : region_.outputs) {
    output_index_[v] = static_cast<uint32_t>(lowered_.outputs.size());
    lowered_.output_buffers.push_back(port(v, Buffer::Kind::Output));
    lowered_.outputs.push_back(layout(v));
  }
}

// The leading dimension of inputs and outputs, where those of which it is not 1 agree.
void Lowering::count_images() {
  int64_t images = 1;
  for (const auto* ports : {&region_.inputs, &region_.outputs})
    for (ir::ValueId v : *ports) {
      const Dims& dims = shape(v);
      if (dims.size() < 2 || dims[0] <= 1) continue;
      if (images > 1 && dims[0] != images) return;
      images = dims[0];
    }
  program_.images = images;
}

// What a concatenation joins is written in its place by whoever makes it.
void Lowering::place_concats() {
  for (const partition::Layer& layer : region_.layers) {
    const ir::Node& node = graph_.node(layer.anchor);
    if (!node.is(Op::Concat) || layer.nodes.size() != 1) continue;
    int64_t axis = ops::attr::axis(node), rank = static_cast<int64_t>(shape(node.outputs[0]).size()), at = 0;
    if (axis < 0) axis += rank;
    for (ir::ValueId in : node.inputs) {
      const ir::Value& value = graph_.value(in);
      bool made_here = value.kind == ir::ValueKind::Result && layer_of_.contains(value.producer);
      bool same_type = type_of(in) == type_of(node.outputs[0]);
      made_here = made_here && layer_of(value.producer)->kind != LayerKind::Dequantize;
      if (made_here && same_type && !is_region_output(in))
        places_.try_emplace(in, Place{node.outputs[0], static_cast<size_t>(axis), at});
      at += shape(in)[static_cast<size_t>(axis)];
    }
  }
}

void Lowering::reserve_for_constants() {
  int64_t bytes = 0;
  for (const partition::Layer& layer : region_.layers)
    for (ir::NodeId n : layer.nodes)
      for (ir::ValueId v : graph_.node(n).inputs)
        if (graph_.is_constant(v)) bytes += graph_.value(v).type.elements() * 2;
  program_.weights.reserve(static_cast<size_t>(bytes + bytes / 32));
}

Result<Lowered> Lowering::run() {
  for (ir::NodeId n : wide_.strained) warn(make_diag<DiagCode::MRV0507>(), graph_.node(n));
  make_ports();
  count_images();
  place_concats();
  reserve_for_constants();
  for (layer_ = 0; layer_ < region_.layers.size(); ++layer_) {
    auto before = static_cast<int64_t>(program_.weights.size());
    const ir::Node& anchor = graph_.node(layer().anchor);
    keep(lower_layer());
    // A layer has few window operations; groups are counted as they come.
    if (static_cast<int64_t>(program_.primitives.size()) > kMostPrimitives) keep(too_many_primitives());
    if (!failed_.ok()) return at_node(std::move(failed_).error(), anchor.name, anchor.op->name);
    lowered_.layer_weight_bytes[layer_] = static_cast<int64_t>(program_.weights.size()) - before;
  }
  program_.buffers[kWeights].bytes = static_cast<int64_t>(program_.weights.size());
  for (const auto& [value, view] : views_)
    if (graph_.value(value).kind == ir::ValueKind::Result && layer_of_.contains(graph_.value(value).producer))
      lowered_.activations.emplace(value, view);
  lowered_.program = std::move(program_);
  return std::move(lowered_);
}

Status Lowering::lower_layer() {
  switch (layer().kind) {
    case LayerKind::Conv:
    case LayerKind::ConvTranspose:
      return lower_conv(*this);
    case LayerKind::Fc:
    case LayerKind::Matmul:
      return lower_matmul(*this);
    case LayerKind::QlinearConv:
    case LayerKind::IntegerConv:
      return lower_integer_conv(*this);
    case LayerKind::Dequantize:
      return lower_dequantize(*this);
    case LayerKind::Pool:
      return lower_pool(*this);
    case LayerKind::Elementwise:
      return lower_elementwise(*this);
    case LayerKind::Reduce:
      return lower_reduce(*this);
    case LayerKind::Softmax:
      return lower_softmax(*this);
    case LayerKind::Norm:
      return lower_norm(*this);
    case LayerKind::Resize:
      return lower_resize(*this);
    case LayerKind::Concat:
      return lower_concat(*this);
    case LayerKind::Move:
      return lower_move(*this);
    case LayerKind::Reshape:
      return lower_reshape(*this);
  }
  return {};
}

View Lowering::read(ir::ValueId value) {
  auto it = views_.find(value);
  if (it != views_.end()) return it->second;
  View v = constant(*graph_.constant(value), perm_of(value));
  views_[value] = v;
  return v;
}

View Lowering::read_operand(ir::ValueId value) {
  const Tensor* tensor = graph_.constant(value);
  // What ends in integers computes as ONNX says, in fp32.
  const bool exact = graph_.node(layer().nodes.back()).is(Op::QuantizeLinear);
  if (tensor == nullptr || (!exact && !is_asked(last()) && fits_format(*tensor))) return read(value);
  auto it = wide_constants_.find(value);
  if (it != wide_constants_.end()) return it->second;
  return wide_constants_[value] = constant(*tensor, perm_of(value), isa::DataType::F32);
}

View Lowering::result(ir::ValueId value) {
  auto it = views_.find(value);
  if (it != views_.end()) return it->second;
  auto place = places_.find(value);
  View v;
  if (place == places_.end()) {
    v = scratch(shape(value), perm_of(value), type_of(value));
    program_.buffers[v.buffer].value = value;
  } else {
    const Place& p = place->second;
    v = slice(result(p.whole), p.axis, p.at, 1, shape(value)[p.axis]);
  }
  views_[value] = v;
  return v;
}

void Lowering::bind(ir::ValueId value, const View& view, ir::NodeId expr) {
  if (is_region_output(value)) {
    copy(view, views_.at(value), expr);
  } else {
    views_[value] = view;
  }
}

View Lowering::scratch(const Dims& dims, std::span<const int64_t> perm, isa::DataType type) {
  auto buffer = static_cast<uint32_t>(program_.buffers.size());
  program_.buffers.push_back(make_buffer(Buffer::Kind::Scratch, dims, perm, type));
  return {buffer, type, 0, dims, dense_strides(dims, perm), as_they_are(type)};
}

int64_t Lowering::reserve_weights(int64_t bytes) {
  auto at = round_up(static_cast<int64_t>(program_.weights.size()), kWeightAlignment);
  program_.weights.resize(static_cast<size_t>(at + bytes), '\0');
  return at;
}

int64_t Lowering::append_weights(std::string_view bytes) {
  int64_t at = reserve_weights(static_cast<int64_t>(bytes.size()));
  std::memcpy(weights_at(at), bytes.data(), bytes.size());
  return at;
}

View Lowering::constant(const std::vector<float>& values, const Dims& dims, isa::DataType type) {
  std::string bytes(values.size() * isa::data_bytes(type), '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half = float_to_half(values[i]);
    if (type == isa::DataType::F16) {
      std::memcpy(bytes.data() + 2 * i, &half, 2);
    } else {
      std::memcpy(bytes.data() + 4 * i, &values[i], 4);
    }
  }
  auto [it, fresh] = shared_constants_.try_emplace(bytes, 0);
  if (fresh) it->second = append_weights(bytes);
  int64_t offset = it->second / isa::data_bytes(type);
  return {kWeights, type, offset, dims, dense_strides(dims, identity_perm(dims.size()))};
}

View Lowering::constant(const Tensor& tensor, std::span<const int64_t> perm, isa::DataType type) {
  const Dims& dims = tensor.shape();
  View v{kWeights, type, 0, dims, dense_strides(dims, perm)};
  int64_t bytes = isa::data_bytes(type), at = reserve_weights(tensor.elements() * bytes);
  v.offset = at / bytes;
  Dims index(dims.size(), 0);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    int64_t to = 0;
    for (size_t d = 0; d < dims.size(); ++d) to += index[d] * v.strides[d];
    auto whole = static_cast<float>(tensor.as_double(i));
    uint16_t half = double_to_half(tensor.as_double(i));
    bool narrow = type == isa::DataType::F16;
    std::memcpy(weights_at(at + bytes * to), narrow ? static_cast<void*>(&half) : &whole,
                static_cast<size_t>(bytes));
    for (size_t d = dims.size(); d-- > 0 && ++index[d] == dims[d];) index[d] = 0;
  }
  return v;
}

RoundedWeights Lowering::rounded_weights(const ir::Node& node, std::span<const float> scale) {
  std::optional<ScaledWeights> weights = accel::constant_weights(graph_, node);
  if (!weights) {
    keep(make_diag<DiagCode::MRV0502>("weights that are no constant matrix"));
    return {};
  }
  weights->factors = scale;
  constexpr double kNoted = 0x1p-20;  // 1/1024, about what any rounding to fp16 loses
  if (!loses_at_most(*weights, kNoted)) {
    FormatLoss loss = format_loss(*weights);
    warn(make_diag<DiagCode::MRV0506>(loss.under, loss.values, 100 * std::sqrt(loss.lost / loss.norm)), node);
  }
  RoundedWeights out;
  out.high = round_weights(*weights);
  if (precision(node.inputs[1]).kind == partition::Precision::Kind::Pair)
    out.low = round_remainders(*weights, out.high);
  return out;
}

int64_t Lowering::table(const std::vector<float>& segments) {
  Dims dims = {static_cast<int64_t>(segments.size())};
  return constant(segments, dims, isa::DataType::F32).offset * 4;
}

void Lowering::copy(const View& from, const View& to, ir::NodeId expr) {
  PeBuilder b(*this, to.dims, expr);
  keep(b.finish(b.view(from), to));
}

void Lowering::fill(const View& to, float value, ir::NodeId expr) {
  PeBuilder b(*this, to.dims, expr);
  PeOperand t = b.temp(isa::DataType::F16);
  b.apply(isa::EwOp::Fill, t, {}, {}, value);
  keep(b.finish(t, to));
}

View Lowering::with_inner(const View& view, size_t dim, ir::NodeId expr) {
  // Windows step forwards only: a reversed slice is copied.
  bool backwards = std::ranges::any_of(view.strides, [](int64_t s) { return s < 0; });
  if (!backwards && (view.dims[dim] == 1 || view.strides[dim] == 1)) return view;
  std::vector<int64_t> perm = identity_perm(view.dims.size());
  perm.erase(perm.begin() + static_cast<std::ptrdiff_t>(dim));
  perm.push_back(static_cast<int64_t>(dim));
  View v = scratch(view.dims, perm, isa::is_integer(view.type) ? view.type : isa::DataType::F16);
  v.quantization = view.quantization;
  copy(view, v, expr);
  return v;
}

View Lowering::halves(const HalvesOf& of, ir::NodeId expr) {
  if (auto made = halves_.find(of); made != halves_.end()) return made->second;
  const auto& [view, dim, groups, low, shift] = of;
  auto n = static_cast<int64_t>(low.size()), part = view.dims[dim] / groups;
  Dims dims = view.dims;
  dims[dim] *= n;
  std::vector<int64_t> perm = identity_perm(dims.size());
  perm.erase(perm.begin() + static_cast<std::ptrdiff_t>(dim));
  perm.push_back(static_cast<int64_t>(dim));
  View all = scratch(dims, perm);
  // Dimension `dim` as (groups, terms, part) of the result, as (groups, part) of the operand.
  View from = factored(view, dim, part), to = factored(factored(all, dim, n * part), dim + 1, part);
  auto place = [&](int64_t term) {
    View v = slice(to, of.dim + 1, term, 1, 1);
    v.dims.erase(v.dims.begin() + static_cast<std::ptrdiff_t>(of.dim) + 1);
    v.strides.erase(v.strides.begin() + static_cast<std::ptrdiff_t>(of.dim) + 1);
    return v;
  };
  // In one group, so that all halves of an element leave together.
  PeBuilder b(*this, from.dims, expr);
  for (int64_t t = 0; t < n; ++t) {
    PeOperand half;
    if (low[static_cast<size_t>(t)]) {
      half = b.temp();
      b.apply(isa::EwOp::AxpBy, half, b.view(from), b.view(place(0)), std::ldexp(1.0f, -shift), -1);
    } else if (t == 0 && shift != 0) {
      half = b.temp();
      b.apply(isa::EwOp::Affine, half, b.view(from), {}, std::ldexp(1.0f, -shift));
    } else {
      half = b.view(t == 0 ? from : place(0));  // term 0 is a high half
    }
    b.write(half, place(t));
  }
  keep(b.finish());
  return halves_[of] = all;
}

Status Lowering::add(PeGroup group) {
  for (int64_t d : group.dims)
    if (d == 0) return {};
  simplify(group, program_.buffers);
  if (!fits_smallest(group, machine_))
    return group.stages.size() > 1 ? unfuse(group) : split_reduction(group);
  if (static_cast<int64_t>(program_.primitives.size()) >= kMostPrimitives) return too_many_primitives();
  program_.primitives.emplace_back(std::move(group));
  return {};
}

// Every stage a group of its own; what they pass on goes through DDR.
Status Lowering::unfuse(const PeGroup& group) {
  std::vector<View> stored;
  for (const PeTemp& t : group.temps) {
    Dims dims = group.dims;
    for (size_t d = 0; d < dims.size(); ++d)
      if (!t.spans[d]) dims[d] = 1;
    stored.push_back(broadcast(scratch(dims, identity_perm(dims.size()), t.type), group.dims));
  }
  for (PeStage stage : group.stages) {
    for (PeOperand* o : {&stage.dst, &stage.a, &stage.b})
      if (o->kind == PeOperand::Kind::Temp) *o = {PeOperand::Kind::External, stored[o->temp], 0};
    PeGroup single{group.owner, group.dims, {}, {stage}};
    for (size_t d = 0; d < single.dims.size(); ++d)
      if (!stage.reduce && stage.dst.view.strides[d] == 0) single.dims[d] = 1;
    for (PeOperand* o : {&single.stages[0].dst, &single.stages[0].a, &single.stages[0].b})
      o->view.dims = single.dims;
    MRVLC_TRY(add(std::move(single)));
  }
  return {};
}

// A reduction whose operand does not fit: parts of the largest reduced dimension first, then their results.
Status Lowering::split_reduction(const PeGroup& group) {
  const PeStage& stage = group.stages[0];
  std::vector<bool> whole = whole_dims(group);
  size_t dim = group.dims.size();
  for (size_t d = 0; d < group.dims.size(); ++d)
    if (whole[d] && (dim == group.dims.size() || group.dims[d] > group.dims[dim])) dim = d;
  if (!stage.reduce || dim == group.dims.size() || group.dims[dim] < 2)
    return make_diag<DiagCode::MRV0501>(machine_.ocm_bytes);
  constexpr int64_t kParts = 8;
  int64_t n = group.dims[dim], size = ceil_div(n, std::min(kParts, n)), parts = ceil_div(n, size);
  Dims kept = {parts};
  for (size_t d = 0; d < group.dims.size(); ++d) kept.push_back(whole[d] ? 1 : group.dims[d]);
  View partial = scratch(kept, identity_perm(kept.size()), isa::DataType::F32);
  for (int64_t i = 0; i < parts; ++i) {
    PeGroup part = group;
    part.dims[dim] = std::min(size, n - i * size);
    PeStage& s = part.stages[0];
    s.alpha = 1;
    s.beta = 0;
    s.epilogue = {};
    s.a.view.offset += i * size * s.a.view.strides[dim];
    s.dst.view = slice(partial, 0, i, 1, 1);
    s.dst.view.dims.erase(s.dst.view.dims.begin());
    s.dst.view.strides.erase(s.dst.view.strides.begin());
    s.dst.view = broadcast(s.dst.view, part.dims);
    s.a.view.dims = part.dims;
    MRVLC_TRY(add(std::move(part)));
  }
  PeGroup rest{group.owner, kept, {}, {stage}};
  PeStage& s = rest.stages[0];
  if (s.reduce_op == isa::ReduceOp::SumOfSquares) s.reduce_op = isa::ReduceOp::Sum;
  s.a.view = partial;
  s.dst.view = unsqueezed(stage.dst.view, 0);
  s.dst.view.dims = kept;
  return add(std::move(rest));
}

}  // namespace mrvlc::accel

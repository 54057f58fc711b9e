// Epilogues folded into weights and bias; where the operation then writes.
#include "lower/conv_lowering.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mrvlc/accel/epilogue.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel {
namespace {

// What the matrix unit applies after the constants: one residual, one activation.
bool fold(Lowering& l, const ir::Node& node, const Dims& out, bool allow_residual, FoldedEpilogue& f) {
  if (std::optional<EpilogueSpec> e = activation_of(l, node, f.value)) {
    f.activation = *e;
    return true;
  }
  if (node.inputs.size() != 2) return false;
  ir::ValueId other = node.inputs[node.inputs[0] == f.value ? 1 : 0];
  bool residual = node.is(Op::Add) && allow_residual && !f.residual.valid() && other != f.value &&
                  !l.is_wide(other) && !l.graph().is_constant(other) && l.shape(other) == out &&
                  !isa::is_integer(l.read(other).type);  // it reads fp16
  if (residual) f.residual = other;
  return residual;
}

}  // namespace

void take_power(Lowering& l, int32_t power, FoldedEpilogue& f) {
  f.of_weights = f.scale;
  if (power == 0) return;
  const ir::Node& anchor = l.graph().node(l.layer().anchor);
  std::optional<ScaledWeights> weights = accel::constant_weights(l.graph(), anchor);
  if (weights) {
    f.of_weights.resize(static_cast<size_t>(weights->layout.groups * weights->layout.channels), 1.0f);
    for (float& scale : f.of_weights) scale *= std::ldexp(1.0f, power);
    weights->factors = f.of_weights;
    if (fits_format(*weights)) return;
  }
  f.of_weights = f.scale;
  f.after = power;
}

FoldedEpilogue fold_epilogue(Lowering& l, bool allow_residual, int32_t power) {
  const std::vector<ir::NodeId>& nodes = l.layer().nodes;
  accel::FoldedConstants constants = accel::fold_constants(l.graph(), l.layer());
  auto at = static_cast<size_t>(std::ranges::find(nodes, l.layer().anchor) - nodes.begin());
  FoldedEpilogue f;
  f.scale = std::move(constants.scale);
  f.shift = std::move(constants.shift);
  f.taken = at + 1 + constants.nodes;
  f.value = l.graph().node(nodes[f.taken - 1]).outputs[0];
  take_power(l, power, f);
  if (f.after != 0) return f;
  const Dims& out = l.shape(f.value);
  while (f.taken < nodes.size() && f.activation.activation == isa::Activation::None) {
    const ir::Node& node = l.graph().node(nodes[f.taken]);
    // Whoever wants fp32 without being asked wants it of the vector unit.
    bool wide = l.is_wide(node.outputs[0]) && !l.is_asked(node.outputs[0]);
    if (l.shape(node.outputs[0]) != out || wide) break;
    if (!fold(l, node, out, allow_residual, f)) break;
    f.value = node.outputs[0];
    ++f.taken;
  }
  return f;
}

View writable(Lowering& l, ir::ValueId value, size_t channel) {
  View v = l.result(value);
  if (v.dims[channel] == 1 || v.strides[channel] == 1) return v;
  std::vector<int64_t> perm = identity_perm(v.dims.size());
  perm.erase(perm.begin() + static_cast<std::ptrdiff_t>(channel));
  perm.push_back(static_cast<int64_t>(channel));
  return l.scratch(v.dims, perm, v.type);
}

void settle(Lowering& l, ir::ValueId value, const View& written, ir::NodeId expr) {
  View v = l.result(value);
  if (v != written) l.copy(written, v, expr);
}

View sums_of(Lowering& l, ir::ValueId value, size_t channel) {
  const Dims& dims = l.shape(value);
  std::vector<int64_t> perm = identity_perm(dims.size());
  perm.erase(perm.begin() + static_cast<std::ptrdiff_t>(channel));
  perm.push_back(static_cast<int64_t>(channel));
  return l.scratch(dims, perm, isa::DataType::F32);
}

Status settle_sums(Lowering& l, const FoldedEpilogue& f, const View& sums, const std::vector<float>& bias,
                   size_t channel, ir::NodeId expr) {
  PeBuilder b(l, sums.dims, expr);
  PeOperand y = b.temp();
  b.apply(isa::EwOp::Affine, y, b.view(sums), {}, std::ldexp(1.0f, f.after));
  if (std::ranges::any_of(bias, [](float v) { return v != 0; })) {
    Dims along(sums.dims.size(), 1);
    along[channel] = static_cast<int64_t>(bias.size());
    PeOperand sum = b.temp();
    b.apply(isa::EwOp::Add, sum, y, b.view(l.constant(bias, along, isa::DataType::F32)));
    y = sum;
  }
  return b.finish(y, l.result(f.value));
}

std::vector<ProductTerm> product_terms(const partition::Precision& x, const partition::Precision& w) {
  std::vector<ProductTerm> terms = {{false, false}};
  if (x.kind == partition::Precision::Kind::Pair) terms.push_back({true, false});
  if (w.kind == partition::Precision::Kind::Pair) terms.push_back({false, true});
  return terms;
}

View left_operand(Lowering& l, const View& x, size_t dim, int64_t groups,
                  const std::vector<ProductTerm>& terms, int32_t shift, ir::NodeId expr) {
  if (terms.size() == 1 && x.type == isa::DataType::F16) return l.with_inner(x, dim, expr);
  std::vector<bool> low;
  for (const ProductTerm& t : terms) low.push_back(t.x_low);
  return l.halves({x, dim, groups, low, shift}, expr);
}

WindowOp::Image image_of(const View& view, const std::vector<size_t>& batch_dims, int h_dim, int w_dim) {
  WindowOp::Image image;
  image.buffer = view.buffer;
  image.type = view.type;
  image.quantization = view.quantization;
  if (h_dim >= 0) image.stride_h = view.strides[static_cast<size_t>(h_dim)];
  if (w_dim >= 0) image.stride_w = view.strides[static_cast<size_t>(w_dim)];
  image.offsets = {view.offset};
  for (size_t d : batch_dims) {
    std::vector<int64_t> more;
    for (int64_t base : image.offsets)
      for (int64_t i = 0; i < view.dims[d]; ++i) more.push_back(base + i * view.strides[d]);
    image.offsets = std::move(more);
  }
  return image;
}

WindowOp::Image image_of(const View& v) {
  const bool plane = v.dims.size() == 4;
  return image_of(v, {0}, plane ? 2 : -1, plane ? 3 : 2);
}

void set_window(WindowOp& op, const ops::WindowParams& p) {
  const size_t w = p.input.size() - 1;
  op.in_w = p.input[w];
  op.out_w = p.output[w];
  op.stride_w = p.strides[w];
  op.dilation_w = p.dilations[w];
  WindowPhase phase;
  phase.x0 = -p.pads_begin[w];
  phase.kernel_w = p.kernel[w];
  if (w == 1) {
    op.in_h = p.input[0];
    op.out_h = p.output[0];
    op.stride_h = p.strides[0];
    op.dilation_h = p.dilations[0];
    phase.y0 = -p.pads_begin[0];
    phase.kernel_h = p.kernel[0];
  }
  op.phases = {phase};
}

namespace {

bool join_columns(WindowOp::Image& image, int64_t w) {
  if (w == 1) {
    return true;
  }
  return image.stride_h == w * image.stride_w;
}

bool uniform_batch(const WindowOp::Image& image, int64_t pixels) {
  for (size_t b = 1; b < image.offsets.size(); ++b)
    if (image.offsets[b] != image.offsets[0] + static_cast<int64_t>(b) * pixels * image.stride_h)
      return false;
  return true;
}

}  // namespace

void flatten_pixels(WindowOp& op) {
  if (op.phases.size() != 1 || op.kind == WindowOp::Kind::Pool) return;
  const WindowPhase& ph = op.phases[0];
  bool pointwise = ph.kernel_h == 1 && ph.kernel_w == 1 && op.stride_h == 1 && op.stride_w == 1 &&
                   ph.y0 == 0 && ph.x0 == 0 && op.in_h == op.out_h && op.in_w == op.out_w;
  if (!pointwise) return;
  std::vector<WindowOp::Image*> images = {&op.x, &op.out};
  if (op.has_residual) images.push_back(&op.residual);
  if (op.out_w > 1) {
    for (WindowOp::Image* i : images)
      if (op.out_h > 1 && !join_columns(*i, op.out_w)) return;
    for (WindowOp::Image* i : images) i->stride_h = i->stride_w;
    op.grain = op.out_w;
    op.in_h = op.out_h = op.out_h * op.out_w;
    op.in_w = op.out_w = 1;
  }
  if (op.batch() == 1 || op.dynamic_weights) return;
  if (!std::ranges::all_of(images, [&](auto* i) { return uniform_batch(*i, op.out_h); })) return;
  op.in_h = op.out_h = op.out_h * op.batch();
  for (WindowOp::Image* i : images) i->offsets.resize(1);
}

int64_t pack_bias(Lowering& l, const std::vector<float>& bias) {
  if (std::ranges::all_of(bias, [](float b) { return b == 0; })) return -1;
  return l.append_weights({reinterpret_cast<const char*>(bias.data()), bias.size() * 4});
}

}  // namespace mrvlc::accel

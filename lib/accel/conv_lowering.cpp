#include "conv_lowering.h"

#include <algorithm>
#include <cstring>

namespace mrvlc::accel {
namespace {

// Values per channel of a constant that varies along `channel` only; nullopt otherwise.
std::optional<std::vector<float>> per_channel(const Lowering& l, ir::ValueId v, size_t channel,
                                              const Dims& out) {
  const Tensor* t = v.valid() ? l.graph().constant(v) : nullptr;
  if (t == nullptr || t->shape().size() > out.size()) return std::nullopt;
  size_t shift = out.size() - t->shape().size();
  for (size_t d = 0; d < t->shape().size(); ++d)
    if (t->shape()[d] != 1 && d + shift != channel) return std::nullopt;
  std::vector<float> values(static_cast<size_t>(out[channel]));
  for (size_t c = 0; c < values.size(); ++c)
    values[c] = static_cast<float>(t->as_double(t->elements() == 1 ? 0 : static_cast<int64_t>(c)));
  return values;
}

class Folder {
 public:
  Folder(Lowering& l, size_t channel, bool constant_weights, bool allow_residual)
      : l_(l), channel_(channel), constant_weights_(constant_weights), allow_residual_(allow_residual) {}

  FoldedEpilogue run() {
    const std::vector<ir::NodeId>& nodes = l_.layer().nodes;
    auto at = static_cast<size_t>(std::ranges::find(nodes, l_.layer().anchor) - nodes.begin());
    f_.value = l_.graph().node(nodes[at]).outputs[0];
    f_.taken = at + 1;
    out_ = l_.shape(f_.value);
    for (; f_.taken < nodes.size(); ++f_.taken) {
      const ir::Node& node = l_.graph().node(nodes[f_.taken]);
      if (l_.shape(node.outputs[0]) != out_ || !fold(node)) break;
      f_.value = node.outputs[0];
      if (f_.activation.activation != isa::Activation::None) {
        ++f_.taken;
        break;
      }
    }
    return f_;
  }

 private:
  bool fold(const ir::Node& node) {
    if (std::optional<EpilogueSpec> e = activation_of(l_, node, f_.value)) {
      f_.activation = *e;
      return true;
    }
    if (node.inputs.size() != 2) return false;
    bool first = node.inputs[0] == f_.value;
    ir::ValueId other = node.inputs[first ? 1 : 0];
    std::optional<std::vector<float>> c = per_channel(l_, other, channel_, out_);
    if (!f_.residual.valid() && c) return fold_constant(node, first, *c);
    bool residual = node.is("Add") && allow_residual_ && !f_.residual.valid() && other != f_.value &&
                    !l_.graph().is_constant(other) && l_.shape(other) == out_;
    if (residual) f_.residual = other;
    return residual;
  }

  // v = scale * acc + shift stays of that form.
  bool fold_constant(const ir::Node& node, bool first, const std::vector<float>& c) {
    float sign = 1;
    bool adds = node.is("Add") || (node.is("Sub") && first);
    bool multiplies = constant_weights_ && (node.is("Mul") || (node.is("Div") && first));
    if (!adds && !multiplies) return false;
    if (node.is("Sub")) sign = -1;
    if (f_.scale.empty()) {
      f_.scale.assign(c.size(), 1.0f);
      f_.shift.assign(c.size(), 0.0f);
    }
    for (size_t i = 0; i < c.size(); ++i) {
      float factor = node.is("Div") ? 1 / c[i] : c[i];
      if (adds) {
        f_.shift[i] += sign * c[i];
      } else {
        f_.scale[i] *= factor;
        f_.shift[i] *= factor;
      }
    }
    return true;
  }

  Lowering& l_;
  size_t channel_;
  bool constant_weights_, allow_residual_;
  Dims out_;
  FoldedEpilogue f_;
};

}  // namespace

FoldedEpilogue fold_epilogue(Lowering& l, size_t channel, bool constant_weights, bool allow_residual) {
  return Folder(l, channel, constant_weights, allow_residual).run();
}

View writable(Lowering& l, ir::ValueId value, size_t channel) {
  View v = l.result(value);
  if (v.dims[channel] == 1 || v.strides[channel] == 1) return v;
  std::vector<int64_t> perm = identity_perm(v.dims.size());
  perm.erase(perm.begin() + static_cast<std::ptrdiff_t>(channel));
  perm.push_back(static_cast<int64_t>(channel));
  return l.scratch(v.dims, perm);
}

void settle(Lowering& l, ir::ValueId value, const View& written, ir::NodeId expr) {
  View v = l.result(value);
  if (v != written) l.copy(written, v, expr);
}

WindowOp::Image image_of(const View& view, const std::vector<size_t>& batch_dims, int h_dim, int w_dim) {
  WindowOp::Image image;
  image.buffer = view.buffer;
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

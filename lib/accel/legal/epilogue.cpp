// Additions of constants and products with them behind an anchor, folded into its weights and bias.
#include "mrvlc/accel/epilogue.h"

#include <algorithm>
#include <cmath>

#include "legal/kinds.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/weights.h"

namespace mrvlc::accel {
namespace {

// Values per channel of a constant that varies along `channel` only; nullopt otherwise.
std::optional<std::vector<float>> per_channel(const Tensor* t, size_t channel, const Shape& out) {
  if (t == nullptr || t->shape().size() > out.size()) return std::nullopt;
  size_t shift = out.size() - t->shape().size();
  for (size_t d = 0; d < t->shape().size(); ++d)
    if (t->shape()[d] != 1 && d + shift != channel) return std::nullopt;
  std::vector<float> values(static_cast<size_t>(out[channel]));
  for (size_t c = 0; c < values.size(); ++c)
    values[c] = static_cast<float>(t->as_double(t->elements() == 1 ? 0 : static_cast<int64_t>(c)));
  return values;
}

// A bias of Gemm that is a matrix is a step of its own, and the whole epilogue follows that.
bool has_bias_matrix(const ir::Graph& graph, const ir::Node& anchor) {
  if (!anchor.is(Op::Gemm) || anchor.inputs.size() < 3 || !anchor.inputs[2].valid()) return false;
  const Shape& c = graph.value(anchor.inputs[2]).type.shape;
  return c.size() >= 2 && c[0] != 1;
}

class Folder {
 public:
  Folder(const ir::Graph& graph, const Layer& layer)
      : graph_(graph),
        layer_(layer),
        anchor_(graph.node(layer.anchor)),
        out_(graph.value(anchor_.outputs[0]).type.shape),
        weights_(constant_weights(graph, anchor_)) {}

  FoldedConstants run() {
    if (out_.empty() || has_bias_matrix(graph_, anchor_)) return taken_;
    bool image = layer_.kind == LayerKind::Conv || layer_.kind == LayerKind::ConvTranspose;
    size_t channel = image ? 1 : out_.size() - 1;
    if (channel >= out_.size()) return taken_;
    FoldedConstants now = taken_;
    ir::ValueId value = anchor_.outputs[0];
    auto at = static_cast<size_t>(std::ranges::find(layer_.nodes, layer_.anchor) - layer_.nodes.begin());
    for (size_t i = at + 1; i < layer_.nodes.size(); ++i) {
      const ir::Node& node = graph_.node(layer_.nodes[i]);
      if (graph_.value(node.outputs[0]).type.shape != out_ || node.inputs.size() != 2) break;
      bool first = node.inputs[0] == value;
      if (!step(now, node, first, per_channel(graph_.constant(node.inputs[first ? 1 : 0]), channel, out_)))
        break;
      value = node.outputs[0];
      if (fits_) taken_ = now;
    }
    return taken_;
  }

 private:
  // v = scale * acc + shift stays of that form.
  bool step(FoldedConstants& f, const ir::Node& node, bool first,
            const std::optional<std::vector<float>>& c) {
    bool adds = node.is(Op::Add) || (node.is(Op::Sub) && first);
    bool scales = weights_ && (node.is(Op::Mul) || (node.is(Op::Div) && first));
    if (!c || (!adds && !scales)) return false;
    float sign = node.is(Op::Sub) ? -1.0f : 1.0f;
    f.scale.resize(c->size(), 1.0f);
    f.shift.resize(c->size(), 0.0f);
    for (size_t i = 0; i < c->size(); ++i) {
      float value = (*c)[i], factor = node.is(Op::Div) ? 1 / value : value;
      if (scales) f.scale[i] *= factor;
      f.shift[i] = scales ? f.shift[i] * factor : f.shift[i] + sign * value;
    }
    ++f.nodes;
    if (scales) fits_ = fits_format({weights_->weights, weights_->layout, weights_->alpha, f.scale});
    return true;
  }

  const ir::Graph& graph_;
  const Layer& layer_;
  const ir::Node& anchor_;
  const Shape& out_;
  std::optional<ScaledWeights> weights_;
  FoldedConstants taken_;
  bool fits_ = true;  // weights with the factors so far; legality looks at what is taken in the end
};

}  // namespace

std::optional<ScaledWeights> constant_weights(const ir::Graph& graph, const ir::Node& anchor) {
  const Tensor* w =
      anchor.inputs.size() > 1 && anchor.inputs[1].valid() ? graph.constant(anchor.inputs[1]) : nullptr;
  if (w == nullptr) return std::nullopt;
  auto layout = ops::weight_layout(anchor, w->shape());
  if (!layout) return std::nullopt;
  return ScaledWeights{*w, *layout, anchor.is(Op::Gemm) ? ops::attr::alpha(anchor) : 1.0f, {}};
}

FoldedConstants fold_constants(const ir::Graph& graph, const Layer& layer) {
  return Folder(graph, layer).run();
}

}  // namespace mrvlc::accel

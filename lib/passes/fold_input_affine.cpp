// fold-input-affine
//   before  %1 = Mul(%x, 0.0078125)   %2 = Add(%1, -1)   %3 = Transpose(%2)   %4 = Conv(%3, %w) {pads = [1,
//   1, 1, 1]} after   %3 = Transpose(%x)   %5 = Pad(%3, 128)   %4 = Conv(%5, %w2, %b2) {pads = [0, 0, 0, 0]}
// Preconditions: the arithmetic is with constants, uniform or (nearer to the Conv than any Transpose) one
// number a channel, each step is read by the next alone, weights and bias are constant. Where the Conv pads,
// the padding value that becomes 0 under the map must be the same for all channels. Safe because convolution
// is linear: conv(s*x + t) = conv_{s*w}(x) + sum(w)*t, and a border that is 0 after the map is -t/s before
// it. Worth it where values are rounded to fp16: an image scaled to [-1, 1] keeps 11 bits of its distance
// from 0, not of its contrast; unscaled it keeps its own 8. Not where the weights would leave fp16, where the
// scale says that unscaled values may be beyond it (below 2^-12), or where the result is rounded to integers
// next.
#include <algorithm>
#include <cmath>

#include "affine.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "passes.h"

namespace mrvlc::passes {
namespace {

struct InputMap {
  std::vector<double> scale, shift;  // one entry an input channel of the convolution
  std::vector<NodeId> arithmetic;    // nearest to the convolution first
  std::vector<NodeId> transposes;
  std::vector<NodeId> chain;  // both, nearest first
  ValueId root;
};

// Mul, Add, Sub or Div by one number wherever the channels are.
std::optional<ChannelAffine> uniform_affine(const Graph& g, const Node& n, ValueId& data, size_t channels) {
  bool commutes = n.is(Op::Mul, Op::Add);
  if ((!commutes && !n.is(Op::Sub, Op::Div)) || n.inputs.size() != 2) return std::nullopt;
  size_t c = g.is_constant(n.inputs[1]) ? 1 : 0;
  auto v = uniform_constant(g, n.inputs[c]);
  data = n.inputs[1 - c];
  if (!v || (c == 0 && !commutes) || !(type_of(g, data) == type_of(g, n.outputs[0]))) return std::nullopt;
  double scale = n.is(Op::Mul)   ? *v
                 : n.is(Op::Div) ? 1 / *v
                                 : 1,
         shift = n.is(Op::Add)   ? *v
                 : n.is(Op::Sub) ? -*v
                                 : 0;
  return ChannelAffine{std::vector<double>(channels, scale), std::vector<double>(channels, shift)};
}

// y = scale * (a.scale * x + a.shift) + shift
void compose(InputMap& map, const ChannelAffine& a) {
  for (size_t c = 0; c < map.scale.size(); ++c) {
    map.shift[c] += map.scale[c] * a.shift[c];
    map.scale[c] *= a.scale[c];
  }
}

InputMap walk_back(const Graph& g, ValueId from, size_t channels) {
  InputMap map{std::vector<double>(channels, 1.0), std::vector<double>(channels, 0.0), {}, {}, {}, from};
  while (const Node* n = producer(g, map.root)) {
    if (!single_use(g, map.root)) break;
    ValueId data;
    if (n->is(Op::Transpose)) {
      map.transposes.push_back(n->id);
      map.chain.push_back(n->id);
      map.root = n->inputs[0];
      continue;
    }
    auto a = uniform_affine(g, *n, data, channels);
    if (!a && map.transposes.empty()) a = arithmetic_affine(g, *n, data);
    if (!a || a->scale.size() != channels) break;
    compose(map, *a);
    map.arithmetic.push_back(n->id);
    map.chain.push_back(n->id);
    map.root = data;
  }
  return map;
}

// The padding value that the map turns into 0; nullopt when channels disagree.
std::optional<double> border(const InputMap& map) {
  double v = -map.shift[0] / map.scale[0];
  for (size_t c = 0; c < map.scale.size(); ++c) {
    if (-map.shift[c] / map.scale[c] != v) return std::nullopt;
  }
  return v;
}

// Values that are made so much smaller may be beyond fp16 before, and a border must not be.
bool fits_half(const InputMap& map, std::optional<double> value) {
  constexpr double kSmallest = 0x1p-12, kLargest = 65504;
  bool moderate =
      std::all_of(map.scale.begin(), map.scale.end(), [](double s) { return std::fabs(s) > kSmallest; });
  return moderate && (!value || std::fabs(*value) <= kLargest);
}

struct Folded {
  Tensor weights, bias;
};

std::optional<Folded> fold_weights(const Graph& g, const Node& conv, const InputMap& map) {
  const Tensor& w = *g.constant(conv.inputs[1]);
  int64_t outputs = w.shape()[0], per_group = w.shape()[1], group = ops::attr::group(conv);
  if (group <= 0 || per_group == 0 || outputs == 0) return std::nullopt;
  int64_t taps = w.elements() / outputs / per_group;
  Folded f{Tensor(w.type()), Tensor(TensorType{w.elem(), {outputs}})};
  const Tensor* bias = conv.inputs.size() > 2 ? g.constant(conv.inputs[2]) : nullptr;
  for (int64_t o = 0; o < outputs; ++o) {
    double sum = bias != nullptr ? bias->as_double(o) : 0;
    for (int64_t i = 0; i < per_group * taps; ++i) {
      auto c = static_cast<size_t>(o / (outputs / group) * per_group + i / taps);
      int64_t at = o * per_group * taps + i;
      double value = w.as_double(at);
      f.weights.set_double(at, value * map.scale[c]);
      if (std::isfinite(value) && !std::isfinite(f.weights.as_double(at))) return std::nullopt;
      sum += value * map.shift[c];
    }
    f.bias.set_double(o, sum);
    if (!std::isfinite(f.bias.as_double(o))) return std::nullopt;
  }
  if (leaves_half(w, f.weights)) return std::nullopt;
  return f;
}

ValueId padded(Rewriter& rw, ValueId x, const std::vector<int64_t>& pads, double value, NodeId conv) {
  TensorType type = type_of(rw.graph(), x);
  size_t spatial = pads.size() / 2;
  std::vector<int64_t> all(2 * (spatial + 2), 0);
  for (size_t d = 0; d < spatial; ++d) {
    all[2 + d] = pads[d];
    all[spatial + 4 + d] = pads[spatial + d];
    type.shape[2 + d] += pads[d] + pads[spatial + d];
  }
  NodeId from[] = {conv};
  ValueId amounts = rw.constant(ints_tensor(all), from);
  ValueId fill = rw.constant(scalar_tensor(type.elem, value), from);
  return make(rw, Op::Pad, {x, amounts, fill}, type, {conv}, {{"mode", Attr(std::string("constant"))}});
}

bool applicable(const Graph& g, const Node& n) {
  if (!n.is(Op::Conv) || n.inputs.size() < 2 || g.use_count(n.outputs[0]) == 0) return false;
  if (ops::attr::pads_by_itself(n) || !g.is_constant(n.inputs[1])) return false;
  if (n.inputs.size() > 2 && n.inputs[2].valid() && !g.is_constant(n.inputs[2])) return false;
  return is_float(type_of(g, n.inputs[1]).elem) && type_of(g, n.inputs[0]).rank() >= 3;
}

bool fold_affine(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  if (!applicable(g, g.node(id))) return false;
  InputMap map =
      walk_back(g, g.node(id).inputs[0], static_cast<size_t>(type_of(g, g.node(id).inputs[0]).shape[1]));
  if (map.arithmetic.empty() || map.scale.empty()) return false;
  bool finite =
      std::all_of(map.scale.begin(), map.scale.end(), [](double s) { return std::isfinite(s) && s != 0; });
  std::vector<int64_t> pads = ops::attr::pads(g.node(id));
  bool pads_any = std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; });
  auto value = finite ? border(map) : std::nullopt;
  if (!finite || (pads_any && !value) || !fits_half(map, pads_any ? value : std::nullopt)) return false;
  if (is_rounded_next(g, g.node(id).outputs[0])) return false;
  auto folded = fold_weights(g, g.node(id), map);
  if (!folded) return false;

  ValueId x = map.root;
  for (auto t = map.transposes.rbegin(); t != map.transposes.rend(); ++t) {
    std::vector<Attr> attrs = g.node(*t).attrs;
    TensorType type = type_of(g, g.node(*t).outputs[0]);
    NodeId from[] = {*t};
    x = rw.output(rw.create(*g.node(*t).op, {x}, std::move(attrs), {type}, from));
  }
  std::vector<Attr> attrs = g.node(id).attrs;
  if (pads_any && *value != 0) {
    x = padded(rw, x, pads, *value, id);
    ir::set_attr(*g.node(id).op, attrs, "pads", Attr(std::vector<int64_t>(pads.size(), 0)));
  }
  std::vector<NodeId> from = map.arithmetic;
  from.push_back(id);
  ValueId w = rw.constant(std::move(folded->weights), from), b = rw.constant(std::move(folded->bias), from);
  TensorType type = type_of(g, g.node(id).outputs[0]);
  NodeId now = rw.create(*g.node(id).op, {x, w, b}, std::move(attrs), {type}, from);
  bypass(rw, id, rw.output(now), ir::folded("folded together with the arithmetic on its input"));
  for (NodeId n : map.chain)
    erase_if_unused(rw, n, ir::folded("folded into the weights of the convolution after it"));
  return true;
}

}  // namespace

Status fold_input_affine(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "fold-input-affine", is_any<Op::Conv>, fold_affine);
  return {};
}

}  // namespace mrvlc::passes

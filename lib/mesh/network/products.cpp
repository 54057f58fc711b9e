// Convolutions of integers, pools and Softmax.
#include <algorithm>
#include <limits>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/params.h"
#include "network/builder.h"

namespace mrvlc::mesh {
namespace {

// All elements are the same; nullopt: they are not, or it is no constant.
std::optional<int32_t> only_number(const ir::Graph& g, const ir::Node& n, size_t input) {
  if (input >= n.inputs.size() || !n.inputs[input].valid()) return 0;
  const Tensor* t = g.constant(n.inputs[input]);
  if (t == nullptr || t->elements() < 1) return std::nullopt;
  const std::vector<int64_t> all = t->to_ints();
  if (std::ranges::any_of(all, [&](int64_t v) { return v != all[0]; })) return std::nullopt;
  return static_cast<int32_t>(all[0]);
}

// Along rows and along x: one spatial dimension is along rows.
void set_windows(const ops::WindowParams& p, Layer& layer) {
  layer.planned.window = {p.kernel[0], p.strides[0], p.dilations[0], p.pads_begin[0], 1};
  if (p.kernel.size() > 1) layer.columns = {p.kernel[1], p.strides[1], p.dilations[1], p.pads_begin[1]};
}

bool is_pointwise(const ops::WindowParams& p) {
  return p.kernel[0] == 1 && p.strides[0] == 1 && p.pads_begin[0] == 0 && p.pads_end[0] == 0;
}

// From ONNX's order [result][channel][row][column] to [result][row][column][channel].
void set_weights(const Tensor& w, const ops::ConvParams& p, int32_t zero, ConvData& conv) {
  const bool is_unsigned = w.elem() == ElementType::U8;
  const int32_t shift = is_unsigned ? 128 : 0;
  const int64_t channels = p.in_channels / p.group;
  int64_t taps = 1;
  for (const int64_t k : p.kernel) taps *= k;
  conv.group_channels = channels;
  conv.weight_zero = zero - shift;
  conv.weights.resize(static_cast<size_t>(p.out_channels * taps * channels));
  size_t to = 0;
  for (int64_t o = 0; o < p.out_channels; ++o)
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t c = 0; c < channels; ++c)
        conv.weights[to++] = static_cast<int8_t>(w.as_int((o * channels + c) * taps + t) - shift);
}

// Element k of an operand that has one, or one for each channel.
float scale_at(const Tensor& t, int64_t k) {
  return static_cast<float>(t.as_double(t.elements() == 1 ? 0 : k));
}

// As QLinearConv's definition multiplies them.
Status set_factors(const ir::Graph& g, const ir::Node& n, int64_t channels, ConvData& conv) {
  using In = ops::QlinearInput;
  const Tensor* a = g.constant(n.inputs[In::kScaleA]);
  const Tensor* b = g.constant(n.inputs[In::kScaleB]);
  const Tensor* y = g.constant(n.inputs[In::kScaleY]);
  if (a == nullptr || b == nullptr || y == nullptr || a->elements() != 1 || y->elements() != 1)
    return refused(n, "its scales are no constants");
  for (int64_t o = 0; o < channels; ++o)
    conv.factors.push_back(scale_at(*a, 0) * scale_at(*b, o) / scale_at(*y, 0));
  return {};
}

Status set_bias(const ir::Graph& g, const ir::Node& n, int64_t channels, ConvData& conv) {
  conv.bias.assign(static_cast<size_t>(channels), 0);
  const size_t at = ops::QlinearInput::kBias;
  if (!n.is(Op::QLinearConv) || at >= n.inputs.size() || !n.inputs[at].valid()) return {};
  const Tensor* bias = g.constant(n.inputs[at]);
  if (bias == nullptr) return refused(n, "its bias is no constant");
  for (size_t o = 0; o < conv.bias.size(); ++o)
    conv.bias[o] = static_cast<int32_t>(bias->as_int(static_cast<int64_t>(o)));
  return {};
}

// Bounds of a Clip of integers behind.
bool bounded_by(const ir::Graph& g, const ir::Node& clip, Rounding& r) {
  Rounding bounded = r;
  const auto bound = [&](size_t input, int32_t otherwise) -> std::optional<int32_t> {
    if (input >= clip.inputs.size() || !clip.inputs[input].valid()) return otherwise;
    const Tensor* t = g.constant(clip.inputs[input]);
    return t == nullptr ? std::nullopt : std::optional(static_cast<int32_t>(t->as_int(0)));
  };
  const auto low = bound(1, r.low), high = bound(2, r.high);
  if (!low || !high) return false;
  bounded.low = std::max(bounded.low, *low), bounded.high = std::min(bounded.high, *high);
  if (bounded.low > bounded.high) return false;
  r = bounded;
  return true;
}

}  // namespace

Status NetworkBuilder::add_conv(const ir::Node& n) {
  MRVLC_ASSIGN(const ops::IntegerConvParams p, ops::integer_conv_params(g_, n));
  const Tensor* w = g_.constant(n.inputs[p.weights]);
  const auto zero_x = only_number(g_, n, p.zero_x), zero_w = only_number(g_, n, p.zero_weights);
  if (w == nullptr || !zero_x || !zero_w)
    return refused(n, "its weights are no constant, or they have several zero points");
  if (p.kernel.empty() || p.kernel.size() > 2) return refused(n, "it has more than two spatial dimensions");
  if (p.batch != 1 && !is_pointwise(p)) return refused(n, "it has several images");
  MRVLC_ASSIGN(Stored x, stored(n, n.inputs[p.x]));
  x = in_order(n, x, channels_last(x.shape.size()));
  const ir::Value& result = g_.value(n.outputs[0]);
  const Stored y = new_stored(n, result.id, *elem_of(result.type.elem), result.type.shape,
                              channels_last(result.type.shape.size()));
  Layer layer = new_layer(n, Kind::Conv, {x}, y);
  set_windows(p, layer);
  layer.planned.window.group = p.group;
  layer.conv.input_zero = *zero_x;
  set_weights(*w, p, *zero_w, layer.conv);
  MRVLC_TRY(set_bias(g_, n, p.out_channels, layer.conv));
  layer.macs = result.type.elements() * (static_cast<int64_t>(layer.conv.weights.size()) / p.out_channels);
  ir::ValueId made = result.id;
  if (n.is(Op::QLinearConv)) {
    MRVLC_TRY(set_factors(g_, n, p.out_channels, layer.conv));
    const auto zero_y = only_number(g_, n, ops::QlinearInput::kZeroY);
    if (!zero_y) return refused(n, "its result has several zero points");
    const bool is_signed = result.type.elem == ElementType::I8;
    layer.rounding = Rounding{1, *zero_y, is_signed ? -128 : 0, is_signed ? 127 : 255};
    const ir::Node* clip = sole_user(n);
    if (clip != nullptr && clip->is(Op::Clip) && bounded_by(g_, *clip, *layer.rounding))
      made = clip->outputs[0];
  }
  out_.layers.push_back(std::move(layer));
  stored_[result.id] = stored_[made] = y;
  return {};
}

Status NetworkBuilder::add_pool(const ir::Node& n) {
  MRVLC_ASSIGN(const ops::PoolParams p, ops::pool_params(ops::infer_context(g_, n)));
  if (p.kernel.empty() || p.kernel.size() > 2) return refused(n, "it has more than two spatial dimensions");
  if (p.batch != 1) return refused(n, "it has several images");
  const auto is_zero = [](int64_t v) { return v == 0; };
  if (p.count_include_pad &&
      !(std::ranges::all_of(p.pads_begin, is_zero) && std::ranges::all_of(p.pads_end, is_zero)))
    return refused(n, "it counts the padding");
  Numbers numbers;
  const bool bytes = is_byte(g_.value(n.inputs[0]).type.elem);
  if (bytes) {
    MRVLC_ASSIGN(Stored x, stored(n, n.inputs[0]));
    numbers = {{x}, {}};
  } else {
    MRVLC_ASSIGN(numbers, numbers_of(n, n.inputs[0]));
    if (numbers.operands.size() != 1 || numbers.steps.size() != 1) {
      MRVLC_ASSIGN(const Stored x, store(n, numbers, std::nullopt, ElementType::F32, n.inputs[0]));
      numbers = {{x}, {Step{}}};
    }
  }
  const Stored x = in_order(n, numbers.operands[0], channels_last(numbers.operands[0].shape.size()));
  const ir::Node* q = bytes ? nullptr : quantize_behind(n);
  const ir::Value& result = g_.value(q != nullptr ? q->outputs[0] : n.outputs[0]);
  const Stored y = new_stored(n, result.id, *elem_of(result.type.elem), result.type.shape,
                              channels_last(result.type.shape.size()));
  Layer layer = new_layer(n, Kind::Pool, {x}, y);
  set_windows(p, layer);
  layer.planned.window.group = p.channels;
  layer.is_max = p.is_max;
  layer.steps = numbers.steps;
  if (q != nullptr) {
    MRVLC_ASSIGN(layer.rounding, rounding_of(*q));
  }
  out_.layers.push_back(std::move(layer));
  stored_[result.id] = y;
  return {};
}

Status NetworkBuilder::add_softmax(const ir::Node& n) {
  MRVLC_ASSIGN(Numbers numbers, numbers_of(n, n.inputs[0]));
  if (numbers.operands.size() != 1 || numbers.steps.size() != 1) {
    MRVLC_ASSIGN(const Stored x, store(n, numbers, std::nullopt, ElementType::F32, n.inputs[0]));
    numbers = {{x}, {Step{}}};
  }
  Stored x = numbers.operands[0];
  const auto rank = static_cast<int64_t>(x.shape.size());
  if (rank == 0) return refused(n, "it is of a single number");
  MRVLC_ASSIGN(const int64_t axis, ops::normalize_axis(ops::attr::axis(n), rank));
  std::vector<size_t> order = x.order;
  std::erase(order, static_cast<size_t>(axis));
  order.push_back(static_cast<size_t>(axis));
  x = in_order(n, x, order);
  const ir::Node* q = quantize_behind(n);
  const ir::Value& result = g_.value(q != nullptr ? q->outputs[0] : n.outputs[0]);
  const Stored y = new_stored(n, result.id, *elem_of(result.type.elem), result.type.shape, order);
  Layer layer = new_layer(n, Kind::Softmax, {x}, y);
  layer.steps = numbers.steps;
  if (q != nullptr) {
    MRVLC_ASSIGN(layer.rounding, rounding_of(*q));
  }
  out_.layers.push_back(std::move(layer));
  stored_[result.id] = y;
  return {};
}

}  // namespace mrvlc::mesh

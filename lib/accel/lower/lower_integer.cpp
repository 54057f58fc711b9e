// Integers of 8 bits: QLinearConv and ConvInteger on the matrix unit, DequantizeLinear as another view of the
// same bytes.
#include <algorithm>
#include <cmath>

#include "lower/conv_lowering.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/ops/quantized.h"
#include "mrvlc/support/checked.h"

namespace mrvlc::accel {
namespace {

using enum ops::QlinearInput::Position;

class IntegerConv {
 public:
  IntegerConv(Lowering& l, const ir::Node& node, ops::IntegerConvParams params)
      : l_(l),
        n_(node),
        p_(std::move(params)),
        ic_group_(p_.in_channels / p_.group),
        oc_group_(p_.out_channels / p_.group),
        depthwise_(ic_group_ == 1 && p_.group > 1) {}

  // Requantised in one go.
  Status qlinear() {
    const View out = writable(l_, l_.last(), 1);
    op_.out = image_of(out);
    // Sums are scaled to steps of the result, which are whole numbers less its zero point.
    op_.out.quantization = {zero(kZeroY), 1.0f};
    bounds();
    std::vector<float> scales;  // fl(fl(sx * sw) / sy), as ONNX defines QLinearConv
    for (int64_t c = 0; c < p_.out_channels; ++c)
      scales.push_back(number(kScaleA, 0) * number(kScaleB, c) / number(kScaleY, 0));
    finish(kBias < n_.inputs.size() && n_.inputs[kBias].valid() ? &constant(kBias) : nullptr, scales);
    settle(l_, l_.last(), out, n_.id);
    return {};
  }

  // Cast and Mul by constants, what follows on the vector unit, in fp32.
  Status scaled() {
    const std::vector<ir::NodeId>& nodes = l_.layer().nodes;
    const ir::Node& mul = l_.graph().node(nodes[2]);
    const bool first = l_.graph().is_constant(mul.inputs[0]);
    const Tensor& factors = *l_.graph().constant(mul.inputs[first ? 0 : 1]);
    const ir::ValueId value = mul.outputs[0];
    const bool more = nodes.size() > 3;
    const View out = more ? sums_of(l_, value, 1) : writable(l_, value, 1);
    op_.out = image_of(out);
    std::vector<float> scales;
    for (int64_t c = 0; c < p_.out_channels; ++c)
      scales.push_back(static_cast<float>(factors.as_double(factors.elements() == 1 ? 0 : c)));
    finish(nullptr, scales);
    if (!more) {
      settle(l_, value, out, n_.id);
      return {};
    }
    l_.bind(value, out, mul.id);
    return lower_chain(l_, value, 3);
  }

 private:
  // `out` is known.
  void finish(const Tensor* bias, const std::vector<float>& scales) {
    geometry();
    op_.x = image_of(l_.with_inner(l_.read(n_.inputs[p_.x]), 1, n_.id));
    constants(bias, scales);
    op_.phases[0].weights = depthwise_ ? pack_depthwise() : pack_blocks();
    flatten_pixels(op_);
    l_.add(std::move(op_));
  }

  // A Clip behind, in steps less the zero point, as sums are: whole numbers are where rounding leaves them.
  void bounds() {
    if (l_.layer().nodes.size() < 2) return;
    const ir::Node& clip = l_.graph().node(l_.layer().nodes[1]);
    auto bound = [&](size_t i, float otherwise) {
      if (i >= clip.inputs.size() || !clip.inputs[i].valid()) return otherwise;
      return static_cast<float>(l_.graph().constant(clip.inputs[i])->as_int(0) - zero(kZeroY));
    };
    constexpr float kFar = 512;  // beyond what 8 bits hold
    op_.epilogue = {isa::Activation::Clip, bound(1, -kFar), bound(2, kFar), -1};
  }

  const Tensor& constant(size_t i) const { return *l_.graph().constant(n_.inputs[i]); }
  int16_t zero(size_t i) const {
    const bool given = i < n_.inputs.size() && n_.inputs[i].valid();
    return static_cast<int16_t>(given ? constant(i).as_int(0) : 0);
  }
  // Element k of a constant that has one value, or one for each output channel.
  float number(size_t i, int64_t k) const {
    const Tensor& t = constant(i);
    return static_cast<float>(t.as_double(t.elements() == 1 ? 0 : k));
  }

  void geometry() {
    op_.kind = depthwise_ ? WindowOp::Kind::Depthwise : WindowOp::Kind::Conv;
    op_.owner = l_.owner(n_.id);
    set_window(op_, p_);
    op_.groups = p_.group;
    op_.group_in = ic_group_;
    op_.group_out = oc_group_;
  }

  // Of the operation's channel i: those of a depthwise one are ordered by multiplier.
  int64_t channel(int64_t i) const { return depthwise_ ? i % p_.group * oc_group_ + i / p_.group : i; }

  // By channel of the weights.
  void constants(const Tensor* given, const std::vector<float>& factors) {
    std::vector<int32_t> bias;
    std::vector<float> scales;
    for (int64_t i = 0; i < p_.out_channels; ++i) {
      const int64_t c = channel(i);
      bias.push_back(given != nullptr ? static_cast<int32_t>(given->as_int(c)) : 0);
      scales.push_back(factors[static_cast<size_t>(c)]);
    }
    op_.bias = l_.append_weights({reinterpret_cast<const char*>(bias.data()), bias.size() * 4});
    const bool is_unsigned = constant(p_.weights).elem() == ElementType::U8;
    op_.integers = {is_unsigned ? isa::DataType::U8 : isa::DataType::I8, zero(p_.zero_x),
                    zero(p_.zero_weights),
                    l_.append_weights({reinterpret_cast<const char*>(scales.data()), scales.size() * 4})};
  }

  int64_t taps() const { return op_.phases[0].kernel_h * op_.phases[0].kernel_w; }
  void put(int64_t at, int64_t channel, int64_t in, int64_t tap) {
    *l_.weights_at(at) =
        static_cast<char>(constant(p_.weights).as_int((channel * ic_group_ + in) * taps() + tap));
  }

  int64_t pack_depthwise() {
    const int64_t at = l_.reserve_weights(oc_group_ * taps() * p_.group);
    int64_t to = at;
    for (int64_t j = 0; j < oc_group_; ++j)
      for (int64_t t = 0; t < taps(); ++t)
        for (int64_t g = 0; g < p_.group; ++g) put(to++, g * oc_group_ + j, 0, t);
    return at;
  }

  int64_t pack_blocks() {
    const int64_t blocks = ceil_div(oc_group_, 16), depth = taps() * ic_group_;
    const int64_t at = l_.reserve_weights(p_.group * blocks * depth * 16);
    for (int64_t c = 0; c < p_.out_channels; ++c) {
      const int64_t n = c % oc_group_, block = at + (c / oc_group_ * blocks + n / 16) * depth * 16;
      for (int64_t t = 0; t < taps(); ++t)
        for (int64_t i = 0; i < ic_group_; ++i) put(block + (t * ic_group_ + i) * 16 + n % 16, c, i, t);
    }
    return at;
  }

  Lowering& l_;
  const ir::Node& n_;
  ops::IntegerConvParams p_;
  int64_t ic_group_, oc_group_;
  bool depthwise_;
  WindowOp op_;
};

}  // namespace

Status lower_integer_conv(Lowering& l) {
  const ir::Node& node = l.graph().node(l.layer().anchor);
  MRVLC_ASSIGN(ops::IntegerConvParams params, ops::integer_conv_params(l.graph(), node));
  IntegerConv conv(l, node, std::move(params));
  return node.is(Op::QLinearConv) ? conv.qlinear() : conv.scaled();
}

namespace {}  // namespace

bool maps_codes(Lowering& l) {
  const ir::Graph& g = l.graph();
  const std::vector<ir::NodeId>& nodes = l.layer().nodes;
  if (nodes.size() < 2 || !g.node(nodes.back()).is(Op::QuantizeLinear)) return false;
  const ir::ValueId x = g.node(nodes[0]).inputs[0];
  if (g.is_constant(x) || !isa::is_integer(l.read(x).type)) return false;
  return std::all_of(nodes.begin(), nodes.end() - 1, [&](ir::NodeId id) {
    const std::vector<ir::ValueId>& in = g.node(id).inputs;
    const bool constants = std::all_of(in.begin() + 1, in.end(), [&](ir::ValueId v) {
      return !v.valid() || (g.is_constant(v) && g.value(v).type.elements() == 1);
    });
    return constants && ops::op_def(g.node(id)).scalar != nullptr;
  });
}

// The 256 results are worked out here: exact whatever the functions are.
Status lower_codes(Lowering& l) {
  const ir::Graph& g = l.graph();
  const std::vector<ir::NodeId>& nodes = l.layer().nodes;
  View from = l.read(g.node(nodes[0]).inputs[0]), to = l.last_result();
  const ops::IntRange codes = ops::range_of(element_type(from.type)),
                      results = ops::range_of(element_type(to.type));
  std::string table(isa::kByteTableBytes, '\0');
  for (int64_t code = codes.low; code <= codes.high; ++code) {
    float v = static_cast<float>(code - from.quantization.zero) * from.quantization.scale;
    for (size_t i = 0; i + 1 < nodes.size(); ++i)
      v = ops::function_value(g, g.node(nodes[i]), g.node(nodes[i]).inputs[0], v);
    const int64_t result = ops::quantized(v, to.quantization.scale, to.quantization.zero, results);
    // The code is stored as a number of the result's type first.
    table[static_cast<uint8_t>(code - codes.low + results.low)] = static_cast<char>(result);
  }
  EpilogueSpec look_up{isa::Activation::Bytes, 0, 0, l.append_weights(table)};
  from.quantization = {static_cast<int16_t>(codes.low), 1.0f};
  to.quantization = {static_cast<int16_t>(results.low), 1.0f};
  PeBuilder b(l, to.dims, nodes.back());
  PeOperand t = b.temp();
  b.apply(isa::EwOp::Copy, t, b.view(from), {}, 0, 0, look_up);
  return b.finish(t, to);
}

isa::Quantization quantization_of(const ir::Graph& graph, const ir::Node& node) {
  const Tensor* zero =
      node.inputs.size() > 2 && node.inputs[2].valid() ? graph.constant(node.inputs[2]) : nullptr;
  return {static_cast<int16_t>(zero == nullptr ? 0 : zero->as_int(0)),
          static_cast<float>(graph.constant(node.inputs[1])->as_double(0))};
}

Status lower_dequantize(Lowering& l) {
  const ir::Node& node = l.graph().node(l.layer().anchor);
  View v = l.read(node.inputs[0]);
  v.quantization = quantization_of(l.graph(), node);
  l.bind(node.outputs[0], v, node.id);
  return {};
}

}  // namespace mrvlc::accel

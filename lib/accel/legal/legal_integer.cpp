// Integers of 8 bits: QLinearConv, and what makes numbers of them and back.
#include <limits>

#include "legal/legal.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel {
namespace {

Legality bytes(const LegalContext& c, ir::ValueId v, std::string_view what) {
  const ElementType elem = c.type(v).elem;
  if (is_byte(elem)) return legal();
  return refuse("integers of 8 bits", std::string(name(elem)), "i8 or u8",
                fmt::format("{} is of {}; the accelerator takes i8 and u8.", what, name(elem)));
}

// Above 0 and finite, in fp32.
Legality scale(const LegalContext& c, const ir::Node& node, size_t i) {
  const Tensor& t = *c.graph.constant(node.inputs[i]);
  for (int64_t k = 0; k < t.elements(); ++k) {
    const auto v = static_cast<float>(t.as_double(k));
    if (v > 0 && v <= std::numeric_limits<float>::max()) continue;
    return refuse("scale > 0", fmt::format("{}", v), "finite and above 0",
                  fmt::format("scale {} is {}; the accelerator takes finite ones above 0.", k, v));
  }
  return legal();
}

bool same_everywhere(const Tensor& t) {
  for (int64_t i = 1; i < t.elements(); ++i)
    if (t.as_int(i) != t.as_int(0)) return false;
  return true;
}

// What either convolution asks of its integers and their window.
Legality integer_window(const LegalContext& c) {
  const ir::Node& node = c.anchor();
  const auto p = ops::integer_conv_params(c.graph, node);
  if (!p.ok()) return refuse(p.error());
  MRVLC_LEGAL(bytes(c, node.inputs[p->x], "its operand"));
  MRVLC_LEGAL(bytes(c, node.inputs[p->weights], "its weights"));
  MRVLC_LEGAL(constant_input(c, p->weights, "weights"));
  MRVLC_LEGAL(constant_scalar(c, node, p->zero_x, "zero point"));
  MRVLC_LEGAL(constant_input(c, p->zero_weights, "zero point of weights"));
  if (c.has(node, p->zero_weights) && !same_everywhere(*c.graph.constant(node.inputs[p->zero_weights]))) {
    return refuse("one zero point of weights", "several", "one value",
                  "its weights have several zero points; the accelerator takes one.");
  }
  return legal_window(c, *p, p->batch);
}

}  // namespace

Legality legal_quantization(const LegalContext& c, const ir::Node& node) {
  const bool to_numbers = node.is(Op::DequantizeLinear);
  MRVLC_LEGAL(
      bytes(c, to_numbers ? node.inputs[0] : node.outputs[0], to_numbers ? "its operand" : "its result"));
  const ElementType elem = c.type(to_numbers ? node.outputs[0] : node.inputs[0]).elem;
  if (elem != ElementType::F32) {
    return refuse("numbers of f32", std::string(name(elem)), "f32",
                  fmt::format("it converts {}; the accelerator converts f32.", name(elem)));
  }
  MRVLC_LEGAL(constant_scalar(c, node, 1, "scale"));
  MRVLC_LEGAL(constant_scalar(c, node, 2, "zero point"));
  return scale(c, node, 1);
}

Legality legal_dequantize(const LegalContext& c) {
  return legal_quantization(c, c.anchor());
}

Legality legal_integer_conv(const LegalContext& c) {
  if (c.layer.nodes.size() < 3) {
    return refuse("operators of the layer", std::to_string(c.layer.nodes.size()), "at least 3",
                  "its sums are not scaled by a constant; they are no numbers that are stored.");
  }
  return integer_window(c);
}

Legality legal_qlinear_conv(const LegalContext& c) {
  using enum ops::QlinearInput::Position;
  const ir::Node& node = c.anchor();
  for (size_t i : {kScaleA, kScaleY}) MRVLC_LEGAL(constant_scalar(c, node, i, "scale"));
  MRVLC_LEGAL(constant_scalar(c, node, kZeroY, "zero point"));
  MRVLC_LEGAL(constant_input(c, kScaleB, "scale of weights"));
  MRVLC_LEGAL(constant_input(c, kBias, "bias"));
  for (size_t i : {kScaleA, kScaleB, kScaleY}) MRVLC_LEGAL(scale(c, node, i));
  return integer_window(c);
}

}  // namespace mrvlc::accel

// Integers of 8 bits: QLinearConv, and what makes numbers of them and back.
#include <limits>

#include "legal/legal.h"

namespace mrvlc::accel {
namespace {

Legality bytes(const LegalContext& c, ir::ValueId v, std::string_view what) {
  const ElementType elem = c.type(v).elem;
  if (is_byte(elem)) return legal();
  return refuse("integers of 8 bits", std::string(name(elem)), "i8 or u8",
                fmt::format("{} is of {}; the accelerator takes i8 and u8.", what, name(elem)));
}

// Input i, if given, is a constant; of one element unless `several`.
Legality parameter(const LegalContext& c, const ir::Node& node, size_t i, std::string_view what,
                   bool several) {
  if (!c.has(node, i)) return legal();
  const ir::Value& v = c.graph.value(node.inputs[i]);
  if (!c.is_constant(node, i)) {
    return refuse(fmt::format("constant({})", what), origin(v), "a constant",
                  fmt::format("operand {} ('{}'), {}, is {}; the accelerator needs it at compile time.", i,
                              printable(v.name, 80), what, origin(v)));
  }
  if (several || v.type.elements() == 1) return legal();
  return refuse(fmt::format("one value of {}", what), to_string(v.type.shape), "one value",
                fmt::format("operand {} ('{}'), {}, has shape {}; the accelerator takes one value.", i,
                            printable(v.name, 80), what, to_string(v.type.shape)));
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

Legality several_zero_points() {
  return refuse("one zero point of weights", "several", "one value",
                "its weights have several zero points; the accelerator takes one.");
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
  MRVLC_LEGAL(parameter(c, node, 1, "scale", false));
  MRVLC_LEGAL(parameter(c, node, 2, "zero point", false));
  return scale(c, node, 1);
}

Legality legal_dequantize(const LegalContext& c) {
  return legal_quantization(c, c.anchor());
}

Legality legal_integer_conv(const LegalContext& c) {
  const ir::Node& node = c.anchor();
  if (c.layer.nodes.size() < 3) {
    return refuse("operators of the layer", std::to_string(c.layer.nodes.size()), "at least 3",
                  "its sums are not scaled by a constant; they are no numbers that are stored.");
  }
  MRVLC_LEGAL(bytes(c, node.inputs[0], "its operand"));
  MRVLC_LEGAL(bytes(c, node.inputs[1], "its weights"));
  MRVLC_LEGAL(parameter(c, node, 1, "weights", true));
  MRVLC_LEGAL(parameter(c, node, 2, "zero point", false));
  MRVLC_LEGAL(parameter(c, node, 3, "zero point of weights", true));
  if (c.has(node, 3) && !same_everywhere(*c.graph.constant(node.inputs[3]))) return several_zero_points();
  auto p = ops::conv_integer_params(ops::infer_context(c.graph, node));
  return p.ok() ? legal_window(c, *p, p->batch) : refuse(p.error());
}

Legality legal_qlinear_conv(const LegalContext& c) {
  const ir::Node& node = c.anchor();
  MRVLC_LEGAL(bytes(c, node.inputs[0], "its operand"));
  MRVLC_LEGAL(bytes(c, node.inputs[3], "its weights"));
  for (size_t i : {1, 6}) MRVLC_LEGAL(parameter(c, node, i, "scale", false));
  for (size_t i : {2, 7}) MRVLC_LEGAL(parameter(c, node, i, "zero point", false));
  MRVLC_LEGAL(parameter(c, node, 3, "weights", true));
  MRVLC_LEGAL(parameter(c, node, 4, "scale of weights", true));
  MRVLC_LEGAL(parameter(c, node, 5, "zero point of weights", true));
  MRVLC_LEGAL(parameter(c, node, 8, "bias", true));
  for (size_t i : {1, 4, 6}) MRVLC_LEGAL(scale(c, node, i));
  if (!same_everywhere(*c.graph.constant(node.inputs[5]))) return several_zero_points();
  auto p = ops::qlinear_conv_params(ops::infer_context(c.graph, node));
  return p.ok() ? legal_window(c, *p, p->batch) : refuse(p.error());
}

}  // namespace mrvlc::accel

// The chain of element-wise operators after the anchor: each reads the previous one's only output and
// constants, or, once in a layer, another activation of the same shape (the residual).
#include <algorithm>

#include "legal/legal.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel {
namespace {

// Dimension of the result that channels lie along.
size_t channel_dim(const LegalContext& c) {
  bool image = c.layer.kind == LayerKind::Conv || c.layer.kind == LayerKind::ConvTranspose ||
               c.layer.kind == LayerKind::IntegerConv;
  return image ? 1 : c.out().shape.size() - 1;
}

// One value, or one for each channel.
Legality channel_constant(const LegalContext& c, const ir::Node& node, const TensorType& constant) {
  const Shape& out = c.out().shape;
  if (constant.elements() == 1) return legal();
  bool fits = constant.shape.size() <= out.size();
  size_t missing = fits ? out.size() - constant.shape.size() : 0;
  for (size_t d = 0; fits && d < constant.shape.size(); ++d) {
    fits = constant.shape[d] == 1 || d + missing == channel_dim(c);
  }
  if (fits) return legal();
  return refuse(
      "per-channel constant", to_string(constant.shape), "one value, or one for each channel",
      fmt::format(
          "the constant of {} '{}' has shape {}; an epilogue takes one value, or one for each channel.",
          node.op->name, printable(node.name, 80), to_string(constant.shape)));
}

// A value of the layer itself is gone once the chain went past it.
bool made_in_layer(const LegalContext& c, ir::ValueId v) {
  const auto& nodes = c.layer.nodes;
  return std::any_of(nodes.begin(), nodes.end(), [&](ir::NodeId id) {
    const auto& outputs = c.graph.node(id).outputs;
    return std::find(outputs.begin(), outputs.end(), v) != outputs.end();
  });
}

Legality no_chain(std::string actual) {
  return refuse(
      "epilogue chain", std::move(actual), "a chain",
      "the operators of the layer are not a chain, in which each reads the result of the one before it and "
      "constants or values from outside.");
}

// Nothing but `node` reads what the one before it made.
bool reads_alone(const LegalContext& c, const ir::Node& node, const ir::Node& before) {
  for (ir::ValueId out : before.outputs) {
    if (!out.valid()) continue;
    if (c.graph.is_output(out)) return false;
    const auto& users = c.graph.value(out).users;
    if (std::ranges::any_of(users, [&](ir::NodeId u) { return u != node.id; })) return false;
  }
  return true;
}

Legality residual(const LegalContext& c, const ir::Node& node, const TensorType& other, int& residuals) {
  if (++residuals > 1) {
    return refuse("residual operands", "2", "1",
                  "an epilogue takes one other activation, this one would take two.");
  }
  if (!node.is(Op::Add, Op::Sub, Op::Mul)) {
    return refuse("residual operator", std::string(node.op->name), "Add, Sub or Mul",
                  fmt::format("{} with another activation is not part of an epilogue.", node.op->name));
  }
  if (other.shape == c.out().shape) return legal();
  return refuse(
      "residual shape", to_string(other.shape), to_string(c.out().shape),
      fmt::format(
          "the other operand of {} '{}' has shape {}; an epilogue takes one of the result's shape {}.",
          node.op->name, printable(node.name, 80), to_string(other.shape), to_string(c.out().shape)));
}

Legality epilogue_binary(const LegalContext& c, const ir::Node& node, ir::ValueId previous, int& residuals) {
  if (node.inputs.size() != 2) {
    return refuse(
        "operands", std::to_string(node.inputs.size()), "2",
        fmt::format("{} has {} operands; an epilogue takes two.", node.op->name, node.inputs.size()));
  }
  MRVLC_LEGAL(pow_exponent(c, node));
  if (node.inputs[0] != previous && node.inputs[1] != previous) return no_chain("a side branch");
  ir::ValueId other = node.inputs[0] == previous ? node.inputs[1] : node.inputs[0];
  if (other == previous) {
    return refuse("operands", "the same value twice", "two values",
                  "an operator that reads its predecessor twice is not part of an epilogue.");
  }
  if (c.graph.is_constant(other)) return channel_constant(c, node, c.type(other));
  if (made_in_layer(c, other)) return no_chain("an earlier value of the layer");
  if (c.kind.epilogue == KindInfo::Epilogue::Scaled) {
    return refuse("constant operand", origin(c.graph.value(other)), "a constant",
                  "what follows sums of integers has constants for other operands.");
  }
  return residual(c, node, c.type(other), residuals);
}

// Sums of integers become numbers, in fp32.
Legality cast_of_sums(const LegalContext& c, const ir::Node& node) {
  const ElementType elem = c.type(node.outputs[0]).elem;
  if (node.is(Op::Cast) && elem == ElementType::F32) return legal();
  return refuse("scaled sums", std::string(node.op->name), "Cast to f32, then Mul",
                "sums of integers become numbers by a Cast to f32 and a Mul by constants.");
}

Legality epilogue_node(const LegalContext& c, const ir::Node& node, ir::ValueId previous, int& residuals) {
  const bool scaled = c.kind.epilogue == KindInfo::Epilogue::Scaled;
  if (scaled && node.id == c.layer.nodes[1]) return cast_of_sums(c, node);
  if (scaled && node.id == c.layer.nodes[2] && !node.is(Op::Mul)) return cast_of_sums(c, node);
  const KindInfo::Epilogue epilogue = c.kind.epilogue;
  if (epilogue == KindInfo::Epilogue::Quantize || epilogue == KindInfo::Epilogue::Bounds) {
    const Op only = epilogue == KindInfo::Epilogue::Quantize ? Op::QuantizeLinear : Op::Clip;
    if (!node.is(only)) {
      return refuse("epilogue operator", std::string(node.op->name), std::string(ops::op_def(only).name),
                    fmt::format("a layer of kind {} is followed by {} alone.", name(c.layer.kind),
                                ops::op_def(only).name));
    }
  }
  if (!is_binary(vector_form(node.kind()))) {
    MRVLC_LEGAL(legal_function(c, node));
    return node.inputs[0] == previous ? legal() : no_chain("a side branch");
  }
  if (c.kind.epilogue == KindInfo::Epilogue::Functions) {
    return refuse("epilogue operator", std::string(node.op->name), "a function of one operand",
                  "an element-wise layer is followed by functions of one operand only.");
  }
  return epilogue_binary(c, node, previous, residuals);
}

}  // namespace

Legality legal_epilogue(const LegalContext& c) {
  if (c.layer.nodes.empty() || c.layer.nodes.front() != c.layer.anchor) return no_chain("another beginning");
  if (c.layer.nodes.size() == 1) return legal();
  if (c.kind.epilogue == KindInfo::Epilogue::None) {
    return refuse("operators of the layer", std::to_string(c.layer.nodes.size()), "1",
                  fmt::format("a layer of kind {} is a single operator.", name(c.layer.kind)));
  }
  int residuals = 0;
  ir::ValueId previous = c.anchor().outputs[0];
  for (size_t i = 1; i < c.layer.nodes.size(); ++i) {
    const ir::Node& node = c.graph.node(c.layer.nodes[i]);
    if (!reads_alone(c, node, c.graph.node(c.layer.nodes[i - 1]))) return no_chain("a fork");
    MRVLC_LEGAL(epilogue_node(c, node, previous, residuals));
    if (c.type(node.outputs[0]).shape != c.out().shape) {
      return refuse(
          "epilogue shape", to_string(c.type(node.outputs[0]).shape), to_string(c.out().shape),
          fmt::format("{} '{}' changes the shape of the result.", node.op->name, printable(node.name, 80)));
    }
    previous = node.outputs[0];
  }
  return legal();
}

}  // namespace mrvlc::accel

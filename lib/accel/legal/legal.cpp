// What is asked of every layer, whatever its kind; the checks of kinds stand in legal_*.cpp.
#include "legal/legal.h"

#include <algorithm>
#include <set>

#include "legal/legal_size.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel {

Legality legal() {
  return {};
}

Legality refuse(std::string condition, std::string actual, std::string limit, std::string reason) {
  return {false, std::move(condition), std::move(actual), std::move(limit), std::move(reason)};
}

Legality refuse(const Diag& diag) {
  return refuse("parameters resolved", "unresolved", "resolved",
                "its parameters cannot be resolved: " + diag.message + ".");
}

Legality at_most(std::string_view condition, std::string_view what, int64_t actual, int64_t limit) {
  if (actual <= limit) return legal();
  return refuse(std::string(condition), std::to_string(actual), std::to_string(limit),
                fmt::format("{} is {}; the accelerator takes at most {}.", what, actual, limit));
}

Legality collapsed_rank(std::string_view what, int64_t dims) {
  return at_most("collapsed_rank",
                 fmt::format("the number of dimensions of the {} that cannot be merged", what), dims, 5);
}

std::string origin(const ir::Value& value) {
  return value.kind == ir::ValueKind::Input ? "an input of the model" : "computed at run time";
}

Legality constant_input(const LegalContext& c, const ir::Node& node, size_t input, std::string_view what) {
  if (!c.has(node, input) || c.is_constant(node, input)) return legal();
  const ir::Value& value = c.graph.value(node.inputs[input]);
  return refuse(fmt::format("constant({})", what), origin(value), "a constant",
                fmt::format("operand {} ('{}'), {}, is {}; the accelerator needs it at compile time.", input,
                            printable(value.name, 80), what, origin(value)));
}

Legality constant_input(const LegalContext& c, size_t input, std::string_view what) {
  return constant_input(c, c.anchor(), input, what);
}

Legality constant_scalar(const LegalContext& c, const ir::Node& node, size_t input, std::string_view what) {
  MRVLC_LEGAL(constant_input(c, node, input, what));
  if (!c.has(node, input) || c.type(node.inputs[input]).elements() == 1) return legal();
  const ir::Value& v = c.graph.value(node.inputs[input]);
  return refuse(fmt::format("one value of {}", what), to_string(v.type.shape), "one value",
                fmt::format("operand {} ('{}'), {}, has shape {}; the accelerator takes one value.", input,
                            printable(v.name, 80), what, to_string(v.type.shape)));
}

Legality outputs_unused(const LegalContext& c, size_t first) {
  const auto& outputs = c.anchor().outputs;
  for (size_t i = first; i < outputs.size(); ++i) {
    if (!outputs[i].valid() || c.graph.use_count(outputs[i]) == 0) continue;
    return refuse("output_unused", fmt::format("output {} is read", i), "not read",
                  fmt::format("output {} is read; the accelerator computes the first {} only.", i,
                              first == 1 ? "output" : "outputs"));
  }
  return legal();
}

namespace {

std::string shown(const ir::Value& v) {
  return "'" + printable(v.name, 80) + "'";
}

Legality check_element(const ir::Value& v) {
  if (v.type.elem == ElementType::F32 || v.type.elem == ElementType::F16) return legal();
  std::string elem(name(v.type.elem));
  return refuse(
      "element type", elem, "f32 or f16",
      fmt::format(
          "{} has element type {}; the accelerator computes in float16 and takes float32 and float16 values.",
          shown(v), elem));
}

Legality check_value(const LegalContext& c, const ir::Node& node, ir::ValueId id) {
  const ir::Value& v = c.graph.value(id);
  const bool quantized = node.is(Op::QuantizeLinear) && id == node.outputs[0];
  // Sums of integers, which are not stored.
  const bool sums = c.layer.kind == LayerKind::IntegerConv && id == c.anchor().outputs[0];
  const bool integers = is_byte(v.type.elem) && (quantized || c.kind.integers);
  if (!integers && !sums) MRVLC_LEGAL(check_element(v));
  auto empty = std::find_if(v.type.shape.begin(), v.type.shape.end(), [](int64_t d) { return d < 1; });
  if (empty == v.type.shape.end()) return legal();
  return refuse("dimensions >= 1", to_string(v.type.shape), "at least 1 each",
                fmt::format("{} has shape {}, which holds no elements.", shown(v), to_string(v.type.shape)));
}

// Integer constants are parameters (shapes, axes, sizes); the checks of each kind look at them.
Legality check_constant(const ir::Value& v) {
  if (is_integer(v.type.elem) || v.type.elements() == 0) return legal();
  return check_element(v);
}

Legality check_node(const LegalContext& c, const ir::Node& node) {
  for (ir::ValueId in : node.inputs) {
    if (!in.valid()) continue;
    const ir::Value& v = c.graph.value(in);
    MRVLC_LEGAL(v.kind == ir::ValueKind::Constant ? check_constant(v) : check_value(c, node, in));
  }
  for (ir::ValueId out : node.outputs) {
    if (out.valid() && c.graph.use_count(out) > 0) MRVLC_LEGAL(check_value(c, node, out));
  }
  return legal();
}

Legality check_ports(const LegalContext& c) {
  std::set<ir::ValueId> inputs;
  for (ir::NodeId n : c.layer.nodes) {
    for (ir::ValueId in : c.graph.node(n).inputs) {
      if (in.valid() && !c.graph.is_constant(in)) inputs.insert(in);
    }
  }
  // Values between the nodes of the layer were counted too; a chain has one for each node after the first.
  auto read = static_cast<int64_t>(inputs.size() + 1 - c.layer.nodes.size());
  if (read < 1) {
    return refuse("activation inputs", "0", "at least 1",
                  "all of its operands are constants; it is computed at compile time.");
  }
  MRVLC_LEGAL(at_most("activation inputs", "the number of activations it reads", read, c.machine.max_ports));
  return at_most("outputs", "the number of its outputs", static_cast<int64_t>(c.anchor().outputs.size()),
                 c.machine.max_ports);
}

Legality check_static(const LegalContext& c, const ir::Node& node) {
  if (!ops::has_dynamic_shapes(c.graph, node)) return {};
  std::string actual = to_string(c.graph.value(node.outputs[0]).type);
  return refuse("static shapes", actual, "shapes known at compile time",
                "A shape is known at run time only; the accelerator's programs are made for one shape.");
}

Legality check_anchor(const LegalContext& c) {
  if (can_anchor(c.layer.kind, c.anchor())) return legal();
  const std::string_view kind = name(c.layer.kind);
  return refuse("anchor", std::string(c.anchor().op->name), fmt::format("an operator of kind {}", kind),
                fmt::format("no layer of kind {} begins with {}.", kind, c.anchor().op->name));
}

}  // namespace

Legality layer_legal(const ir::Graph& graph, const Layer& layer, const target::Machine& machine) {
  // In this order: kinds, numbers and sizes read shapes, which are static and hold elements by then.
  const KindInfo& kind = kind_info(layer.kind);
  LegalContext c{graph, layer, kind, machine};
  MRVLC_LEGAL(check_anchor(c));
  for (ir::NodeId n : layer.nodes) {
    MRVLC_LEGAL(check_node(c, graph.node(n)));
    MRVLC_LEGAL(check_static(c, graph.node(n)));
  }
  MRVLC_LEGAL(legal_epilogue(c));
  MRVLC_LEGAL(check_ports(c));
  MRVLC_LEGAL(kind.check(c));
  MRVLC_LEGAL(legal_numbers(c));
  return legal_size(c);
}

}  // namespace mrvlc::accel

// The activations that lowering gives a place in memory.
#include "mrvlc/accel/stored.h"

#include "lower/lowering.h"
#include "mrvlc/accel/epilogue.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel {
namespace {

bool reads_two_activations(const ir::Graph& graph, const ir::Node& node) {
  return node.inputs.size() == 2 && !graph.is_constant(node.inputs[0]) && !graph.is_constant(node.inputs[1]);
}

// Nodes of a product's layer whose work the matrix unit does before it writes: what goes into weights and
// bias, a residual, an activation (fold_epilogue).
size_t nodes_of_product(const ir::Graph& graph, const partition::Layer& layer) {
  size_t taken = 1 + accel::fold_constants(graph, layer).nodes;
  const auto node = [&](size_t i) -> const ir::Node& { return graph.node(layer.nodes[i]); };
  if (taken < layer.nodes.size() && node(taken).is(Op::Add) && reads_two_activations(graph, node(taken)))
    ++taken;
  if (taken < layer.nodes.size() && !node(taken).is(Op::Add, Op::Sub, Op::Mul, Op::Div)) ++taken;
  return taken;
}

}  // namespace

std::vector<backend::StoredValue> stored_values(const ir::Graph& graph, const partition::Region& region) {
  const WideValues wide = choose_wide(graph, region);
  std::vector<backend::StoredValue> out;
  // Integers lose nothing.
  const auto add = [&](ir::ValueId v) {
    if (v.valid() && is_float(graph.value(v).type.elem))
      out.push_back({v, wide.values.contains(v) ? ElementType::F32 : ElementType::F16});
  };
  for (ir::ValueId v : region.inputs) add(v);
  for (const partition::Layer& layer : region.layers) {
    if (multiplies(layer.kind) && !multiplies_integers(layer.kind)) {
      const size_t taken = nodes_of_product(graph, layer);
      if (taken < layer.nodes.size()) add(graph.node(layer.nodes[taken - 1]).outputs[0]);
    }
    if (layer.kind == LayerKind::Dequantize) continue;  // read as the integers they are
    for (ir::ValueId v : graph.node(layer.nodes.back()).outputs) add(v);
  }
  return out;
}

}  // namespace mrvlc::accel

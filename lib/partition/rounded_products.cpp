// Products between DequantizeLinear and QuantizeLinear that an accelerator computes in fp16: what
// QuantizeLinear makes of them may be off by a step. With constant weights, one scale for each operand and
// nothing kept apart they are products of integers before a rule is asked (the pass integer-products); what
// is found here was written otherwise, or torn apart.
#include <algorithm>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/accelerator.h"
#include "mrvlc/partition/ineffective_constraints.h"
#include "mrvlc/support/diag/accuracy.h"
#include "placement.h"

namespace mrvlc::partition {
namespace {

const ir::Node* producer(const ir::Graph& g, ir::ValueId v) {
  if (!v.valid() || g.value(v).kind != ir::ValueKind::Result) return nullptr;
  return &g.node(g.value(v).producer);
}

// Hands on elements, or a function of each.
bool hands_on(const ir::Node& n) {
  return ops::traits(n).moves != ops::Moves::None || n.is(Op::Relu, Op::Clip);
}

const ir::Node* dequantize_before(const ir::Graph& g, ir::ValueId v) {
  const ir::Node* n = producer(g, v);
  while (n != nullptr && hands_on(*n)) n = producer(g, n->inputs[0]);
  const bool integers =
      n != nullptr && n->is(Op::DequantizeLinear) && is_byte(g.value(n->inputs[0]).type.elem);
  return integers ? n : nullptr;
}

const ir::Node* quantize_behind(const ir::Graph& g, const ir::Node& product) {
  for (ir::ValueId v = product.outputs[0]; g.value(v).users.size() == 1;) {
    const ir::Node& reader = g.node(g.value(v).users[0]);
    if (reader.is(Op::QuantizeLinear))
      return is_byte(g.value(reader.outputs[0]).type.elem) ? &reader : nullptr;
    if (!hands_on(reader)) return nullptr;
    v = reader.outputs[0];
  }
  return nullptr;
}

}  // namespace

std::vector<Diag> integers_in_half(const ir::Graph& graph, const Partition& partition,
                                   const Accelerator& accelerator) {
  const ir::Node *first = nullptr, *reads = nullptr, *rounds = nullptr;
  size_t count = 0;
  for (const Region& region : partition.regions) {
    if (!accelerator.parts()[region.accelerator]->half()) continue;
    for (const Layer& layer : region.layers) {
      for (ir::NodeId id : layer.nodes) {
        const ir::Node& n = graph.node(id);
        if (!ops::traits(n).sums_products || !is_float(graph.value(n.outputs[0]).type.elem)) continue;
        if (region.precisions.contains(n.inputs[0])) continue;  // a pair, by the user's choice
        const ir::Node *d = dequantize_before(graph, n.inputs[0]), *q = quantize_behind(graph, n);
        if (d == nullptr || q == nullptr) continue;
        if (++count == 1) first = &n, reads = d, rounds = q;
      }
    }
  }
  if (count == 0) return {};
  const std::string more = count > 1 ? fmt::format(" and {} more", count - 1) : "";
  return {
      make_diag<DiagCode::MRV0918>(shown(graph, *first) + more, shown(graph, *reads), shown(graph, *rounds))};
}

}  // namespace mrvlc::partition

// What the interpreter has to do for a node, and for a run.
#include "accuracy/run_cost.h"

#include <algorithm>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::driver {
namespace {

// An element of anything but a product takes the interpreter as long as so many multiply-accumulates.
constexpr int64_t kStepCost = 16;
constexpr int64_t kSlowMac = 8;  // of other types than float32

// Elements that the node reads and writes.
int64_t moved(const ir::Graph& graph, const ir::Node& node) {
  int64_t elements = 0;
  for (const auto* values : {&node.inputs, &node.outputs})
    for (ir::ValueId v : *values)
      if (v.valid()) elements = saturating_add(elements, graph.value(v).type.elements());
  return elements;
}

bool any_of_type(const ir::Graph& graph, const ir::Node& node, auto holds) {
  return std::ranges::any_of(node.inputs,
                             [&](ir::ValueId v) { return v.valid() && holds(graph.value(v).type.elem); });
}

// What the accelerator takes is linear in what it moves, windows times their taps; of other operators, which
// may be anything, the bound that there is for them.
int64_t steps_of(const ir::Graph& graph, const ir::Node& node, bool on_accelerator) {
  const int64_t work = ops::evaluation_work(graph, node);
  const bool windows = node.op->attr_index("kernel_shape") >= 0;
  if (!on_accelerator && !windows) return work;
  int64_t taps = 1;
  if (windows)
    for (int64_t k : node.ints_attr("kernel_shape")) taps = saturating_mul(taps, k);
  return std::min(work, saturating_mul(moved(graph, node), taps));
}

}  // namespace

int64_t node_cost(const ir::Graph& graph, const ir::Node& node, bool on_accelerator) {
  const int64_t macs = ops::macs(graph, node);
  if (macs == 0) return saturating_mul(steps_of(graph, node, on_accelerator), kStepCost);
  const bool slow = any_of_type(graph, node, [](ElementType e) { return e != ElementType::F32; });
  return saturating_add(saturating_mul(macs, slow ? kSlowMac : 1),
                        saturating_mul(moved(graph, node), kStepCost));
}

std::optional<int64_t> run_cost(const ir::Graph& graph, const std::vector<bool>& on_accelerator) {
  int64_t cost = 0;
  for (ir::NodeId id : graph.topological_order()) {
    const ir::Node& node = graph.node(id);
    if (node.is(Op::Loop) && !graph.is_constant(node.inputs[0])) return std::nullopt;
    const auto bodies = ir::bodies_of(node);
    const bool there = id.index() < on_accelerator.size() && on_accelerator[id.index()];
    if (bodies.empty()) cost = saturating_add(cost, node_cost(graph, node, there));
    for (const ir::Graph* body : bodies) {
      const auto inner = run_cost(*body, std::vector<bool>{});
      if (!inner) return std::nullopt;
      cost = saturating_add(cost, saturating_mul(*inner, ops::body_rounds(graph, node)));
    }
  }
  return cost;
}

std::optional<int64_t> run_cost(const ir::Graph& graph, const partition::Partition& partition) {
  std::vector<bool> on_accelerator(graph.node_slots(), false);
  for (const partition::NodeDecision& d : partition.decisions) on_accelerator[d.node.index()] = d.accelerator;
  return run_cost(graph, on_accelerator);
}

}  // namespace mrvlc::driver

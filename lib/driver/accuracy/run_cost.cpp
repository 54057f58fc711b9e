// What the interpreter has to do for a node, and for a run.
#include "accuracy/run_cost.h"

#include <algorithm>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::driver {
namespace {

// An element of anything but a product takes the interpreter as long as so many multiply-accumulates.
constexpr int64_t kStepCost = 16;
constexpr int64_t kSlowMac = 8;  // of other types than float32

// What a product and a step take, interpreter and simulator together.
constexpr double kProductSeconds = 0.15e-9, kStepSeconds = 5e-9;

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
  const bool windows = ops::attr::has_window(node);
  if (!on_accelerator && !windows) return work;
  int64_t taps = 1;
  if (windows)
    for (int64_t k : ops::attr::kernel_shape(node)) taps = saturating_mul(taps, k);
  return std::min(work, saturating_mul(moved(graph, node), taps));
}

RunWork node_work(const ir::Graph& graph, const ir::Node& node, bool on_accelerator) {
  const int64_t macs = ops::macs(graph, node);
  if (macs == 0) return {0, steps_of(graph, node, on_accelerator)};
  const bool slow = any_of_type(graph, node, [](ElementType e) { return e != ElementType::F32; });
  return {saturating_mul(macs, slow ? kSlowMac : 1), moved(graph, node)};
}

std::optional<RunWork> graph_work(const ir::Graph& graph, const std::vector<bool>& on_accelerator) {
  RunWork work;
  const auto add = [&](const RunWork& w, int64_t times) {
    work.products = saturating_add(work.products, saturating_mul(w.products, times));
    work.steps = saturating_add(work.steps, saturating_mul(w.steps, times));
  };
  for (ir::NodeId id : graph.topological_order()) {
    const ir::Node& node = graph.node(id);
    if (node.is(Op::Loop) && !graph.is_constant(node.inputs[0])) return std::nullopt;
    const auto bodies = ir::bodies_of(node);
    const bool there = id.index() < on_accelerator.size() && on_accelerator[id.index()];
    if (bodies.empty()) add(node_work(graph, node, there), 1);
    for (const ir::Graph* body : bodies) {
      const auto inner = graph_work(*body, std::vector<bool>{});
      if (!inner) return std::nullopt;
      add(*inner, ops::body_rounds(graph, node));
    }
  }
  return work;
}

int64_t cost_of(const RunWork& work) {
  return saturating_add(work.products, saturating_mul(work.steps, kStepCost));
}

std::vector<bool> taken(const ir::Graph& graph, const partition::Partition& partition) {
  std::vector<bool> on_accelerator(graph.node_slots(), false);
  for (const partition::NodeDecision& d : partition.decisions) on_accelerator[d.node.index()] = d.accelerator;
  return on_accelerator;
}

}  // namespace

double RunWork::seconds() const {
  return kProductSeconds * static_cast<double>(products) + kStepSeconds * static_cast<double>(steps);
}

int64_t node_cost(const ir::Graph& graph, const ir::Node& node, bool on_accelerator) {
  return cost_of(node_work(graph, node, on_accelerator));
}

std::optional<int64_t> run_cost(const ir::Graph& graph, const std::vector<bool>& on_accelerator) {
  const auto work = graph_work(graph, on_accelerator);
  return work ? std::optional(cost_of(*work)) : std::nullopt;
}

std::optional<int64_t> run_cost(const ir::Graph& graph, const partition::Partition& partition) {
  return run_cost(graph, taken(graph, partition));
}

std::optional<RunWork> run_work(const ir::Graph& graph, const partition::Partition& partition) {
  return graph_work(graph, taken(graph, partition));
}

}  // namespace mrvlc::driver

// Sizes of a region summed up from its layers, and what one instruction may do.
#include "primitive/cost_limits.h"

#include <algorithm>
#include <map>

#include "mrvlc/cost/limits.h"
#include "mrvlc/support/diag/accel.h"
#include "mrvlc/support/diag/accel_size.h"

namespace mrvlc::accel {
namespace {

using accel::LayerCost;

// Legality and the simulator, which knows nothing of it, must agree.
static_assert(accel::kLayerLimits.device_bytes == int64_t{cost::kMaxDdrBytes});

struct LiveRanges {
  std::map<ir::ValueId, size_t> last;  // layer that reads it last
  std::vector<std::vector<ir::ValueId>> made;
};

LiveRanges live_ranges_of(const ir::Graph& graph, const partition::Region& region) {
  LiveRanges live;
  live.made.resize(region.layers.size());
  for (size_t i = 0; i < region.layers.size(); ++i)
    for (ir::NodeId n : region.layers[i].nodes) {
      for (ir::ValueId v : graph.node(n).inputs)
        if (v.valid()) live.last[v] = i;
      if (n != region.layers[i].nodes.back()) continue;
      for (ir::ValueId v : graph.node(n).outputs)
        if (v.valid()) live.made[i].push_back(v);
    }
  return live;
}

// Ports live all the time, what lies between from its maker to its last reader. The layer at the peak.
std::pair<int64_t, size_t> device_peak(const ir::Graph& graph, const partition::Region& region) {
  LiveRanges live = live_ranges_of(graph, region);
  auto bytes = [&](ir::ValueId v) { return graph.value(v).type.elements() * 2; };
  int64_t ports = 0;
  for (const auto* list : {&region.inputs, &region.outputs})
    for (ir::ValueId v : *list) {
      ports += bytes(v);
      live.last.erase(v);
    }
  std::vector<int64_t> change(region.layers.size() + 1, 0);
  for (size_t i = 0; i < live.made.size(); ++i)
    for (ir::ValueId v : live.made[i]) {
      auto last = live.last.find(v);
      if (last == live.last.end() || last->second <= i) continue;
      // A view of its operand, and what is written over it, take no room of their own.
      if (region.layers[i].kind == LayerKind::Reshape || region.layers[i].kind == LayerKind::Move) continue;
      change[i] += bytes(v);
      change[last->second] -= bytes(v);
    }
  int64_t now = 0, most = 0;
  size_t at = 0;
  for (size_t i = 0; i < region.layers.size(); ++i) {
    now += change[i];
    if (now > most) most = now, at = i;
  }
  return {ports + most, at};
}

}  // namespace

Status check_cost(const ir::Graph& graph, const partition::Region& region, const target::Machine& machine) {
  auto named = [&](Diag diag, size_t layer) {
    const ir::Node& node = graph.node(region.layers[layer].anchor);
    return at_node(std::move(diag), node.name, node.op->name);
  };
  auto [bytes, peak] = device_peak(graph, region);
  if (Status fits = check_device_memory(bytes); !fits.ok()) return named(fits.error(), peak);
  LayerCost sum, most;
  size_t by_weights = 0, by_instructions = 0;
  for (size_t i = 0; i < region.layers.size(); ++i) {
    LayerCost c = layer_cost(graph, region.layers[i], machine);
    sum.weight_bytes += c.weight_bytes;
    sum.instructions += c.instructions;
    if (c.weight_bytes > most.weight_bytes) most.weight_bytes = c.weight_bytes, by_weights = i;
    if (c.instructions > most.instructions) most.instructions = c.instructions, by_instructions = i;
  }
  constexpr int64_t kMostWeights = accel::kLayerLimits.weight_bytes;
  if (sum.weight_bytes > kMostWeights)
    return named(make_diag<DiagCode::MRV0509>(sum.weight_bytes, "bytes of weights", kMostWeights),
                 by_weights);
  if (sum.instructions > kMostInstructions)
    return named(make_diag<DiagCode::MRV0509>(sum.instructions, "instructions", kMostInstructions),
                 by_instructions);
  return {};
}

Status check_device_memory(int64_t bytes) {
  constexpr auto kMost = int64_t{cost::kMaxDdrBytes};
  if (bytes <= kMost) return {};
  return make_diag<DiagCode::MRV0503>(bytes, kMost);
}

int64_t pixels_at_once(const WindowOp& op, int64_t channels, const target::Machine& machine) {
  int64_t most = machine.accumulator_pixels;
  if (op.kind != WindowOp::Kind::Pool) return most;
  auto elements = static_cast<int64_t>(cost::kMaxElements);
  for (int64_t n : {op.phases[0].kernel_h, op.phases[0].kernel_w, channels})
    elements /= std::max<int64_t>(n, 1);
  return std::min(most, elements);
}

Diag too_many_instructions() {
  return make_diag<DiagCode::MRV0509>(kMostInstructions + 1, "instructions or more", kMostInstructions);
}

Diag too_many_primitives() {
  return make_diag<DiagCode::MRV0509>(kMostPrimitives + 1, "operations or more", kMostPrimitives);
}

}  // namespace mrvlc::accel

// What a region takes on the accelerator, from shapes and the machine's rates alone. It sorts candidates;
// what is chosen among the best is compiled and timed.
#include <algorithm>

#include "legal/legal.h"
#include "mrvlc/accel/layer_cost.h"
#include "mrvlc/cost/cost.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/work.h"

namespace mrvlc::accel {
namespace {

constexpr double kStepsOfFunction = 4;  // of the vector unit for an element of other operators than sums

double bytes_stored(const ir::Graph& graph, ir::ValueId v) {
  const TensorType& type = graph.value(v).type;
  return (is_byte(type.elem) ? 1.0 : 2.0) * static_cast<double>(type.elements());
}

double elements_made(const ir::Graph& graph, const ir::Node& node) {
  double n = 0;
  for (ir::ValueId v : node.outputs)
    if (v.valid()) n += static_cast<double>(graph.value(v).type.elements());
  return n;
}

// Channels, or columns, are computed 16 at a time.
double rounding_up(const ir::Graph& graph, const ir::Node& anchor, bool windows) {
  const Shape& out = graph.value(anchor.outputs[0]).type.shape;
  const size_t at = windows ? 1 : out.size() - 1;
  if (out.size() <= at || out[at] <= 0) return 1;
  return static_cast<double>((out[at] + 15) / 16 * 16) / static_cast<double>(out[at]);
}

bool is_depthwise(const ir::Graph& graph, const ir::Node& anchor, bool integers) {
  const auto one_a_group = [](const auto& p) { return p.ok() && p->group > 1 && p->group == p->in_channels; };
  if (integers) return one_a_group(ops::integer_conv_params(graph, anchor));
  return anchor.is(Op::Conv) && one_a_group(ops::conv_params(ops::infer_context(graph, anchor)));
}

double layer_cycles(const ir::Graph& graph, const Layer& layer, const target::Machine& m, uint32_t tiles) {
  const ir::Node& anchor = graph.node(layer.anchor);
  const bool integers = multiplies_integers(layer.kind);
  const bool depthwise = is_depthwise(graph, anchor, integers);
  const bool windows = layer.kind == LayerKind::Conv || layer.kind == LayerKind::ConvTranspose || integers;
  double products = 0, vector = 0;
  for (ir::NodeId n : layer.nodes) {
    const auto macs = static_cast<double>(ops::macs(graph, graph.node(n)));
    products += macs;
    if (macs == 0) vector += kStepsOfFunction * elements_made(graph, graph.node(n)) / m.pe_lanes;
  }
  if (depthwise)
    products /= integers ? m.int8_depthwise_macs : m.depthwise_macs;
  else if (products > 0)
    products *= rounding_up(graph, anchor, windows) / (integers ? m.int8_macs : m.fp16_macs);
  // Weights come while earlier layers compute, and weights of later ones while this one does: whichever takes
  // longer.
  const double weights = static_cast<double>(layer_cost(graph, layer, m).weight_bytes) / m.ddr_rate();
  constexpr double kInstructions = 6;  // that wait for each other
  return kInstructions * m.instruction_overhead +
         std::max(weights, (products + vector) / std::max(1u, tiles));
}

double cycles_to_seconds(double cycles, const target::Machine& m) {
  return cycles / (m.clock_ghz * 1e9);
}

}  // namespace

double quick_seconds(const ir::Graph& graph, const Layer& layer, const target::Machine& machine,
                     uint32_t tiles) {
  return cycles_to_seconds(layer_cycles(graph, layer, machine, tiles), machine);
}

double quick_border_seconds(const ir::Graph& graph, const Region& region, const target::Machine& m) {
  double bytes = 0;
  for (const auto* values : {&region.inputs, &region.outputs})
    for (ir::ValueId v : *values) bytes += bytes_stored(graph, v);
  const double waits =
      2.0 * (m.ddr_latency + m.instruction_overhead) + static_cast<double>(cost::first_fetch_cycles(m));
  return cycles_to_seconds(bytes / m.ddr_rate() + waits, m);
}

}  // namespace mrvlc::accel

// Which ONNX nodes targets took, and the passes for quantised networks on all others.
#include "stages/integers_left.h"

#include <algorithm>

#include "mrvlc/ir/lineage.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/passes/fences.h"

namespace mrvlc::driver {
namespace {

bool reads_integers(const ir::Graph& graph) {
  for (size_t i = 0; i < graph.node_slots(); ++i) {
    const ir::Node& n = graph.node(ir::NodeId(i));
    if (!n.erased && n.is(Op::DequantizeLinear) && !graph.is_constant(n.inputs[0])) return true;
  }
  return false;
}

bool of_quantize(const ir::Node& n) {
  return n.is(Op::QuantizeLinear, Op::DequantizeLinear);
}

bool float_product(const ir::Graph& graph, const ir::Node& n) {
  return n.is(Op::Conv, Op::Gemm, Op::MatMul) && graph.value(n.outputs[0]).type.elem == ElementType::F32;
}

}  // namespace

bool is_quantized(const ir::Graph& imported) {
  bool found = reads_integers(imported);
  ir::for_each_body(imported, [&](const ir::Graph& body) { found = found || reads_integers(body); });
  return found;
}

TakenSources::TakenSources(const ir::Graph& graph, const partition::Partition& partition)
    : taken_(graph.sources().size(), false) {
  add(graph, partition);
  for (const partition::BodyPartition& body : partition.bodies) add(*body.graph, body.partition);
}

void TakenSources::add(const ir::Graph& graph, const partition::Partition& partition) {
  for (const partition::NodeDecision& d : partition.decisions) {
    const ir::Node& n = graph.node(d.node);
    if (!d.on_target()) {
      product_left_ = product_left_ || float_product(graph, n);
      any_left_ = any_left_ || !of_quantize(n);
      continue;
    }
    for (ir::SourceId s : graph.lineage(d.node).sources) taken_[s.index()] = true;
  }
}

bool TakenSources::holds(const ir::Graph& graph, const ir::Node& node) const {
  // Within a pass a new node has no sources yet.
  return std::ranges::any_of(ir::sources_of(graph, {&node.id, 1}),
                             [&](ir::SourceId s) { return taken_[s.index()]; });
}

bool TakenSources::both_left(const ir::Graph& graph, ir::ValueId value, ir::NodeId user) const {
  const ir::NodeId producer = graph.value(value).producer;
  if (!producer.valid() || holds(graph, graph.node(user))) return false;
  const ir::Node& n = graph.node(producer);
  return n.is(Op::DequantizeLinear) || !holds(graph, n);
}

Status TakenSources::run_integer_passes(ir::Graph& graph, const passes::RunOptions& options,
                                        bool integers_first) const {
  passes::RunOptions run = options;
  if (integers_first) {
    run.context.reserved = [this](const auto& g, const auto& n) { return !holds(g, n); };
    MRVLC_TRY(passes::run_passes(graph, passes::integer_pipeline(), run));
  }
  run.context.largest_batch = run.context.longest_row = INT64_MAX;
  run.context.reserved = [this](const auto& g, const auto& n) { return holds(g, n); };
  return passes::run_passes(graph, passes::integer_pipeline(), run);
}

void raise_fences(ir::Graph& graph, const partition::Pins* pins, const TakenSources* taken) {
  if (pins == nullptr || !pins->fences()) return;
  passes::raise_fences(graph, [&](ir::ValueId value, ir::NodeId user) -> int64_t {
    const bool free = taken != nullptr && taken->both_left(graph, value, user);
    return free ? 0 : pins->fence(graph, value, user);
  });
}

}  // namespace mrvlc::driver

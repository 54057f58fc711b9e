// Messages about weights, kernels and memory.
#include "stages/host_messages.h"

#include "mrvlc/support/diag/chost.h"
#include "mrvlc/support/saturating.h"
#include "output/half_weights.h"
#include "stages/ineffective_tuning.h"

namespace mrvlc::driver {
namespace {

// From so many bytes on memory is told of for any model; from fewer, where it is so many times the weights.
// Networks on images have arenas of 100 times their weights, and up to 100 MiB.
constexpr int64_t kAlways = int64_t{1} << 30, kLeast = int64_t{1} << 28, kTimes = 10;

// The option that bounds most: of an input where its shape is open, else of values.
std::string remedy(const ir::Graph& graph) {
  for (ir::ValueId id : graph.inputs()) {
    const ir::Value& v = graph.value(id);
    if (!v.type.is_static())
      return fmt::format("--input-shape '{}=...', --bound VALUE=DIMS", printable(v.name));
  }
  return "--bound VALUE=DIMS, or fewer elements in --input-shape or --batch";
}

void warn_memory(const CompiledModel& m, Diagnostics& diagnostics) {
  const int64_t bytes = saturating_add(m.host.arena_bytes, m.host.port_bytes);
  const bool times = bytes >= kLeast && bytes / kTimes > m.host.weights_bytes;
  if (m.options.host.arena_limit != chost::kArenaLimit || (bytes < kAlways && !times)) return;
  const chost::ArenaPeak& peak = m.host.peak;
  Diag diag = make_diag<DiagCode::MRV0640>(bytes, m.host.weights_bytes, m.host.arena_bytes, m.host.port_bytes,
                                           peak.alive.empty() ? "nothing" : peak.alive, remedy(m.model.graph),
                                           m.host.arena_bytes);
  if (!peak.op.empty()) diag = at_node(std::move(diag), peak.node, peak.op);
  diagnostics.add(std::move(diag));
}

void warn_weights(const CompiledModel& m, Diagnostics& diagnostics) {
  if (m.host.weights == m.options.host.weights || m.host.weights != chost::WeightsAs::Blob) return;
  diagnostics.add(make_diag<DiagCode::MRV0643>(m.host.weights_bytes, m.options.host.link_limit, m.name));
}

void tell_states(const CompiledModel& m, Diagnostics& diagnostics) {
  for (const chost::StateUse& s : m.host.states)
    diagnostics.add(make_diag<DiagCode::MRV0613>(
        printable(s.input), printable(s.output), s.bytes,
        s.obstacle.empty() ? "in place" : fmt::format("copied at the end of a run, as {}", s.obstacle)));
}

}  // namespace

void tell_host(const CompiledModel& m, Diagnostics& diagnostics) {
  tell_half_weights(m, m.options, diagnostics);
  warn_ineffective_tuning(m.options, m.inputs.tuning, m.host, diagnostics);
  warn_memory(m, diagnostics);
  warn_weights(m, diagnostics);
  tell_states(m, diagnostics);
}

}  // namespace mrvlc::driver

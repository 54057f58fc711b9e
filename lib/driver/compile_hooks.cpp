// What all trial compiles have in common.
#include "compile_hooks.h"

namespace mrvlc::driver {

partition::Costs costs_of(const CompiledModel& m, const CompileHooks& hooks,
                          const partition::Options& options) {
  partition::Costs costs{m.host_model, [&m](const ir::Graph& graph, const partition::Region& r) {
                           return backend::seconds_alone(*m.backend, graph, r);
                         }};
  if (options.precisions.empty() && !(hooks.choice && !hooks.choice->precisions.empty())) return costs;
  costs.keep = [&](const ir::Graph& graph, partition::Region& r) {
    partition::assign_precisions(graph, r, options);
    if (hooks.choice) apply_precisions(*hooks.choice, graph, r);
  };
  return costs;
}

CompileOptions for_trial(const CompileOptions& options) {
  CompileOptions out = options;
  out.timing.clear();
  out.measure_size.clear();
  out.depfile.clear();
  out.dump_ir.clear();
  out.dump_stages.clear();
  out.log = Log();
  return out;
}

CompileOptions for_measuring(const CompileOptions& options, CompileOptions::Probe probe) {
  CompileOptions out = for_trial(options);
  out.accuracy.reset();
  out.objective = CompileOptions::Objective::Speed;
  out.fail_on_fallback = out.fail_on_accuracy = false;
  out.probe = probe;
  return out;
}

}  // namespace mrvlc::driver

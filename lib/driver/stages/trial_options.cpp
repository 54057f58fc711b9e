// What a compile that is one of several does not do.
#include "stages/stages.h"

namespace mrvlc::driver {

CompileOptions for_trial(const CompileOptions& options) {
  CompileOptions out = options;
  out.timing.clear();
  out.measure_size.clear();
  out.depfile = {};
  out.dump_ir.clear();
  out.accelerator.stages.clear();
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

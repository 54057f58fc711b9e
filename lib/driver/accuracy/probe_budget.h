// How many samples a probe has time for. Time is counted (run_cost.h), never measured.
#pragma once
#include "model/compiled_model.h"
#include "mrvlc/interp/interp.h"

namespace mrvlc::driver {

struct ProbePlan {
  size_t samples = 0;
  std::string why_not;         // where there are none
  std::optional<double> each;  // seconds for one, where they can be counted
};
// `kept`: those of data there are. `choices`: so many, where there is time, that each branch is taken.
ProbePlan plan_probe(const PlacedModel& m, const CompileOptions& options, size_t kept, size_t choices);

// --accuracy asks for a measurement, whatever it costs.
bool probes_always(const CompileOptions& options);
// Bytes of live tensors.
interp::Options room_of(const CompileOptions& options);
// Of the multiply-accumulates, bodies of control flow included: the share on accelerators.
double share_of_macs(const PlacedModel& m);

}  // namespace mrvlc::driver

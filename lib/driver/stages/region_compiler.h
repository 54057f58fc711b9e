// The accelerator's part of one compile: binaries of the regions, and their times.
#pragma once
#include "model/compiled_model.h"

namespace mrvlc::driver {

class RegionCompiler {
 public:
  // `texts`: of --dump-stage. Warnings go to `diagnostics`.
  RegionCompiler(CodedModel& m, const CompileOptions& options, Diagnostics& diagnostics,
                 std::vector<std::string>& texts);

  // Appends to m.regions. Weights that no node reads any more are given back.
  Status compile(const partition::PlacedRegion& placed);

 private:
  void discard_weights(const partition::Region& region);

  CodedModel& m_;
  const CompileOptions& options_;
  Diagnostics& diagnostics_;
  std::vector<std::string>& texts_;
  std::vector<uint32_t> region_of_;  // by node; UINT32_MAX on the CPU
};

// The times of all of m.regions, as their back end counts them.
Status time_regions(ProbedModel& m);

}  // namespace mrvlc::driver

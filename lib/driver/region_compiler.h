// The accelerator's part of one compile: binaries of the regions, and their times.
#pragma once
#include "compiled_model.h"

namespace mrvlc::driver {

class RegionCompiler {
 public:
  // `dump` receives the texts of stages. Warnings go to `diagnostics`.
  RegionCompiler(CompiledModel& m, const CompileOptions& options, Diagnostics& diagnostics,
                 const std::function<void(std::string)>& dump);

  // Appends to m.regions. Weights that no node reads any more are given back.
  Status compile(const partition::PlacedRegion& placed);

 private:
  void discard_weights(const partition::Region& region);

  CompiledModel& m_;
  const CompileOptions& options_;
  Diagnostics& diagnostics_;
  const std::function<void(std::string)>& dump_;
  std::vector<uint32_t> region_of_;  // by node; UINT32_MAX on the CPU
};

// The times of all of m.regions, as their back end counts them.
Status time_regions(CompiledModel& m);

}  // namespace mrvlc::driver

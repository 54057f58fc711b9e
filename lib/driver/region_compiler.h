// The accelerator's part of one compile: binaries of the regions, and their times.
#pragma once
#include "compiled_model.h"
#include "mrvlc/accel/stages.h"

namespace mrvlc::driver {

class RegionCompiler {
 public:
  // `stages`: those whose text `dump` receives. Warnings go to `diagnostics`.
  RegionCompiler(CompiledModel& m, const CompileOptions& options, const std::vector<accel::Stage>& stages,
                 Diagnostics& diagnostics, const std::function<void(std::string)>& dump);

  // Appends to m.regions. Weights that no node reads any more are given back.
  Status compile(const partition::Region& region);
  // Appends the container of the region that was compiled last to m.binaries.
  Status encode();

 private:
  void discard_weights(const partition::Region& region);

  CompiledModel& m_;
  const CompileOptions& options_;
  const std::vector<accel::Stage>& stages_;
  Diagnostics& diagnostics_;
  const std::function<void(std::string)>& dump_;
  std::vector<uint32_t> region_of_;  // by node; UINT32_MAX on the CPU
};

// Of a region that may or may not become part of the program: by the cycles simulated, which report.json has
// too; nullopt where it does not compile.
std::optional<double> seconds_alone(const CompiledModel& m, const CompileOptions& options,
                                    const partition::Region& region);

// What the simulator counts for each of m.binaries. A hazard in one is MRV0007.
Status time_regions(CompiledModel& m);

}  // namespace mrvlc::driver

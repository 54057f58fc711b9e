// `mrvlc calibrate-host`: a host model (docs/partition.md) from what networks take on a machine.
#pragma once
#include "mrvlc/driver/driver.h"

namespace mrvlc::driver {

struct HostCalibration {
  std::vector<std::filesystem::path> models;
  CompileOptions compile;  // what concerns the import, of all models; host_model: what is measured against
  RunOptions run;          // C compiler, its flags, and where programs run; bench: runs of each model
  std::filesystem::path out;
  std::string name;                                                         // of the host model
  std::function<void(std::string_view, size_t model, size_t of)> progress;  // may be null
};
// Compiles the models for the host alone, runs them, fits the rates of the host model that options name to
// the times of their functions, and writes it. Rates that no model shows change by the factor that the others
// do in the middle. A summary; nullopt: `diagnostics` say why and nothing was written.
std::optional<std::string> calibrate_host(const HostCalibration& options, Diagnostics& diagnostics);

}  // namespace mrvlc::driver

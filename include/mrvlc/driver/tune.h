// `mrvlc tune`: kernels of the host's layers chosen by measurement (docs/tuning.md).
#pragma once
#include "mrvlc/driver/driver.h"

namespace mrvlc::driver {

struct TuneOptions {
  CompileOptions compile;  // the model, how it is imported, and options of the host's code
  RunOptions run;          // C compiler, its flags, and where programs run
  std::filesystem::path out;
  double seconds = 0;  // after so many nothing more is measured, but for the whole; 0: no limit
  std::function<void(std::string_view step, size_t done, size_t of)> progress;  // may be null
};
// Compiles the model for the host with the variants of its layers, measures these, chooses, and measures the
// whole with what was chosen: what makes it no faster is not kept. The file is written after every round, and
// a later call goes on where an earlier one ended, if the network and all it is measured with are the same. A
// summary; nullopt: `diagnostics` say why, or it was interrupted.
std::optional<std::string> tune(const TuneOptions& options, Diagnostics& diagnostics);

}  // namespace mrvlc::driver

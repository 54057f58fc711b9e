// The targets of a compile, opened by the names of --target.
#pragma once
#include "libraries.h"
#include "mrvlc/driver/options.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::driver {

struct Targets {
  bool has_accelerator = false;
  target::TargetText accelerator;
  target::Machine machine;    // cn10ka where there is none: for questions about numbers, nothing runs there
  size_t accelerator_at = 0;  // libraries named before it
  Libraries libraries;
};

// At most one accelerator, any number of libraries; MRV0004, MRV0354, and what is wrong with a package.
Result<Targets> find_targets(const CompileOptions& options, std::string_view model, Diagnostics& diagnostics);

}  // namespace mrvlc::driver

// The targets of a compile, opened by the names of --target.
#pragma once
#include "libraries.h"
#include "mrvlc/backends/open.h"
#include "mrvlc/driver/options.h"
#include "mrvlc/passes/pass.h"

namespace mrvlc::driver {

struct Targets {
  bool has_accelerator = false;
  target::TargetText accelerator;
  backends::Opened backend;   // the default one where there is none, see CompiledModel
  size_t accelerator_at = 0;  // libraries named before it
  Libraries libraries;
};

// What a back end is to know of the options.
backends::Settings settings_of(const CompileOptions& options);
// The passes for an accelerator.
std::span<const std::string_view> pipeline_for(const backend::Backend& backend);
void limit_passes(passes::PassContext& context, const backend::PassLimits& limits);

// CompileOptions::target_options, into the options of their own that they are other names of: `tiles`,
// `effort`, `wb-pin`, `silicon-id`. MRV0004 for a target that is not compiled for, and for what none has.
Status apply_target_options(CompileOptions& options);

// At most one accelerator, any number of libraries; MRV0004, MRV0354, and what is wrong with a package.
Result<Targets> find_targets(const CompileOptions& options, std::string_view model, Diagnostics& diagnostics);

}  // namespace mrvlc::driver

// --target-opt TARGET.KEY=VALUE: what options of their own say of all targets (`tiles`, `effort`, `machine`,
// `wb-pin`, `silicon-id`), or what a plug-in's package declares, said of one.
#pragma once
#include <span>

#include "mrvlc/backends/settings.h"
#include "mrvlc/driver/options.h"
#include "mrvlc/target/find.h"

namespace mrvlc::driver {

// MRV0004: one is not of that form, or of a target that is not compiled for.
Status check_target_options(const CompileOptions& options);

// Those of `given` that are of the accelerator `target`, checked against what it takes: MRV0004.
Status apply_target_options(const std::string& target, const target::TargetText& text,
                            std::span<const std::string> given, backends::Settings& settings);

}  // namespace mrvlc::driver

// The targets of a compile, opened by the names of --target.
#pragma once
#include "model/compiled_model.h"
#include "model/opened_targets.h"
#include "mrvlc/driver/options.h"
#include "mrvlc/passes/pass.h"

namespace mrvlc::driver {

// The passes for an accelerator.
std::span<const std::string_view> pipeline_for(const backend::Backend& backend);
// What can be refused before anything is read: the name, OUT and files beside it, precision, target options.
Status check_request(const CompileOptions& options, const std::string& name);
// MRV0004: --dump-ir names none of them.
Status check_dump_ir(const CompileOptions& options, std::span<const std::string_view> pipeline);
void limit_passes(passes::PassContext& context, const backend::PassLimits& limits);

// At most backend::kMostAccelerators, any number of libraries; MRV0004, MRV0354, and what is wrong with a
// package.
Result<Targets> find_targets(const CompileOptions& options, std::string_view model, Diagnostics& diagnostics);

// Makes them the model's; options that hold for the first of them are settled.
Status take_accelerators(const std::vector<OpenedAccelerator>& accelerators, CompileOptions& options,
                         OpenedModel& m);
// The files of its package.
void note_package(const OpenedAccelerator& accelerator, std::vector<ReadFile>& read);

}  // namespace mrvlc::driver

// OUT is written, and what the command line says of it.
#pragma once
#include <functional>

#include "model/compiled_model.h"
#include "model/report.h"

namespace mrvlc::driver {

// The seven lines that `mrvlc compile` ends with.
std::vector<std::string> summary(const CompiledModel& m, const CompileOptions& options, const Report& report,
                                 size_t warnings);
// Writes OUT; `before_commit` runs when all is written and nothing is in place yet, and its error keeps OUT
// away. When OUT is in place, the work is done: an interrupt that comes later does not undo it.
Status write_output(const CompiledModel& m, const CompileOptions& options,
                    const std::function<Status(const OutputDir&)>& before_commit, Report& report);

}  // namespace mrvlc::driver

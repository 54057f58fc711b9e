// OUT is written, and what the command line says of it.
#pragma once
#include <functional>

#include "model/compiled_model.h"
#include "model/report.h"

namespace mrvlc::driver {

// The seven lines that `mrvlc compile` ends with.
std::vector<std::string> summary(const CompiledModel& m, const CompileOptions& options, const Report& report,
                                 size_t warnings);
// manifest.json of what was written into `dir`.
Json manifest_json(const CompiledModel& m, const CompileOptions& options, const OutputDir& dir);

// An error of one keeps OUT away.
struct WriteHooks {
  std::function<Status(OutputDir&)> before_manifest;      // all but the manifest is written
  std::function<Status(const OutputDir&)> before_commit;  // all is, and nothing is in place yet
};
// Writes OUT. When it is in place, the work is done: an interrupt that comes later does not undo it.
Status write_output(const CompiledModel& m, const CompileOptions& options, const WriteHooks& hooks,
                    Report& report);

}  // namespace mrvlc::driver

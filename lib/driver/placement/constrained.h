// All constraints of a compile, those that only a trial placement can tell among them.
#pragma once
#include "compile_hooks.h"
#include "compiled_model.h"
#include "constraints.h"

namespace mrvlc::driver {

struct Constrained {
  std::vector<Constraint> asked;     // as the user says them, for placement.json
  std::vector<Constraint> resolved;  // with ids in the place of rules
  std::optional<Placed> unbordered;  // what comes about without borders, where there are some
  PlacementFile file;                // of --placement
  bool edited = false;               // it says another placement than comes about without it
};

// `file`: the text of --placement, or empty. MRV1070 when it was written for another model than that of the
// hash.
Result<Constrained> constrain(const CompileOptions& options, const std::string& file,
                              const CompileHooks& hooks, const std::string& model_sha256,
                              Diagnostics& diagnostics);

// MRV1072 for members of the file that were changed in vain; `m` is compiled.
void warn_unread(const Constrained& constrained, const CompiledModel& m, const CompileOptions& options,
                 Diagnostics& diagnostics);

}  // namespace mrvlc::driver

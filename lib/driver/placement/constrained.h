// All constraints of a compile, those that only a trial placement can tell among them.
#pragma once
#include "compile_hooks.h"
#include "constraints.h"

namespace mrvlc::driver {

struct Constrained {
  std::vector<Constraint> asked;     // as the user says them, for placement.json
  std::vector<Constraint> resolved;  // with ids in the place of rules
  std::optional<Placed> unbordered;  // what comes about without borders, where there are some
};

// `file`: the text of --placement, or empty.
Result<Constrained> constrain(const CompileOptions& options, const std::string& file,
                              const CompileHooks& hooks);

}  // namespace mrvlc::driver

#include "targets_of.h"

#include <algorithm>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/target.h"
#include "mrvlc/target/library.h"

namespace mrvlc::driver {

Result<Targets> find_targets(const CompileOptions& options, std::string_view model,
                             Diagnostics& diagnostics) {
  Targets out;
  for (auto it = options.targets.begin(); it != options.targets.end(); ++it) {
    if (std::find(options.targets.begin(), it, *it) != it)
      return make_diag<DiagCode::MRV0354>(printable(*it));
    if (*it == "host") continue;
    MRVLC_ASSIGN(target::TargetText text, target::find_target(*it, options.target_dirs));
    if (target::is_library(text.json)) {
      MRVLC_TRY(add_library(*it, text, model, out.libraries, diagnostics));
      continue;
    }
    if (out.has_accelerator)
      return make_diag<DiagCode::MRV0004>("--target: at most one accelerator in this version");
    out.has_accelerator = true;
    out.accelerator_at = out.libraries.rules.size();
    MRVLC_ASSIGN(out.machine, target::read_machine(*it, text));
    out.accelerator = std::move(text);
  }
  if (!out.has_accelerator) {
    MRVLC_ASSIGN(out.machine, target::load_machine("cn10ka", {}));
  }
  return out;
}

}  // namespace mrvlc::driver

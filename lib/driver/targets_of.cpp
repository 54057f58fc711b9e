#include "targets_of.h"

#include <algorithm>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/target.h"
#include "mrvlc/target/library.h"

namespace mrvlc::driver {

backends::Settings settings_of(const CompileOptions& options) {
  return {options.tiles, options.effort, options.pin_weights, options.silicon_id, options.dump_stages};
}

void limit_passes(passes::PassContext& context, const backend::PassLimits& limits) {
  context.half_weights = limits.half_weights;
  context.longest_row = limits.longest_row;
  context.largest_batch = limits.largest_batch;
}

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
    MRVLC_ASSIGN(out.backend, backends::open(*it, text, settings_of(options)));
    out.accelerator = std::move(text);
  }
  if (!out.has_accelerator) {
    MRVLC_ASSIGN(out.backend, backends::open_default(settings_of(options)));
  }
  return out;
}

}  // namespace mrvlc::driver

// Passes as a compile runs them: first before anything is placed, then for what targets left.
#pragma once
#include "model/compiled_model.h"
#include "stages/session.h"

namespace mrvlc::driver {

// `m` and `said` are referred to.
passes::RunOptions pass_options(Session& session, const ImportedModel& m, Said& said);
Status run_pipeline(SimplifiedModel& m, std::span<const std::string_view> pipeline,
                    const passes::RunOptions& run);

}  // namespace mrvlc::driver

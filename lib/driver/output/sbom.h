// OUT as an SPDX document: `compile --emit sbom`.
#pragma once
#include "model/compiled_model.h"
#include "mrvlc/driver/options.h"
#include "mrvlc/support/file.h"

namespace mrvlc::driver {

inline constexpr const char* kSbomFile = "sbom.spdx.json";

// MRV0004: $SOURCE_DATE_EPOCH, which says when the document was made, is no number of seconds.
Status check_sbom(const CompileOptions& options);
// Of all files that are written so far, where it is asked for.
Status write_sbom(OutputDir& dir, const CompiledModel& m, const CompileOptions& options);

}  // namespace mrvlc::driver

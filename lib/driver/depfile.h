// -MD and -MF: what OUT was made of, as a Makefile rule.
#pragma once
#include "mrvlc/driver/options.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

// "OUT/manifest.json: MODEL RULES".
std::string depfile_text(const CompileOptions& options);
// Does nothing when no file is asked for.
Status write_depfile(const CompileOptions& options);

}  // namespace mrvlc::driver

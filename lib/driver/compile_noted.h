// A compile that tells which files it has read.
#pragma once
#include "inputs/read_files.h"

namespace mrvlc::driver {

// driver::compile; the files are told also when it fails, none when it fails before the model is imported.
bool compile_noted(const CompileOptions& options, Diagnostics& diagnostics, std::vector<ReadFile>& read);

}  // namespace mrvlc::driver

// The C of a package of kind `call`, as its author wrote it.
#pragma once
#include "inputs/libraries.h"
#include "mrvlc/driver/rules_targets.h"

namespace mrvlc::driver {

// That its C files compile, and its headers declare every function that its rules call. MRV0708: what the C
// compiler says first.
Status compile_package(const std::filesystem::path& folder, const Libraries& library,
                       const PackageCompiler& compiler);

}  // namespace mrvlc::driver

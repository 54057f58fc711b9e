// The C of a package of kind `call`, as its author wrote it.
#pragma once
#include "inputs/libraries.h"

namespace mrvlc::driver {

// That its C files compile, and its headers declare every function that its rules call. MRV0708: what the C
// compiler ($CC, or cc) says.
Status compile_package(const std::filesystem::path& folder, const Libraries& library);

}  // namespace mrvlc::driver

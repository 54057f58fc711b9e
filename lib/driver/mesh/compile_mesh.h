// `mrvlc compile --target` of a mesh: the same front, another back (docs/mesh.md).
#pragma once
#include "mrvlc/driver/driver.h"

namespace mrvlc::driver {

// Whether a target is a mesh.
bool for_mesh(const CompileOptions& options);
// As compile().
bool compile_mesh(const CompileOptions& options, Diagnostics& diagnostics,
                  const std::function<void(std::string)>& dump, std::vector<std::string>* summary);

}  // namespace mrvlc::driver

// `mrvlc mesh` (docs/mesh.md).
#pragma once
#include <filesystem>
#include <string>

#include "mrvlc/support/result.h"

namespace mrvlc::driver {

// The machines that are built in, a line each.
std::string mesh_list();
// The description of one as JSON; MRV1300.
Result<std::string> mesh_show(const std::string& name);
// Proves that the program in OUT is safe, from its files alone; what is not is MRV1306 in `diagnostics`.
Result<std::string> mesh_check(const std::filesystem::path& out, Diagnostics& diagnostics);

}  // namespace mrvlc::driver

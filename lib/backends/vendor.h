// The vendor's own compiler as a back end: what comes out is its input.
#pragma once
#include "mrvlc/backends/open.h"

namespace mrvlc::backends {

// What its built-in target is called.
inline constexpr std::string_view kVendorTarget = "cn10ka-vendor";

Result<Opened> open_vendor(target::Machine machine, const Settings& settings);

}  // namespace mrvlc::backends

// What --target is unless it is said.
#pragma once

namespace mrvlc::backends {

inline constexpr const char* kDefaultTarget = "cn10ka";

}  // namespace mrvlc::backends

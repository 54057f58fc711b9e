// The text of host_model.json, compiled in by embed.cmake.
#pragma once
#include <string_view>

namespace mrvlc::partition {

extern const std::string_view kDefaultHostModelText;

}  // namespace mrvlc::partition

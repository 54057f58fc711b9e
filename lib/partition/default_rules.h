// The texts of cn10ka.rules and host_model.json, compiled in by embed.cmake.
#pragma once
#include <string_view>

namespace mrvlc::partition {

extern const std::string_view kDefaultRulesName;
extern const std::string_view kDefaultRulesText;
extern const std::string_view kDefaultHostModelText;  // of host_model.json

}  // namespace mrvlc::partition

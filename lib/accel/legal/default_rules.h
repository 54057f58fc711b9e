// The text of cn10ka.rules, compiled in by embed.cmake.
#pragma once
#include <string_view>

namespace mrvlc::accel {

extern const std::string_view kDefaultRulesName;
extern const std::string_view kDefaultRulesText;

}  // namespace mrvlc::accel

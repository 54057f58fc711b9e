// The text of cn10ka-vendor.rules, compiled in by embed.cmake.
#pragma once
#include <string_view>

namespace mrvlc::vendor {

extern const std::string_view kRulesName;
extern const std::string_view kRulesText;

}  // namespace mrvlc::vendor

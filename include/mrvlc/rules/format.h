// Rule files as they are written by convention: one clause a line, one element a line, at most 100 columns.
#pragma once
#include <string>
#include <string_view>

namespace mrvlc::rules {

// The same tokens and comments in order. For text that parses; what does not is given back as it is.
std::string format_rules(std::string_view text);

}  // namespace mrvlc::rules

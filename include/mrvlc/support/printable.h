// Text that is not ours, made fit for a terminal.
#pragma once
#include <string>
#include <string_view>

namespace mrvlc {

// printable() of diag.h, line by line: what a program printed, or a table with names in it. Line feeds and
// tabs stay, everything else that does not show is escaped.
std::string printable_lines(std::string_view text);

}  // namespace mrvlc

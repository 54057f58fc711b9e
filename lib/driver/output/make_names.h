// Names of files as make reads them.
#pragma once
#include <string>

namespace mrvlc::driver {

// As gcc -MD writes for GNU make: blanks and '#' take a backslash, backslashes in front of them are doubled,
// '$' is doubled; ':' takes a backslash as well, or it would end the targets. `patterns`: what make, and not
// Ninja, takes for a pattern of names takes one, too.
std::string make_name(const std::string& path, bool patterns);
// What ends a rule, begins a command or is a part of an archive, and no quote keeps from make.
bool make_misreads(const std::string& name);
// make takes what stands on both sides of the first '=' of a rule for a variable, whatever quotes it, unless
// a name without it comes first.
bool looks_like_variable(const std::string& name);
// $(wildcard NAME) finds this very file.
bool make_can_ask_for(const std::string& name);
// For a comparison; what make would read otherwise becomes a text that equals nothing.
std::string make_text(const std::string& text);

}  // namespace mrvlc::driver

// Entries of the ID map as lines that people read.
#pragma once
#include <string>

#include "mrvlc/idmap/idmap.h"

namespace mrvlc::idmap {

std::string source_line(const Json& source);
std::string expression_line(const Json& expression);
std::string layer_line(const Json& layer);
std::string range_line(const Json& instructions);
std::string function_line(const Json& function);
std::string call_line(const Json& call);

}  // namespace mrvlc::idmap

// Entries of the ID map as lines that people read.
#pragma once
#include <string>

#include "mrvlc/idmap/idmap.h"

namespace mrvlc::idmap {

std::string line_of(const Source& source);
std::string line_of(const Expression& expression);
std::string line_of(const Layer& layer);
std::string line_of(const Instructions& instructions);
std::string line_of(const Function& function);
std::string line_of(const Call& call);

}  // namespace mrvlc::idmap

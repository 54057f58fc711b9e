#pragma once
#include "compiled_model.h"

namespace mrvlc::driver {

// Every section, one instruction a line, with the expression that `map` (an ID map, or null) gives it.
std::string disasm_text(const isa::Binary& binary, const Json& map, int64_t region);

}  // namespace mrvlc::driver

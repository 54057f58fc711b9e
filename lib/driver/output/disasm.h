// OUT/disasm.txt and `mrvlc disasm`: the program with the expressions its instructions come from.
#pragma once
#include "compiled_model.h"

namespace mrvlc::driver {

// Every section, one instruction a line, with the expression that `ranges` give it.
std::string disasm_text(const isa::Binary& binary, const std::vector<accel::InstructionRange>& ranges);

}  // namespace mrvlc::driver

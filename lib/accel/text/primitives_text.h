// Primitive operations as text, and read back.
#pragma once
#include "text/names.h"
#include "text/record.h"

namespace mrvlc::accel {

std::string primitives_text(const Program& program, const Names& names);

struct NamedProgram {
  Program program;  // without the bytes of its weights
  Names names;
};
// Errors (MRV0802) name the line. What planning divides by and indexes with is checked.
Result<NamedProgram> read_primitives(std::string_view text);

}  // namespace mrvlc::accel

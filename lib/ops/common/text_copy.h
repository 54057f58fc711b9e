// Strided copies whose sizes are C expressions: one emission for static and dynamic shapes.
#pragma once
#include "common/dynamic_util.h"

namespace mrvlc::ops {

// As StridedCopy, in numbers where they are known.
struct TextCopy {
  Texts size, in, out;
  std::string in_offset = "0", out_offset = "0";
};

// Of input `i` to an output. Where all is known the loops are merged, and transposes cut into tiles, when
// they are written, else by a helper function when it runs.
void emit_copy(EmitContext& context, const TextCopy& copy, size_t i = 0, size_t output = 0);

}  // namespace mrvlc::ops

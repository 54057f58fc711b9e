// What operators that make texts need of the host code generator besides EmitContext.
#pragma once
#include <string>

namespace mrvlc::ops {

class TextMemory {
 public:
  virtual ~TextMemory() = default;
  // Memory for the characters of `elements` texts, from the arena; it lives until the end of the run, and
  // after it. Returns the C name of a char pointer; `bytes` becomes its size. Empty when there can be none:
  // in a loop, texts of one turn would overwrite those of the turn before.
  virtual std::string characters(int64_t elements, int64_t& bytes) = 0;
};

}  // namespace mrvlc::ops

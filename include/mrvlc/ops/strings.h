// What operators that make texts need of the host code generator besides EmitContext.
#pragma once
#include <cstdint>
#include <string>

namespace mrvlc::ops {

class TextMemory {
 public:
  virtual ~TextMemory() = default;
  // Bytes that so many texts of unknown length get.
  virtual int64_t bytes_of_texts(int64_t elements) const = 0;
  // Memory for characters, from the arena; it lives until the end of the run, and after it. Returns the C
  // name of a char pointer; empty when there can be none: in a loop that may turn any number of times, as
  // texts of all turns are kept.
  virtual std::string characters(int64_t bytes) = 0;
};

}  // namespace mrvlc::ops

// Names of the buffers in the arena, for a function that runs a program.
#pragma once
#include <map>
#include <string>

#include "text.h"

namespace mrvlc::chost {

// A buffer is named by what lies in it: "conv1_out", the result of node conv1; "conv1_scratch". Names are C
// identifiers, all different, and equal no other name of NAME.c.
class BufferNames {
 public:
  BufferNames(const Program& program, const ArenaResult& arena);

  // The table at the top of the function: offsets and bytes, the layers from the first to the last that need
  // them. Empty without buffers, and where the arena is too large for enumerators of C.
  std::string table() const;
  // "conv1_out, conv1_out_bytes", or the numbers without a table. Of buffers without parent.
  std::string place(BufferId buffer) const;
  // C expression of type void*: "K_DATA(conv1_out)".
  std::string address(BufferId buffer, int64_t offset) const;

 private:
  const Program& program_;
  const ArenaResult& arena_;
  const bool has_table_;
  std::map<BufferId, std::string> names_;
};

}  // namespace mrvlc::chost

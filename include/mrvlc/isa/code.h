// A section's code as bytes: instructions one by one in 256 bytes each, or compact, each as what differs from
// the last one of its opcode. docs/isa.md, Compact code.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mrvlc/isa/isa.h"

namespace mrvlc::isa {

// As the container numbers them.
enum class Encoding : uint32_t { Plain = 0, Compact = 1 };

// Of all sections together: 12 bytes of compact code can stand for a thousand of memory.
inline constexpr uint64_t kMaxCompactInstructions = uint64_t{1} << 19;

// Bytes of the encoding of each instruction, in this order: what a fetch unit reads.
std::vector<uint32_t> code_sizes(std::span<const Instruction> program, Encoding encoding);
// Never empty, as the driver refuses that: without instructions compact code is a zero byte, plain code one
// Sync.
std::string write_code(std::span<const Instruction> program, Encoding encoding);

// The instructions of section `name`: `count` of compact code, of plain code as many as there are bytes for.
// There is one encoding of every program: what write_code() would not have written is MRV0703.
Result<std::vector<Instruction>> read_code(std::string_view bytes, Encoding encoding, uint32_t count,
                                           const char* name);

}  // namespace mrvlc::isa

// Instructions as 128 bits and back, by tables of their fields, and as a line of text.
#include "machine.h"

#include <span>

namespace vta {
namespace {

struct Field {
  uint32_t Instruction::*member;
  uint32_t at, width;
  const char* name;
};
using I = Instruction;

constexpr Field kCommon[] = {{&I::opcode, 0, 3, ""},
                             {&I::pop_prev, 3, 1, "pop_prev"},
                             {&I::pop_next, 4, 1, "pop_next"},
                             {&I::push_prev, 5, 1, "push_prev"},
                             {&I::push_next, 6, 1, "push_next"}};
constexpr Field kMoves[] = {{&I::memory, 7, 3, ""},         {&I::sram, 10, 16, "sram"},
                            {&I::dram, 26, 32, "dram"},     {&I::y, 64, 16, "y"},
                            {&I::x, 80, 16, "x"},           {&I::stride, 96, 16, "stride"},
                            {&I::pad_top, 112, 4, "top"},   {&I::pad_bottom, 116, 4, "bottom"},
                            {&I::pad_left, 120, 4, "left"}, {&I::pad_right, 124, 4, "right"}};
constexpr Field kLoops[] = {
    {&I::reset, 7, 1, "reset"},     {&I::uop_begin, 8, 13, "uop"},    {&I::uop_end, 21, 14, "end"},
    {&I::iter_out, 35, 14, "out"},  {&I::iter_in, 49, 14, "in"},      {&I::dst_out, 64, 11, "dst_out"},
    {&I::dst_in, 75, 11, "dst_in"}, {&I::src_out, 86, 11, "src_out"}, {&I::src_in, 97, 11, "src_in"}};
constexpr Field kProducts[] = {{&I::wgt_out, 108, 10, "wgt_out"}, {&I::wgt_in, 118, 10, "wgt_in"}};
constexpr Field kScalar[] = {{&I::alu, 108, 3, ""}, {&I::use_imm, 111, 1, ""}, {&I::imm, 112, 16, ""}};

// The tables that an opcode has.
std::array<std::span<const Field>, 3> fields_of(uint32_t opcode) {
  if (opcode == kLoad || opcode == kStore) return {kCommon, kMoves, {}};
  if (opcode == kGemm) return {kCommon, kLoops, kProducts};
  if (opcode == kAlu) return {kCommon, kLoops, kScalar};
  return {kCommon, {}, {}};
}

const char* name_of(const Instruction& i) {
  static constexpr const char* kAluNames[] = {"MIN", "MAX", "ADD", "SHR", "MUL", "ALU5", "ALU6", "ALU7"};
  static constexpr const char* kNames[] = {"LOAD", "STORE", "GEMM", "FINISH", "ALU", "OP5", "OP6", "OP7"};
  return i.opcode == kAlu ? kAluNames[i.alu & 7] : kNames[i.opcode & 7];
}

}  // namespace

Unit Instruction::unit() const {
  if (opcode == kStore) return kStoreUnit;
  return opcode == kLoad && (memory == kInp || memory == kWgt) ? kLoadUnit : kComputeUnit;
}

Bits encode(const Instruction& instruction) {
  Bits bits{};
  for (const auto& table : fields_of(instruction.opcode))
    for (const Field& f : table) {
      const uint64_t value = instruction.*f.member & ((uint64_t{1} << f.width) - 1);
      bits[f.at / 64] |= value << f.at % 64;
    }
  return bits;
}

Instruction decode(const Bits& bits) {
  Instruction made;
  made.opcode = static_cast<uint32_t>(bits[0] & 7);
  for (const auto& table : fields_of(made.opcode))
    for (const Field& f : table)
      made.*f.member = static_cast<uint32_t>(bits[f.at / 64] >> f.at % 64 & ((uint64_t{1} << f.width) - 1));
  return made;
}

std::string text(const Instruction& instruction) {
  static constexpr const char* kMemories[] = {"UOP", "WGT", "INP", "ACC", "OUT", "ACC8", "MEM6", "MEM7"};
  std::string line = name_of(instruction);
  if (instruction.moves()) line += std::string(" ") + kMemories[instruction.memory & 7];
  for (const auto& table : fields_of(instruction.opcode))
    for (const Field& f : table)
      if (*f.name && instruction.*f.member)
        line += std::string(" ") + f.name + " " + std::to_string(instruction.*f.member);
  if (instruction.opcode == kAlu && instruction.use_imm)
    line += " imm " + std::to_string(instruction.immediate());
  return line;
}

}  // namespace vta

// The machine of the sample configuration: memories, instructions and their bits, boards (docs/vta.md).
#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace vta {

inline constexpr uint32_t kBlock = 16;       // rows and columns of a block of weights, channels of an element
inline constexpr uint32_t kUopDepth = 2048;  // 8192 in HLS; Chisel has the fewest
inline constexpr uint32_t kInpDepth = 2048, kWgtDepth = 1024, kAccDepth = 2048;
inline constexpr uint32_t kMostIterations = 16383;

enum Opcode : uint32_t { kLoad = 0, kStore = 1, kGemm = 2, kFinish = 3, kAlu = 4 };
enum Memory : uint32_t { kUop = 0, kWgt = 1, kInp = 2, kAcc = 3, kOut = 4 };
enum AluOp : uint32_t { kMin = 0, kMax = 1, kAdd = 2, kShr = 3 };
enum Unit : uint32_t { kLoadUnit = 0, kComputeUnit = 1, kStoreUnit = 2 };

inline constexpr std::array<uint32_t, 5> kElementBytes = {4, 256, 16, 64, 16};
inline constexpr std::array<uint32_t, 5> kDepth = {kUopDepth, kWgtDepth, kInpDepth, kAccDepth, kAccDepth};

struct Instruction {
  uint32_t opcode = kLoad;
  uint32_t pop_prev = 0, pop_next = 0, push_prev = 0, push_next = 0;
  // LOAD and STORE; addresses and sizes count elements of the memory.
  uint32_t memory = kUop, sram = 0, dram = 0, y = 0, x = 0, stride = 0;
  uint32_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
  // GEMM and ALU.
  uint32_t reset = 0, uop_begin = 0, uop_end = 0, iter_out = 1, iter_in = 1;
  uint32_t dst_out = 0, dst_in = 0, src_out = 0, src_in = 0, wgt_out = 0, wgt_in = 0;
  uint32_t alu = kMin, use_imm = 0, imm = 0;

  int32_t immediate() const { return static_cast<int16_t>(imm); }
  Unit unit() const;
  bool moves() const { return opcode == kLoad || opcode == kStore; }
};

using Bits = std::array<uint64_t, 2>;
Bits encode(const Instruction& instruction);
Instruction decode(const Bits& bits);
std::string text(const Instruction& instruction);

struct Uop {
  uint32_t dst = 0, src = 0, wgt = 0;
};
constexpr uint32_t encode(const Uop& u) {
  return u.dst | u.src << 11 | u.wgt << 22;
}
constexpr Uop decode(uint32_t bits) {
  return {bits & 2047, bits >> 11 & 2047, bits >> 22};
}

struct Board {
  const char* name;
  double megahertz;
  uint32_t bus_bytes;
  uint32_t alu_immediate, alu_operands;  // cycles of a step
};
inline constexpr std::array<Board, 4> kBoards = {{{"pynq", 100, 8, 2, 2},
                                                  {"ultra96", 333, 16, 2, 2},
                                                  {"zcu104", 333, 16, 2, 2},
                                                  {"de10nano", 100, 8, 1, 2}}};
inline constexpr uint32_t kFill = 7;  // cycles until the first step of an instruction is through

}  // namespace vta

// A machine built from docs/isa.md and docs/timing.md alone, as plainly as they are written: one element, one
// byte, one instruction at a time. It shares only the decoded form of instructions with the simulator that it
// judges.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "mrvlc/isa/isa.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::documented {

struct Tile {
  std::vector<uint8_t> ocm;
  std::vector<float> sums;                                  // accumulator pixels x 16
  std::map<std::array<uint32_t, 3>, int64_t> integer_sums;  // by channel, row, column
};

struct State {
  std::vector<Tile> tiles;
  std::vector<uint8_t> ddr;
};

size_t size_of(isa::DataType type);  // bytes
bool integers(isa::DataType type);   // of 8 bits
int operands_of(isa::EwOp op);       // that it reads

void execute(const isa::Instruction& instruction, State& state);

struct Times {
  uint64_t start = 0, begin = 0, moved = 0, end = 0;
  bool operator==(const Times&) const = default;
};

// By instruction. Waits name earlier instructions, so that every program ends. `bytes`: of the encoding of
// each.
std::vector<Times> times(const std::vector<isa::Instruction>& program, const target::Machine& machine,
                         const std::vector<uint64_t>& bytes);

}  // namespace mrvlc::documented

// The placed tile program as instructions with waits.
#pragma once
#include "mrvlc/target/machine.h"
#include "tile_program.h"

namespace mrvlc::accel {

struct Emitted {
  std::vector<isa::Instruction> instructions;
  std::vector<InstructionRange> ranges;
  std::vector<OcmUse> uses;  // without names
  int64_t ocm_peak = 0;
};
// DDR below `constant_end` is never written; it ends at `ddr_end`.
Emitted emit(TileProgram&& program, uint64_t constant_end, uint64_t ddr_end);

}  // namespace mrvlc::accel

// The placed tile program as instructions with waits.
#pragma once
#include "mrvlc/target/machine.h"
#include "tile_program.h"

namespace mrvlc::accel {

struct Emitted {
  std::vector<isa::Instruction> init, instructions;  // of the sections init and main
  std::vector<InstructionRange> init_ranges, ranges;
  std::vector<OcmUse> uses;  // without names
  int64_t ocm_peak = 0;
};
Emitted emit(TileProgram&& program, uint64_t ddr_end);

}  // namespace mrvlc::accel

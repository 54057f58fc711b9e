// The placed tile program as instructions with waits.
#pragma once
#include "code/tile_program.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::accel {

struct Use {
  backend::MemoryUse use;        // without its name
  uint32_t buffer = UINT32_MAX;  // the stored tensor, if it is one
};

struct Emitted {
  std::vector<isa::Instruction> init, instructions;  // of the sections init and main
  std::vector<backend::CodeRange> init_ranges, ranges;
  std::vector<Use> uses;  // by first instruction, then address
  int64_t ocm_peak = 0;
  std::vector<std::pair<uint32_t, uint32_t>> primitives;  // of main, [begin, end) of each primitive's steps
};
Emitted emit(TileProgram&& program, uint64_t ddr_end);

}  // namespace mrvlc::accel

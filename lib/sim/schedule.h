// When each instruction of a section starts and ends.
#pragma once
#include <vector>

#include "mrvlc/isa/isa.h"
#include "mrvlc/support/result.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::sim {

struct Slot {
  uint64_t ready = 0, start = 0, end = 0;  // cycles since the section began
  uint64_t macs = 0, ddr_read_bytes = 0, ddr_write_bytes = 0;
};

struct Schedule {
  std::vector<Slot> slots;       // by instruction
  std::vector<uint32_t> order;   // instructions by start time, then index
  std::vector<uint32_t> issued;  // by start time, each after all it waits for
  uint64_t cycles = 0;
};

// A section that cannot finish is a diagnostic that names an instruction and what it waits for.
Result<Schedule> schedule(const std::vector<isa::Instruction>& program, const target::Machine& machine,
                          const char* section);

}  // namespace mrvlc::sim

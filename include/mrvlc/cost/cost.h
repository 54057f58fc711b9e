// What an instruction asks of the machine, from its fields alone: never from data. The model is
// docs/timing.md.
#pragma once
#include <cstdint>

#include "mrvlc/isa/isa.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::cost {

struct Cost {
  uint64_t engine_cycles = 0;  // with memory ports of its own; without instruction_overhead
  uint64_t read_bytes = 0;     // through the OCM read port of the own tile
  uint64_t write_bytes =
      0;  // through the OCM write port of the own tile; for a copy, of every destination tile
  uint8_t link_tiles = 0;                            // tiles whose link carries write_bytes
  uint64_t ddr_read_bytes = 0, ddr_write_bytes = 0;  // bursts counted whole
  uint64_t macs = 0;
  bool integers = false;  // these are products of integers
};

// About when the first instructions of a section are in their queues.
inline uint64_t first_fetch_cycles(const target::Machine& m) {
  return m.fetch_buffer == 0 ? 0 : m.ddr_cycles(m.ddr_burst) + m.ddr_latency;
}

Cost cost_of(const isa::Instruction& instruction, const target::Machine& machine);

// Product that stays at UINT64_MAX instead of wrapping.
template <class... Args>
constexpr uint64_t saturating_product(Args... factors) {
  uint64_t r = 1;
  auto multiply = [&r](uint64_t f) {
    if (__builtin_mul_overflow(r, f, &r)) r = UINT64_MAX;
  };
  (multiply(static_cast<uint64_t>(factors)), ...);
  return r;
}

}  // namespace mrvlc::cost

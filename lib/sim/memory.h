// What the machine remembers: DDR, the on-chip memories, the accumulators.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "mrvlc/isa/container.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::sim {

// Addresses have been checked by validate(); nothing here checks again.
class Memory {
 public:
  Memory(const isa::Binary& binary, const target::Machine& machine);
  std::byte* ocm(uint8_t tile, uint64_t address) { return ocm_[tile].data() + address; }
  const std::byte* read_ddr(uint64_t address) const;
  std::byte* write_ddr(uint64_t address);
  // 16 fp32 sums for each of the machine's accumulator pixels; not a number until written.
  std::vector<float>& accumulators(uint8_t tile) { return accumulators_[tile]; }
  void forget_accumulators(uint8_t tile);

 private:
  struct Segment {
    uint64_t begin = 0;
    std::vector<std::byte> bytes;
  };
  const std::string& weights_;
  std::vector<Segment> segments_;
  std::vector<std::vector<std::byte>> ocm_;
  std::vector<std::vector<float>> accumulators_;
};

}  // namespace mrvlc::sim

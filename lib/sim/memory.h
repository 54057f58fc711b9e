// What the machine remembers: DDR, the on-chip memories, the accumulators.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "mrvlc/isa/container.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::sim {

// Addresses have been checked by validate(); nothing here checks again. Instructions of different queues may
// use it at the same time as long as they touch different bytes; accumulators belong to one queue.
class Memory {
 public:
  Memory(const isa::Binary& binary, const target::Machine& machine);
  std::byte* ocm(uint8_t tile, uint64_t address) { return ocm_[tile].get() + address; }
  const std::byte* read_ddr(uint64_t address) const;
  std::byte* write_ddr(uint64_t address);
  // 16 fp32 sums for each of the machine's accumulator pixels, to be written; not a number until then.
  std::vector<float>& accumulators(uint8_t tile);
  // The same as int32. Sums of one kind that are read as the other are undefined (docs/isa.md): they are kept
  // apart.
  std::vector<int32_t>& integer_accumulators(uint8_t tile);
  void forget_accumulators(uint8_t tile);

 private:
  struct Segment {
    uint64_t begin = 0;
    std::vector<std::byte> bytes;
  };
  struct Accumulators {
    std::vector<float> sums;  // these two are made when first asked for
    std::vector<int32_t> integers;
    bool written = false;  // since they were forgotten: most instructions keep nothing in them
  };
  const std::string& weights_;
  std::vector<Segment> segments_;
  std::vector<std::unique_ptr<std::byte[]>> ocm_;
  size_t sums_;  // of a tile
  std::vector<Accumulators> accumulators_;
};

}  // namespace mrvlc::sim

// Order: vector clocks over the queues, and which instruction touched a granule of 16 bytes last.
#pragma once
#include <unordered_map>

#include "machine/memory.h"

namespace mrvlc::prove {

class Races {
 public:
  explicit Races(uint32_t ocm_bytes, uint32_t tiles);
  // Begins a section: everything before it is over.
  void begin_section();
  // The next instruction of the section: what it waits for. Throws Refusal.
  void begin(const Instruction& i);
  void touch(const Touch& t);
  void end();

 private:
  using Clock = std::array<uint32_t, 32>;
  struct Granule {
    uint32_t section = 0;
    uint8_t writer_queue = 0;
    uint32_t writer = 0;                                // number in its queue, from 1; 0: none
    std::vector<std::pair<uint8_t, uint32_t>> readers;  // since, the last of each queue
  };
  Granule& granule(uint32_t space, uint64_t index);
  void check_order(uint8_t queue, uint32_t number, uint32_t space, uint64_t index) const;

  std::vector<std::vector<Granule>> tiles_;
  std::unordered_map<uint64_t, Granule> ddr_;
  std::array<std::vector<Clock>, 32> done_;  // by queue: what is over when its n-th instruction is
  Clock now_{};
  uint8_t queue_ = 0;
  uint32_t section_ = 0;
};

}  // namespace mrvlc::prove

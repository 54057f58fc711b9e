// Orders instructions that conflict. Keeps, for every byte range of DDR and of each tile's memory, who wrote
// it last and who has read it since, and turns that into the fewest waits: one a queue, none that follows
// from another wait or from what the queue already knows.
#pragma once
#include <array>
#include <map>
#include <vector>

#include "mrvlc/isa/isa.h"

namespace mrvlc::accel {

class Tracker {
 public:
  // DDR below `constant_end` is never written; reads of it need no tracking.
  explicit Tracker(uint64_t constant_end) : constant_end_(constant_end) {}
  // Gives `instruction` its waits and appends it to `out`, after Sync instructions in the same queue when it
  // needs more waits than one instruction has.
  void append(isa::Instruction instruction, std::vector<isa::Instruction>& out);

 private:
  static constexpr size_t kLanes = isa::kMaxTiles * isa::kQueues;
  using Clock = std::array<uint32_t, kLanes>;  // completed instructions known of, by lane (tile and queue)
  struct Ref {
    uint32_t lane = 0, count = 0;
  };
  struct Segment {
    uint64_t end = 0;
    Ref writer;                // count 0: nobody
    std::vector<Ref> readers;  // at most one a lane
  };
  using Memory = std::map<uint64_t, Segment>;  // by begin; no overlaps

  void split(Memory& memory, uint64_t at);
  void read(Memory& memory, uint64_t begin, uint64_t end, Ref self, Clock& needs);
  void write(Memory& memory, uint64_t begin, uint64_t end, Ref self, Clock& needs);
  std::vector<Ref> reduce(uint32_t lane, const Clock& needs) const;
  void issue(isa::Instruction instruction, uint32_t lane, std::vector<Ref> waits,
             std::vector<isa::Instruction>& out);

  uint64_t constant_end_;
  std::array<Memory, isa::kMaxTiles + 1> memories_;  // tiles, then DDR
  std::array<Clock, kLanes> known_{};                // by a lane's latest instruction when it started
  std::array<std::vector<Clock>, kLanes> history_;   // known_ of each instruction of a lane
};

}  // namespace mrvlc::accel

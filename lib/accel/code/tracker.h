// Orders instructions that conflict. Keeps who has written and read the bytes of DDR and of each tile's
// memory, and turns that into the fewest waits: one a queue, none that follows from another wait or from what
// the queue already knows.
#pragma once
#include <array>
#include <vector>

#include "mrvlc/isa/isa.h"

namespace mrvlc::accel {

class Tracker {
 public:
  // DDR below `constant_end` is never written; reads of it need no tracking. DDR ends at `ddr_end`.
  explicit Tracker(uint64_t constant_end, uint64_t ddr_end = uint64_t{1} << 30);
  // Gives `instruction` its waits and appends it to `out`, after Sync instructions in the same queue when it
  // needs more waits than one instruction has.
  void append(isa::Instruction instruction, std::vector<isa::Instruction>& out);

 private:
  static constexpr size_t kLanes = isa::kMaxTiles * isa::kQueues;
  using Clock = std::array<uint32_t, kLanes>;  // completed instructions known of, by lane (tile and queue)
  struct Ref {
    uint32_t lane = 0, count = 0;
  };
  // One access of one instruction, rounded to granules.
  struct Mark {
    uint64_t begin = 0, end = 0, run = 0, stride = 0;
    uint64_t phase = 0;  // begin modulo stride: marks are compared often, and divisions take long
    bool write = false;
    Ref by;
  };
  // Recent accesses one by one, older ones as the latest of each lane.
  struct Bucket {
    std::vector<Mark> marks;
    uint64_t old_begin = UINT64_MAX, old_end = 0;  // what the older ones lie in
    Clock old_writes{}, old_accesses{};

    void look_at(const Mark& mark, Clock& needs) const;
    void add(const Mark& mark, size_t most);
  };
  struct Memory {
    uint32_t shift = 15;          // bytes of a bucket, log2
    std::vector<Bucket> buckets;  // stretch by stretch
    Bucket wide;                  // accesses that would be in very many
  };

  static Mark mark_of(const isa::Access& access);
  static bool conflict(const Mark& a, const Mark& b);
  static uint64_t apart(const Mark& a, const Mark& b);
  static bool covers(const Mark& a, const Mark& b, uint64_t low, uint64_t high);
  static bool is_wide(const Memory& memory, const Mark& mark);
  template <class Look>
  static void for_each_bucket(const Memory& memory, const Mark& mark, Look look);
  void visit(Memory& memory, const Mark& mark, Clock& needs) const;
  void record(Memory& memory, const Mark& mark);
  std::vector<Ref> reduce(uint32_t lane, const Clock& needs) const;
  void issue(isa::Instruction instruction, uint32_t lane, std::vector<Ref> waits,
             std::vector<isa::Instruction>& out);

  uint64_t constant_end_;
  std::array<Memory, isa::kMaxTiles + 1> memories_;  // tiles, DDR
  std::array<std::vector<Clock>, kLanes>
      history_;                        // what is known when instruction n of a lane has completed
  std::array<Clock, kLanes> known_{};  // what each lane knows now
};

}  // namespace mrvlc::accel

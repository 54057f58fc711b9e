// Instructions as they are made: appended with their waits, attributed to a layer and an expression; on-chip
// memory handed out to primitives from a ring.
#pragma once
#include "mrvlc/accel/accel.h"
#include "program.h"
#include "tracker.h"
#include "transfer.h"

namespace mrvlc::accel {

class Emitter {
 public:
  Emitter(const target::Machine& machine, uint32_t tiles, uint64_t constant_end)
      : machine_(machine), tiles_(tiles), tracker_(constant_end) {}

  const target::Machine& machine() const { return machine_; }
  uint32_t tiles() const { return tiles_; }
  void set_owner(const Owner& owner) { owner_ = owner; }
  void set_expr(ir::NodeId expr) { owner_.expr = expr; }

  template <class Body>
  void emit(uint32_t tile, isa::Queue queue, Body body) {
    isa::Instruction i;
    i.tile = static_cast<uint8_t>(tile);
    i.queue = queue;
    i.body = std::move(body);
    append(std::move(i));
  }
  void load(uint8_t tiles, const Transfer& transfer, uint32_t address);
  void store(uint32_t tile, const Transfer& transfer, uint32_t address);

  // A block of every tile's memory for the primitive being generated. Blocks follow each other round the
  // memory, so that a primitive's first loads need not wait for the previous one's last stores.
  uint32_t reserve(int64_t bytes);

  std::vector<isa::Instruction> take_instructions() { return std::move(instructions_); }
  std::vector<InstructionRange> take_ranges() { return std::move(ranges_); }
  int64_t ocm_peak() const { return ocm_peak_; }

 private:
  void append(isa::Instruction instruction);
  const target::Machine& machine_;
  uint32_t tiles_;
  Tracker tracker_;
  Owner owner_;
  std::vector<isa::Instruction> instructions_;
  std::vector<InstructionRange> ranges_;
  int64_t ocm_next_ = 0, ocm_peak_ = 0;
  uint32_t rotate_ = 0;  // which tile of a set issues the next multicast
};

// The on-chip buffers of one operand: `depth` of them, used in turn, so that a block is loaded while the
// previous one is still being read. A block that is already there is not loaded again.
class InputSlot {
 public:
  InputSlot() = default;
  InputSlot(uint32_t base, int64_t bytes, uint32_t depth) : base_(base), bytes_(bytes), depth_(depth) {}
  // wanted[t]: what tile t needs; empty for a tile that needs nothing. Equal wants are served by one
  // multicast.
  uint32_t fetch(Emitter& emitter, std::vector<std::vector<Transfer>> wanted);

 private:
  uint32_t base_ = 0;
  int64_t bytes_ = 0;
  uint32_t depth_ = 1, next_ = 0, current_ = 0;
  std::vector<std::vector<Transfer>> held_;
};

class OutputSlot {
 public:
  OutputSlot() = default;
  OutputSlot(uint32_t base, int64_t bytes, uint32_t depth) : base_(base), bytes_(bytes), depth_(depth) {}
  uint32_t next() {
    uint32_t at = base_ + static_cast<uint32_t>(bytes_) * next_;
    next_ = (next_ + 1) % depth_;
    return at;
  }

 private:
  uint32_t base_ = 0;
  int64_t bytes_ = 0;
  uint32_t depth_ = 1, next_ = 0;
};

// Part `index` of `parts` of [0, total), in multiples of `align`.
struct Span {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
};
Span part_of(int64_t total, int64_t parts, int64_t index, int64_t align);

isa::Epilogue epilogue_at(const EpilogueSpec& spec, uint32_t table_address);
Transfer table_transfer(const EpilogueSpec& spec);
inline int64_t aligned(int64_t bytes, const target::Machine& machine) {
  int64_t a = machine.ocm_alignment;
  return (bytes + a - 1) / a * a;
}

}  // namespace mrvlc::accel

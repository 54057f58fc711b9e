// The program of all tiles with symbolic on-chip addresses: steps in order, each with its instructions, and
// the items of on-chip memory they refer to. Placement (placement.h) gives items a time and an address.
#pragma once
#include <array>
#include <vector>

#include "mrvlc/accel/accel.h"
#include "primitive/program.h"
#include "primitive/transfer.h"

namespace mrvlc::accel {

inline constexpr uint32_t kNoItem = UINT32_MAX;

struct Load {
  uint8_t tiles = 0;  // multicast
  Transfer transfer;
};

// A range of on-chip memory at the same address in every tile.
struct Item {
  int64_t bytes = 0;
  int64_t first = INT64_MAX, last = -1;  // steps that use it
  // What fills it from DDR before step `first`; a prefetched one may be loaded, and take room, long before.
  std::vector<Load> loads;
  bool prefetch = false;
  bool pinned = false;  // loaded by the init section, stays
  backend::MemoryUse::Kind kind = backend::MemoryUse::Kind::Workspace;
  Owner owner;
  uint32_t buffer = UINT32_MAX;  // the stored tensor it holds, if any
  // Placement.
  int64_t start = -1;               // step before which its loads are issued, all of them or
  std::vector<int64_t> load_steps;  // each before a step of its own
  int64_t address = -1;
};

// Items behind the addresses of an instruction, in the order of operand_addresses(). Addresses in the
// instruction are relative to their items.
using ItemRefs = std::array<uint32_t, 6>;
inline constexpr ItemRefs kNoItems = {kNoItem, kNoItem, kNoItem, kNoItem, kNoItem, kNoItem};

struct Code {
  isa::Instruction instruction;
  ItemRefs items = kNoItems;
  Owner owner;
};

struct TileStep {
  size_t first_code = 0;
  uint32_t primitive = 0;
  double cycles = 0;                         // estimate
  double load_cycles = 0, store_cycles = 0;  // of the DDR channel, for what is not fetched ahead
};

struct TileProgram {
  std::vector<Item> items;
  std::vector<uint32_t> fetches;  // items with loads, in the order of their first use
  std::vector<Code> code;
  std::vector<TileStep> steps;
  int64_t constant_end = 0;  // DDR below is never written
  uint32_t tiles = 1;

  size_t code_end(size_t step) const {
    return step + 1 < steps.size() ? steps[step + 1].first_code : code.size();
  }
};

// Adds the addresses of the items.
void resolve(isa::Instruction& instruction, const ItemRefs& refs, const std::vector<Item>& items);

// Writes steps; estimates their cycles from what their instructions cost.
class StepWriter {
 public:
  StepWriter(TileProgram& out, const target::Machine& machine, uint32_t tiles)
      : out_(out), machine_(machine), tiles_(tiles) {}
  const target::Machine& machine() const { return machine_; }
  uint32_t tiles() const { return tiles_; }
  uint8_t all_tiles() const { return static_cast<uint8_t>((1u << tiles_) - 1); }
  void set_owner(const Owner& owner) { owner_ = owner; }
  void set_expr(ir::NodeId expr) { owner_.expr = expr; }
  const Owner& owner() const { return owner_; }

  void set_primitive(size_t index) { primitive_ = static_cast<uint32_t>(index); }
  void begin_step();
  int64_t step() const { return static_cast<int64_t>(out_.steps.size()) - 1; }
  uint32_t add_item(Item item);
  Item& item(uint32_t index) { return out_.items[index]; }

  template <class Body>
  void emit(uint32_t tile, isa::Queue queue, Body body, const ItemRefs& refs) {
    isa::Instruction i;
    i.tile = static_cast<uint8_t>(tile);
    i.queue = queue;
    i.body = std::move(body);
    append(std::move(i), refs);
  }
  // From DDR to `offset` of an item, in the tiles of the mask, now: not ahead of its step.
  void load(uint8_t tiles, const Transfer& transfer, uint32_t item, int64_t offset);
  void store(uint32_t tile, const Transfer& transfer, uint32_t item, int64_t offset);
  void end_step();
  int64_t size() const { return static_cast<int64_t>(out_.code.size()); }
  // Instructions from `first` on, which tiles carry out side by side, in turn: the fetch unit hands them out
  // in order, and a queue that is full would hold up all other tiles.
  void take_turns(int64_t first);

 private:
  void append(isa::Instruction instruction, const ItemRefs& refs);
  void use(uint32_t item);
  TileProgram& out_;
  const target::Machine& machine_;
  uint32_t tiles_;
  Owner owner_;
  std::array<double, isa::kMaxTiles * isa::kQueues> busy_{};
  double loads_ = 0, stores_ = 0;
  bool sends_ = false;
  uint32_t rotate_ = 0, primitive_ = 0;
};

// Which tile of a set issues a multicast; taken in turn.
uint32_t issuer(uint8_t tiles, uint32_t turn);

// The on-chip buffers of one streamed operand: `depth` of them in turn, so that a block is loaded while the
// one before is still being read. A block that is still there is not loaded again.
class InputSlot {
 public:
  InputSlot() = default;
  InputSlot(uint32_t item, int64_t base, int64_t bytes, uint32_t depth)
      : item_(item), base_(base), bytes_(bytes), held_(depth) {}
  // wanted[t]: what tile t needs; empty for a tile that needs nothing. Equal wants are served by one
  // multicast. Returns the offset in the item.
  int64_t fetch(StepWriter& writer, std::vector<std::vector<Transfer>> wanted);
  uint32_t item() const { return item_; }

 private:
  uint32_t item_ = kNoItem;
  int64_t base_ = 0, bytes_ = 0;
  size_t next_ = 0;
  std::vector<std::vector<std::vector<Transfer>>> held_ = {{}};  // by buffer, then tile
};

// One load for tiles with equal wants.
std::vector<Load> multicast(const std::vector<std::vector<Transfer>>& wanted);
// Whether every tile that wants something has it.
bool covers(const std::vector<std::vector<Transfer>>& held, const std::vector<std::vector<Transfer>>& wanted);

class OutputSlot {
 public:
  OutputSlot() = default;
  OutputSlot(uint32_t item, int64_t base, int64_t bytes, uint32_t depth)
      : item_(item), base_(base), bytes_(bytes), depth_(depth) {}
  int64_t next() {
    int64_t at = base_ + bytes_ * next_;
    next_ = (next_ + 1) % depth_;
    return at;
  }
  uint32_t item() const { return item_; }

 private:
  uint32_t item_ = kNoItem;
  int64_t base_ = 0, bytes_ = 0;
  uint32_t depth_ = 1, next_ = 0;
};

isa::Epilogue epilogue_of(const EpilogueSpec& spec);  // its table at offset 0 of an item
Transfer table_transfer(const EpilogueSpec& of);

}  // namespace mrvlc::accel

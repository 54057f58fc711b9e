// Primitive operations to steps of the tile program.
#pragma once
#include <map>

#include "code/tile_program.h"
#include "plan/residency.h"

namespace mrvlc::accel {

// Tables of activations on chip. Few tables stay there from their first use to their last; many come anew
// with each primitive.
class TableItems {
 public:
  TableItems(const Program& program, const target::Machine& machine);
  int64_t resident_bytes() const { return resident_; }
  uint32_t item(const EpilogueSpec& of, size_t primitive, StepWriter& writer);

 private:
  std::map<int64_t, std::pair<uint32_t, size_t>> items_;  // item, primitive that made it
  int64_t resident_ = 0;
};

struct CodegenContext {
  const Program& program;
  const std::vector<Cut>& cuts;
  const std::vector<Residence>& residences;
  TableItems& tables;
  StepWriter& writer;
  std::map<size_t, std::vector<uint32_t>>
      collected;                       // outputs made by several primitives, by the last of them
  std::vector<uint32_t> tensor_items;  // by buffer; kNoItem until first asked for
  int64_t budget = 0;                  // bytes of on-chip memory beside the tensors that live there now
  size_t primitive = 0;                // the one at hand
  bool exchanges = true;  // what it makes is sent to the tiles that need it; else a later primitive does that

  bool on_chip(uint32_t buffer) const { return buffer != kWeights && residences[buffer].on_chip; }
  // The item of a tensor on chip, made when first asked for.
  uint32_t tensor_item(uint32_t buffer);
  // Tile `tile` has made `rect` of a buffer on chip: to the tiles that need it, and to DDR if it is an
  // output.
  void exchange(uint32_t tile, uint32_t buffer, const Rect& rect);
  // From the tile's window of the buffer to those of `window`, the same buffer or one of its copies.
  void send(uint32_t tile, uint32_t buffer, const Rect& rect, uint32_t window);
  // Collected outputs whose last part the primitive at hand has made, to DDR.
  void store_collected();
};

Status generate(const PeGroup& group, CodegenContext& context);
Status generate(const WindowOp& op, CodegenContext& context);

// DMA between a window and DDR.
Transfer window_transfer(const Residence& residence, uint32_t tile, const Rect& rect, int64_t ddr);

}  // namespace mrvlc::accel

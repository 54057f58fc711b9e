// How a PeGroup is cut: over tiles along one dimension, and into blocks that fit on-chip memory.
#pragma once
#include <optional>

#include "mrvlc/target/machine.h"
#include "program.h"
#include "transfer.h"

namespace mrvlc::accel {

// Drops dimensions of size 1, orders them as the largest operand lies in memory, joins those that every
// operand walks through as one.
void simplify(PeGroup& group);

// Dimensions that some stage reduces, which a block must hold whole.
std::vector<bool> whole_dims(const PeGroup& group);
bool spans(const PeGroup& group, const PeOperand& operand, size_t dim);

// Distinct external operands; the position in these lists is the slot.
struct PeSlots {
  std::vector<View> inputs, outputs;
  std::vector<int64_t> tables;  // byte offsets in the weights
};
PeSlots slots_of(const PeGroup& group);

struct PePlan {
  size_t cut = 0;     // dimension cut over tiles
  int64_t share = 1;  // its extent a tile
  Dims block;
  std::vector<int64_t> input_bytes, output_bytes, temp_bytes;  // of one buffer each, largest block
  bool one_block = false;                                      // a tile has a single block: no second buffers
};
// The group must fit: fits_smallest.
PePlan plan_pe(const PeGroup& group, const target::Machine& machine, uint32_t tiles);
// Whether the smallest possible block fits on-chip memory.
bool fits_smallest(const PeGroup& group, const target::Machine& machine);

}  // namespace mrvlc::accel

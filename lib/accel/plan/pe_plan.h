// How a tile works through its part of a PeGroup: in blocks that fit on-chip memory.
#pragma once
#include <optional>

#include "mrvlc/target/machine.h"
#include "plan/cut.h"

namespace mrvlc::accel {

// Drops dimensions of size 1, orders them as the largest operand lies in memory, joins those that every
// operand walks through as one.
void simplify(PeGroup& group, const std::vector<Buffer>& buffers);

// Dimensions that some stage reduces, which a block must hold whole.
std::vector<bool> whole_dims(const PeGroup& group);
bool spans(const PeGroup& group, const PeOperand& operand, size_t dim);

// Distinct external operands; the position in these lists is the slot. What a stage makes and a later one
// reads is no input. Results that lie side by side in the innermost dimension, the halves of a pair for one,
// are one slot, which a block holds whole: they leave in runs of all of them. Its view is longer than the
// group in that dimension.
struct PeSlots {
  std::vector<View> inputs, outputs;
  std::vector<EpilogueSpec> tables;  // those that have one, each table once
  int64_t table_bytes = 0;           // of all
};
PeSlots slots_of(const PeGroup& group);
// The slot of outputs that holds the result.
size_t output_slot(const PeSlots& slots, const View& result);
// Extents of the view of a slot where the group's are those of `block`.
Dims slot_extents(const PeGroup& group, const View& slot, const Dims& block);

struct PePlan {
  Dims block;
  std::vector<int64_t> input_bytes, output_bytes,
      temp_bytes;          // of one buffer each, largest block; 0: lies on chip
  bool one_block = false;  // a tile has a single block: no second buffers
  bool fits = false;
  int64_t workspace() const;
};
// Operands on chip are not streamed; by slot. `budget`: bytes for everything else.
PePlan plan_pe(const PeGroup& group, const Cut& cut, int64_t budget, const target::Machine& machine,
               const std::vector<bool>& input_on_chip, const std::vector<bool>& output_on_chip);
// Whether the smallest possible block fits on-chip memory.
bool fits_smallest(const PeGroup& group, const target::Machine& machine);

}  // namespace mrvlc::accel

// Whether what a layer costs is within limits: asked before anything is made that grows with its sizes.
#include "legal/legal_size.h"

#include "mrvlc/accel/layer_cost.h"

namespace mrvlc::accel {

Legality legal_size(const LegalContext& c) {
  LayerCost cost = layer_cost(c.graph, c.layer, c.machine);
  constexpr const LayerCost& most = kLayerLimits;
  MRVLC_LEGAL(at_most("device memory", "the number of bytes of its operands and results", cost.device_bytes,
                      most.device_bytes));
  MRVLC_LEGAL(
      at_most("weights", "the number of bytes of its packed weights", cost.weight_bytes, most.weight_bytes));
  MRVLC_LEGAL(
      at_most("table entries", "the number of positions it is worked out for", cost.entries, most.entries));
  MRVLC_LEGAL(at_most("smallest block", "the number of bytes that one step of its window takes on chip",
                      cost.block, c.machine.ocm_bytes));
  MRVLC_LEGAL(at_most("copies", "the number of copies it takes", cost.copies, most.copies));
  return at_most("instructions", "the number of instructions it takes", cost.instructions, most.instructions);
}

}  // namespace mrvlc::accel

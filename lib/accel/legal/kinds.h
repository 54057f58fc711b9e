// The kinds of accelerator layers: the one table of what a layer can begin with, what can follow, and who
// says whether it is legal. Rules, legality and regions ask it.
#pragma once
#include "mrvlc/accel/legality.h"
#include "mrvlc/ops/op.h"

namespace mrvlc::accel {

using partition::Layer;
using partition::Region;

struct LegalContext;

struct KindInfo {
  // What may follow the anchor in one layer: nothing; a QuantizeLinear; a Clip; a Cast and a Mul, then as
  // Chain without a residual; functions of one operand, the last of which may be a QuantizeLinear; these and
  // arithmetic with constants, and one residual.
  enum class Epilogue : uint8_t { None, Quantize, Bounds, Scaled, Functions, Chain };

  LayerKind kind{};
  Epilogue epilogue = Epilogue::None;
  Legality (*check)(const LegalContext&) = nullptr;  // of the anchor, whose `accel` facet names the kind
  bool integers = false;  // takes those of 8 bits: moves them, or computes with them as they are
};

const KindInfo& kind_info(LayerKind kind);
inline bool can_anchor(LayerKind kind, const ir::Node& node) {
  return ops::op_def(node).accel.has(kind);
}

}  // namespace mrvlc::accel

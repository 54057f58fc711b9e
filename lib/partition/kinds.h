// The kinds of accelerator layers: the one table of what a layer can begin with, what can follow, and who
// says whether it is legal. Rules, legality and regions ask it.
#pragma once
#include <string_view>
#include <vector>

#include "mrvlc/ops/op.h"
#include "mrvlc/partition/legality.h"

namespace mrvlc::partition {

struct LegalContext;

struct KindInfo {
  // What may follow the anchor in one layer: nothing; functions of one operand; these and arithmetic with
  // constants, and one residual.
  enum class Epilogue : uint8_t { None, Functions, Chain };

  std::string_view name;
  Epilogue epilogue = Epilogue::None;
  bool multiplies = false;  // a convolution or matrix product: what makes a region worth handing over
  Legality (*check)(const LegalContext&) = nullptr;  // of the anchor, which is one of `anchors`
  std::vector<const ops::OpDef*> anchors;            // the operators whose `accel` facet names the kind
};

const std::vector<KindInfo>& kinds();
const KindInfo* find_kind(std::string_view name);  // nullptr: unknown, or `cpu`
bool can_anchor(const KindInfo& kind, const ir::Node& node);
// A function or arithmetic that the vector unit computes element by element.
bool is_elementwise(const ir::Node& node);

}  // namespace mrvlc::partition

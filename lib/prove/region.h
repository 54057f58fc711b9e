// One region: its binary against its reference.
#pragma once
#include <set>

#include "machine/machine.h"
#include "mrvlc/prove/prove.h"
#include "reference.h"

namespace mrvlc::prove {

struct RegionResult {
  RegionProof proof;
  std::vector<bool> exact;           // by layer
  std::vector<std::string> why_not;  // by layer
  std::set<std::string> proved;      // values that the binary computes from those of `taken` and its inputs
  std::set<std::string> taken;       // values without a reference: taken as the binary stores them
};

RegionResult prove_region(const RegionHints& hints, const std::string& bytes, const ir::Graph& model,
                          const Field& field, const Target& target);

}  // namespace mrvlc::prove

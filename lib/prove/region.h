// One region: its binary against its reference.
#pragma once
#include <set>

#include "machine.h"
#include "mrvlc/prove/prove.h"
#include "reference.h"

namespace mrvlc::prove {

struct RegionResult {
  RegionProof proof;
  std::vector<bool> exact;           // by layer
  std::vector<std::string> why_not;  // by layer
  std::set<std::string> taken;       // constants that only proof.json says
};

RegionResult prove_region(const RegionHints& hints, const std::string& bytes, const ir::Graph& model,
                          const Field& field, const Target& target);

}  // namespace mrvlc::prove

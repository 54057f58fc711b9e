// Legality is asked in one place and answered with a reason: whether the accelerator back end compiles this
// layer. Rules ask it through the predicate `accelerator_can`; the back end relies on it. Looks at types,
// attributes and machine limits only.
#pragma once
#include "mrvlc/partition/partition.h"

namespace mrvlc::partition {

struct Legality {
  bool ok = true;
  std::string condition, actual, limit;  // of the first check that failed
  std::string reason;                    // a sentence
};

Legality layer_legal(const ir::Graph& graph, const Layer& layer, const target::Machine& machine);

}  // namespace mrvlc::partition

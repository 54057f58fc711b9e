// Legality is asked in one place and answered with a reason: whether the accelerator back end compiles this
// layer. It is asked of every match of every rule (place.cpp), and the back end relies on it: what is legal
// it compiles, and right. Looks at types, attributes and machine limits only.
#pragma once
#include "mrvlc/partition/partition.h"

namespace mrvlc::partition {

struct Legality {
  bool ok = true;
  std::string condition, actual, limit;  // of the first check that failed
  std::string reason;                    // a sentence
};

// The layer as a rule made it, whatever that is: kind against anchor, operands, the chain that follows.
Legality layer_legal(const ir::Graph& graph, const Layer& layer, const target::Machine& machine);

// Elements of a row that softmax and the normalisations of rows take at once.
int64_t longest_row(const target::Machine& machine);

}  // namespace mrvlc::partition

// What `compile --accuracy` decides: which layers are not to be computed in fp16 (docs/accuracy.md).
#pragma once
#include <set>

#include "mrvlc/driver/options.h"
#include "mrvlc/partition/partition.h"

namespace mrvlc::driver {

struct AccuracyChoice {
  double asked = 0;
  double predicted = 0;          // the error, after the last step
  size_t runs = 0;               // compiles that were measured on the way
  std::set<std::string> on_cpu;  // ONNX nodes, by id ("main/17"): of whole layers
};

// Compiles and measures until the outputs of the probe are near enough, or nothing is left to be done.
// nullopt: the compile itself fails, or there is no probe; a compile without a choice says why.
std::optional<AccuracyChoice> choose_for_accuracy(const CompileOptions& options);

// Nodes that are on the CPU for that say so.
void explain_choice(const AccuracyChoice& choice, const ir::Graph& graph, partition::Partition& partition);

}  // namespace mrvlc::driver

// What `compile --accuracy` decides: what is not to be kept or computed in fp16 (docs/accuracy.md).
#pragma once
#include <set>

#include "mrvlc/driver/options.h"
#include "mrvlc/partition/partition.h"

namespace mrvlc::driver {

// Also what a compile does on its own about values that leave fp16 (fit.h).
struct AccuracyChoice {
  double asked = 0;                            // 0: nothing
  double predicted = 0;                        // the error, after the last step
  size_t runs = 0;                             // compiles that were measured on the way
  partition::Precisions precisions;            // of values of regions
  std::set<std::string> on_cpu;                // ONNX nodes, by id ("main/17"): of whole layers
  std::map<std::string, std::string> reasons;  // of some of these, a sentence
  // Values that do not fit fp16, and what is done about it, for people.
  struct Kept {
    std::string value;
    double magnitude = 0;
    std::string precision;  // partition::to_text
  };
  std::vector<Kept> kept;
};

// Is there anything to choose?
inline bool chooses(const CompileOptions& options) {
  return options.accuracy || options.objective == CompileOptions::Objective::Accuracy;
}

// Compiles and measures until the outputs of the probe are near enough, or nothing is left to be done.
// nullopt: the compile itself fails, or there is no probe; a compile without a choice says why.
std::optional<AccuracyChoice> choose_for_accuracy(const CompileOptions& options);

// What more exactness costs: each row has about half the predicted error of the one before; the first is the
// compile without --accuracy. Empty: there is no probe.
struct FrontierPoint {
  double predicted = 0, measured = 0;
  double cycles = 0, host_cycles = 0;  // of the accelerator; an estimate of what the host computes instead
};
std::vector<FrontierPoint> accuracy_frontier(const CompileOptions& options);

// The precisions of the choice become a region's, where it has the values and can.
void apply_precisions(const AccuracyChoice& choice, const ir::Graph& graph, partition::Region& region);
// ... those of all regions; nodes that are on the CPU for the choice say so.
void apply_choice(const AccuracyChoice& choice, const ir::Graph& graph, partition::Partition& partition);

}  // namespace mrvlc::driver

// What `compile --accuracy` decides: what is not to be kept or computed in fp16 (docs/accuracy.md).
#pragma once
#include <set>

#include "mrvlc/driver/options.h"
#include "mrvlc/partition/region.h"

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

// The precisions of the choice become a region's, where it has the values and can.
void apply_precisions(const AccuracyChoice& choice, const ir::Graph& graph, partition::Region& region);
// ... those of all regions; nodes that are on the CPU for the choice say so.
void apply_choice(const AccuracyChoice& choice, const ir::Graph& graph, partition::Partition& partition);

}  // namespace mrvlc::driver

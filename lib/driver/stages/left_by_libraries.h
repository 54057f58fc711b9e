// Why targets that compute with integers left layers: what their rules said while all weights were integers
// still. Behind the last pass these layers are floats, or products of integers that no rule names.
#pragma once
#include <map>

#include "stages/passes_of.h"

namespace mrvlc::driver {

class LeftByLibraries {
 public:
  // Tries the rules on the graph in front of the passes; nothing where no target takes integers.
  static Result<LeftByLibraries> of(const ir::Graph& unplaced, const PlacedModel& m, passes::RunOptions run);

  // Nodes of the host get reason and trials, but for those that rules of an accelerator without integers were
  // tried on.
  void tell(const ir::Graph& graph, partition::Partition& partition) const;

 private:
  bool of_accelerator_ = false;                           // one that takes integers is among the targets
  std::map<ir::SourceId, partition::NodeDecision> left_;  // nodes that rules were tried on
};

}  // namespace mrvlc::driver

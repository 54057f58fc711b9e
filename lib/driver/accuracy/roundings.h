// What the regions of a placed model round to fp16, one thing at a time, and how far outputs move by that.
#pragma once
#include "compiled_model.h"
#include "mrvlc/calibration/sensitivity.h"

namespace mrvlc::driver {

struct RegionLayer {
  std::vector<ir::NodeId> nodes;
  double host_cycles = 0;  // of the accelerator's clock, an estimate, if the host computes it
};

// A stored value, or the constants of a product.
struct RegionRounding {
  calibration::Rounding rounding;
  std::vector<size_t> layers;  // all that make or read it: it is rounded while one of them is in a region
  double error = 0;            // of outputs, for this one alone
};

struct RegionRoundings {
  std::vector<RegionLayer> layers;
  std::vector<RegionRounding> roundings;

  // Errors are not known yet.
  RegionRoundings(const ir::Graph& graph, const partition::Partition& partition,
                  const target::Machine& machine);
  // On these inputs, and fewer of them where that takes long; errors of the interpreter.
  Status measure(const ir::Graph& graph, std::vector<std::vector<Tensor>> samples,
                 const std::vector<ir::ValueId>& compared, unsigned jobs);
};

}  // namespace mrvlc::driver

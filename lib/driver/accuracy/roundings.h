// What the regions of a placed model round to fp16, one thing at a time, and how far outputs move by that.
#pragma once
#include "model/compiled_model.h"
#include "mrvlc/calibration/sensitivity.h"

namespace mrvlc::driver {

struct RegionLayer {
  std::vector<ir::NodeId> nodes;
  double host_cycles = 0;  // of the accelerator's clock, an estimate, if the host computes it
  double cycles = 0;       // of the arithmetic, on all tiles
  bool held = false;       // on the accelerator, by --accel
};

// A stored value, or the constants of a product.
struct RegionRounding {
  calibration::Rounding rounding;
  std::vector<size_t> layers;   // all that make or read it: it is rounded while one of them is in a region
  partition::Precisions pairs;  // with which it is not; empty: it cannot be kept so
  std::map<size_t, double> pair_cycles;  // what these cost in each layer, an estimate
  double error = 0;                      // of outputs, for this one alone
};

struct RegionRoundings {
  std::vector<RegionLayer> layers;
  std::vector<RegionRounding> roundings;

  RegionRoundings() = default;
  // Errors are not known yet. `cycles`: of the layers of all regions, in order.
  RegionRoundings(const ir::Graph& graph, const partition::Partition& partition,
                  const backend::Backend& backend, const std::vector<double>& cycles);
  // On these inputs, and fewer of them where that takes long; errors of the interpreter. Pairs of what leaves
  // fp16 get a shift.
  Status measure(const ir::Graph& graph, std::vector<std::vector<Tensor>> samples,
                 const std::vector<ir::ValueId>& compared, unsigned jobs);

 private:
  void add_constants(const ir::Graph& graph, const partition::Layer& layer,
                     const partition::PrecisionChoice& can);
  void add_values(const ir::Graph& graph, const partition::Region& region, const backend::Backend& backend,
                  const partition::PrecisionChoice& can);

  std::map<ir::ValueId, std::set<size_t>> touches_;  // layers that make or read it
};

}  // namespace mrvlc::driver

// A model compiled so that what its layers store can be seen: every such value is an output too. What a layer
// computes does not depend on that (docs/arithmetic.md).
#pragma once
#include <map>

#include "mrvlc/driver/layers.h"
#include "run/program.h"
#include "stages/stages.h"

namespace mrvlc::driver {

// What is compared as one: a layer of a region, or a node on the CPU.
struct LayerUnit {
  std::optional<uint32_t> region;  // none: the CPU
  bool regions_in_bodies = false;  // control flow that the accelerator has a part in
  std::vector<ir::NodeId> nodes;   // in order
  std::vector<ir::ValueId> outputs;
};

class LayeredModel {
 public:
  using Values = std::map<ir::ValueId, Tensor>;

  // Into folders in `folder`, which must stay: ports of a region are few, so that more than one program may
  // be needed. nullopt: `diagnostics` say why.
  static Result<std::optional<LayeredModel>> create(const CompileOptions& options, Diagnostics& diagnostics,
                                                    const LayerOptions& layers, const RunOptions& run,
                                                    const std::filesystem::path& folder);

  const ir::Graph& graph() const { return *graph_; }  // as it was placed; all constants are there
  // With --host-weights fp16: the same with the host's weights rounded; else null.
  const ir::Graph* rounded() const { return rounded_ ? &*rounded_ : nullptr; }
  const std::vector<LayerUnit>& units() const { return units_; }
  // Of inputs of the model and outputs of units; what cannot be an output is missing.
  Result<Values> run(const std::vector<Tensor>& inputs) const;

 private:
  struct Part {
    Program program;
    std::vector<ir::ValueId> outputs;
  };
  LayeredModel() = default;
  Status look_at(const ir::Graph& graph, const partition::Partition& partition,
                 const target::Machine& machine);
  Status expose(ir::Graph& graph, partition::Partition& partition, size_t part) const;
  size_t parts_needed() const;

  std::optional<ir::Graph> graph_, rounded_;
  std::vector<LayerUnit> units_;
  std::vector<std::vector<ir::ValueId>> hidden_;  // by region: to be made its outputs
  std::vector<size_t> room_;                      // by region: ports for them in one program
  std::vector<Part> parts_;
};

}  // namespace mrvlc::driver

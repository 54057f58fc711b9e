// Graphs of layers or operators with measured times, shared out to accelerators so that the busiest one is as
// little busy as can be found. The files are those of dnn-partitioning (NeurIPS 2020): docs/mesh.md.
#pragma once
#include <string>

#include "mrvlc/support/result.h"

namespace mrvlc::mesh {

struct SplitOptions {
  uint64_t steps = 1000000;  // changes that are tried
  uint32_t seed = 1;
};
struct Split {
  std::string json;  // "fpgas" and "cpus", each a list of {"nodes": [ids]}
  double load = 0;   // of the busiest device, in the unit of the graph's times
};
// MRV1309: the graph is none, or does not fit.
Result<Split> split_graph(const std::string& graph, const SplitOptions& options = {});

}  // namespace mrvlc::mesh

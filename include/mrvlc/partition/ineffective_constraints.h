// What was asked for and did not come about as it was asked, so that nothing is ignored in silence:
// constraints
// (--cpu, --accel, --border) for nodes that a pass merged into others, folded or removed, or that no region
// can begin at, and clauses of rule files that say nothing any more. Warnings; what makes no sense at all is
// an error of partition().
#pragma once
#include "mrvlc/partition/partition.h"

namespace mrvlc::partition {

// `partition` was made of this graph with these options.
std::vector<Diag> ineffective_constraints(const ir::Graph& graph, const Partition& partition,
                                          const Options& options);

// Products of dequantised integers that are quantised again and computed in fp16: MRV0918, one for all.
std::vector<Diag> integers_in_half(const ir::Graph& graph, const Partition& partition,
                                   const Accelerator& accelerator);

}  // namespace mrvlc::partition

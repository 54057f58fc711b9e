// What of a simplified model runs where, with the graph made ready for it.
#pragma once
#include "mrvlc/ir/graph.h"
#include "mrvlc/partition/source_rules.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::driver {

// CPU nodes of a float16 model compute in float32: the conversions are nodes of the graph like all others, so
// the partition is made again on the widened graph, with the same decisions.
Result<partition::Partition> place(ir::Graph& graph, const target::Machine& machine,
                                   const partition::Options& options,
                                   const partition::SourceMatches& sources = {});

}  // namespace mrvlc::driver

// What of a simplified model runs where, with the graph made ready for it.
#pragma once
#include "mrvlc/ir/graph.h"
#include "mrvlc/partition/source_rules.h"
#include "mrvlc/passes/pass.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::driver {

// CPU nodes of a float16 model compute in float32: the conversions are nodes of the graph like all others, so
// the partition is made again on the widened graph, with the same decisions. `accelerator`: null where there
// is none.
Result<partition::Partition> place(ir::Graph& graph, const partition::Accelerator* accelerator,
                                   const partition::Options& options,
                                   const partition::SourceMatches& sources = {});

// Where rules match that do not ask the graph that the passes make: those of `stage source`, and those that
// name DequantizeLinear. Weights behind it then stay integers where such a rule keeps them on the CPU:
// `run.context.stays` says so to the passes to come. Of all accelerators: `turns` have their rules.
// `known_of`: what conditions can ask of a graph's values; unset: nothing is known.
using KnownOf = std::function<range::Knowledge(const ir::Graph&)>;
Result<partition::SourceMatches> match_beforehand(const ir::Graph& imported,
                                                  const std::vector<partition::Turn>& turns,
                                                  const partition::Accelerator& accelerator,
                                                  passes::RunOptions& run, const KnownOf& known_of = {});
// For PassContext::stays: weights behind DequantizeLinear; those alone that are of one of these sources,
// sorted.
bool dequantizes_constant(const ir::Graph& graph, const ir::Node& node);
std::function<bool(const ir::Graph&, const ir::Node&)> dequantizes_one_of(std::vector<ir::SourceId> sources);
// The graph that canonical rules which name DequantizeLinear are asked on.
Result<ir::Graph> with_integer_weights(const ir::Graph& imported, const passes::RunOptions& run);

}  // namespace mrvlc::driver

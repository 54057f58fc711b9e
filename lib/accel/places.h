// Where activations lie in memory, and when: hints for the prover, which trusts none of them.
#pragma once
#include <map>

#include "code/emit.h"
#include "schedule.h"

namespace mrvlc::accel {

using Activations = std::map<ir::ValueId, View>;

// Images that have lost pixels since lowering lie otherwise than their views say: they are left out.
void drop_pruned(Activations& activations, const std::vector<Buffer>& before,
                 const std::vector<Buffer>& after);

// By buffer: its address on chip, the same in every tile, or -1.
std::vector<int64_t> tensor_addresses(const Scheduled& scheduled);

// `addresses`: as above, asked before the tile program was given away. `primitives`: where the instructions
// of each lie in main.
std::vector<backend::PlacedValue> placed_values(const ir::Graph& graph, const Activations& activations,
                                                const Scheduled& scheduled,
                                                const std::vector<int64_t>& addresses,
                                                const std::vector<PrimitiveCode>& primitives);

}  // namespace mrvlc::accel

// The least that any choice takes, by trying them all: written without what the compiler's search goes by.
#pragma once
#include <optional>

#include "machines.h"

namespace mrvlc::test {

// By estimates from shapes, with the layers that the targets' rules make; nullopt: more than `most` choices.
std::optional<double> least_seconds(const ir::Graph& graph, const partition::Accelerator* accelerator,
                                    const partition::Options& options, size_t most);

// Small graphs with branches: convolutions, sums, element-wise operators and such as the host alone computes.
ir::Graph random_graph_of(uint32_t seed, int nodes);
// Where numbers lie such that no target is best for all: another one by seed.
partition::Costs random_costs(uint32_t seed);

struct Chosen {
  double seconds = 0, gap = 0;
  std::map<std::string, std::string> targets;
};
Chosen choose(const ir::Graph& graph, const Names& names, const partition::Costs& costs);

// All sets and orders of the names.
std::vector<Names> orders_of(const Names& names);

}  // namespace mrvlc::test

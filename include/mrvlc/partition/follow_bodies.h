// What a partition says of bodies of control flow, of a copy of its graph.
#pragma once
#include "mrvlc/partition/partition.h"

namespace mrvlc::partition {

// A copy of a graph has bodies of its own: those that `partition`, of `from`, names become the copy's.
void follow_bodies(Partition& partition, const ir::Graph& from, const ir::Graph& copy);

}  // namespace mrvlc::partition

// A limit on the size of idmap.json, told before anything is written.
#pragma once
#include "mrvlc/idmap/source_outcomes.h"
#include "mrvlc/support/diag.h"

namespace mrvlc::idmap {

inline constexpr uint64_t kMostBytes = uint64_t{4} << 30;

// MRV1060 where the sources of expressions that live alone would take more than `most` bytes.
Status check_size(const ir::Graph& graph, uint64_t most = kMostBytes);

}  // namespace mrvlc::idmap

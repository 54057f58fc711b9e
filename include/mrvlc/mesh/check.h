// The proof that a plan is safe, from the files of OUT alone: shares with the planner what reads mesh.json,
// and nothing else.
#pragma once
#include "mrvlc/mesh/plan.h"

namespace mrvlc::mesh {

struct Findings {
  std::vector<std::string> faults;  // empty: proved
  uint64_t moved_bytes = 0;         // of one image
  uint64_t most_memory = 0;         // bytes of the fullest PE, code included
  int64_t most_entries = 0;         // routing entries of the fullest chip
};
// At most `most` faults are collected.
Findings check(const Plan& plan, uint64_t blob_bytes, size_t most = 20);

}  // namespace mrvlc::mesh

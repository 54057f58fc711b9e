// The files of OUT.
#pragma once
#include "mrvlc/mesh/mesh.h"
#include "network/network.h"

namespace mrvlc::mesh {

// Sets programs and blobs of the plan's PEs.
std::vector<std::pair<std::string, std::string>> emit(const NetworkOf& network, Plan& plan);
// tables.c: the plan as the coordinator reads it.
std::string tables_text(const Plan& plan);

}  // namespace mrvlc::mesh

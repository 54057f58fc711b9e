// Networks of integers on meshes of processing elements: cut, placed, connected, and written as C
// (docs/mesh.md).
#pragma once
#include "mrvlc/ir/graph.h"
#include "mrvlc/mesh/plan.h"

namespace mrvlc::mesh {

inline constexpr const char* kPlanFile = "mesh.json";
inline constexpr const char* kBlobFile = "weights.bin";

struct Compiled {
  Plan plan;
  std::vector<std::pair<std::string, std::string>> files;  // name, bytes: all of OUT but the manifest
};
// Of a graph behind passes::host_pipeline(). MRV1303: a node that no PE can compute; MRV1304, MRV1305: no
// room.
Result<Compiled> compile(const ir::Graph& graph, const Machine& machine);

// What the plan takes of the machine, by layer, and what of the machine is assumed.
std::string report(const Plan& plan);
std::string to_json(const Plan& plan);
// MRV1306: what is missing in it, or of another type.
Result<Plan> parse_plan(const std::string& text);

// The words that a C compiler takes for the files of OUT, beside -o; `sources` are in order.
std::vector<std::string> compile_flags();
std::vector<std::string> sources(const Plan& plan);

}  // namespace mrvlc::mesh

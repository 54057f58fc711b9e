// How files of a model's tensors are called, in folders that `mrvlc compare` reads and programs of
// --trace-values write.
#pragma once
#include <map>
#include <string>

#include "mrvlc/ir/graph.h"

namespace mrvlc::driver {

// The stem of each by its name, no two alike: file_names() of the inputs; then of the results, in the order
// of the nodes, beside these. `graph`: as imported. Tensors of bodies are left out.
std::map<std::string, std::string> value_files(const ir::Graph& graph);

}  // namespace mrvlc::driver

// Exporters put the path of a module in front of the names in it; one that most names share says nothing.
#pragma once
#include <string>
#include <string_view>

#include "mrvlc/ir/graph.h"

namespace mrvlc::chost {

// The longest path, '/' at its end, of at least half of the nodes' names; often empty.
std::string common_path(const ir::Graph& graph);

// Whether the name is more than the path, and begins with it.
inline bool is_below(std::string_view name, std::string_view path) {
  return !path.empty() && name.size() > path.size() && name.starts_with(path);
}

}  // namespace mrvlc::chost

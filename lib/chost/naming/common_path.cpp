// Component by component, the one that most names have.
#include "naming/common_path.h"

#include <algorithm>
#include <map>

namespace mrvlc::chost {

std::string common_path(const ir::Graph& graph) {
  constexpr size_t kLongest = 160;  // as far as names are looked at
  std::string path;
  size_t names = 0;
  const std::vector<ir::NodeId> order = graph.topological_order();
  for (;;) {
    std::map<std::string_view, size_t> below;
    names = 0;
    for (ir::NodeId id : order) {
      const std::string_view name = graph.node(id).name;
      names += name.empty() ? 0 : 1;
      if (!name.starts_with(path)) continue;
      const std::string_view rest = name.substr(0, kLongest).substr(std::min(path.size(), kLongest));
      const size_t slash = rest.find('/');
      if (slash != std::string_view::npos) ++below[rest.substr(0, slash + 1)];
    }
    const auto most = std::ranges::max_element(below, {}, [](const auto& b) { return b.second; });
    if (most == below.end() || most->second < 2 || 2 * most->second < names) return path;
    path += most->first;
  }
}

}  // namespace mrvlc::chost

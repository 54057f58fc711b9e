// Stems of the files of values: distinct, and inputs first.
#include "debug/value_files.h"

#include <set>
#include <vector>

#include "mrvlc/support/file_names.h"

namespace mrvlc::driver {
namespace {

// file_names() of them; one that is taken already gets underscores.
void add(const std::vector<std::string>& names, std::set<std::string>& taken,
         std::map<std::string, std::string>& out) {
  std::vector<std::string> files = file_names(names);
  for (size_t i = 0; i < names.size(); ++i) {
    if (out.contains(names[i])) continue;
    while (!taken.insert(files[i]).second) files[i] += '_';
    out.emplace(names[i], files[i]);
  }
}

}  // namespace

std::map<std::string, std::string> value_files(const ir::Graph& graph) {
  std::vector<std::string> inputs, results;
  for (ir::ValueId v : graph.inputs()) inputs.push_back(graph.value(v).name);
  for (ir::NodeId id : graph.topological_order())
    for (ir::ValueId v : graph.node(id).outputs)
      if (v.valid()) results.push_back(graph.value(v).name);
  std::map<std::string, std::string> out;
  std::set<std::string> taken;
  add(inputs, taken, out);
  add(results, taken, out);
  return out;
}

}  // namespace mrvlc::driver

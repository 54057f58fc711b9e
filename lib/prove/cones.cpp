// Backwards over the graph of the model.
#include "cones.h"

#include <vector>

namespace mrvlc::prove {

Cones::Cones(const ir::Graph& model, const std::set<std::string>& given) : g_(model), given_(given) {
  for (ir::NodeId n : model.topological_order())
    for (ir::ValueId v : model.node(n).outputs)
      if (v.valid()) by_name_.emplace(model.value(v).name, v);
}

void Cones::add(const std::string& value) {
  const auto found = by_name_.find(value);
  if (found == by_name_.end()) return;
  std::vector<ir::NodeId> next{g_.value(found->second).producer};
  while (!next.empty()) {
    const ir::NodeId n = next.back();
    next.pop_back();
    if (!visited_.insert(n).second) continue;
    for (ir::SourceId s : g_.lineage(n).sources) nodes_.insert(g_.sources()[s.index()].id);
    for (ir::ValueId in : g_.node(n).inputs)
      if (in.valid() && g_.value(in).kind == ir::ValueKind::Result && !given_.contains(g_.value(in).name))
        next.push_back(g_.value(in).producer);
  }
}

}  // namespace mrvlc::prove

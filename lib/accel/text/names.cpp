// Names of what a program refers to.
#include "text/names.h"

#include <set>

#include "mrvlc/ir/text.h"

namespace mrvlc::accel {
namespace {

std::string expr_name(const ir::Graph& graph, ir::NodeId id) {
  for (ir::ValueId v : graph.node(id).outputs)
    if (v.valid()) return ir::value_text(graph.value(v).name);
  return "-";
}

}  // namespace

std::string Names::expr(ir::NodeId node) const {
  auto it = exprs.find(node);
  return it == exprs.end() ? "-" : it->second;
}

Names names_of(const ir::Graph& graph, const Program& program) {
  Names names;
  for (const Buffer& b : program.buffers)
    if (b.value.valid()) names.values[b.value] = ir::value_text(graph.value(b.value).name);
  auto note = [&](ir::NodeId id) {
    if (id.valid()) names.exprs.try_emplace(id, expr_name(graph, id));
  };
  for (const Primitive& p : program.primitives) {
    note(owner_of(p).expr);
    const auto* group = std::get_if<PeGroup>(&p);
    if (group == nullptr) continue;
    for (const PeStage& s : group->stages) note(s.expr);
  }
  return names;
}

std::vector<std::string> buffer_names(const Program& program, const Names& names) {
  std::vector<std::string> out = {"weights"};
  std::set<ir::ValueId> used;
  for (size_t b = 1; b < program.buffers.size(); ++b) {
    ir::ValueId value = program.buffers[b].value;
    auto it = value.valid() ? names.values.find(value) : names.values.end();
    std::string name = it == names.values.end() ? "" : it->second;
    bool taken = name.empty() || !used.insert(value).second;
    out.push_back(taken ? name + "$" + std::to_string(b) : name);
  }
  return out;
}

}  // namespace mrvlc::accel

// cse
//   before  %1 = Relu(%x)    %2 = Relu(%x)    %3 = Add(%1, %2)
//   after   %1 = Relu(%x)    %3 = Add(%1, %1)
// Preconditions: same operator, same attributes to the bit, same inputs, same result types; not random.
// Constants are equal in type and bytes; equal ones are merged first, so that nodes reading them become equal
// too. Safe because operators are functions of their inputs and attributes. Tables are only looked up, never
// walked, so their order does not show in the result.
#include <algorithm>
#include <unordered_map>

#include "mrvlc/ops/random.h"
#include "passes.h"
#include "structure.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

using Table = std::unordered_multimap<uint64_t, uint32_t>;

bool merge_constants(Rewriter& rw) {
  const Graph& g = rw.graph();
  Table seen;
  bool changed = false;
  for (size_t i = 0; i < g.value_slots(); ++i) {
    ValueId id(i);
    const ir::Value& v = g.value(id);
    if (v.kind != ir::ValueKind::Constant || v.users.empty() || v.type.elem == ElementType::String) continue;
    uint64_t key = hash_tensor(v.constant);
    auto [first, last] = seen.equal_range(key);
    auto same = std::find_if(
        first, last, [&](const auto& e) { return g.value(ValueId(e.second)).constant == v.constant; });
    if (same == last) {
      seen.emplace(key, id.index());
      continue;
    }
    rw.replace_all_uses(id, ValueId(same->second));
    changed = true;
  }
  return changed;
}

bool same_computation(const Graph& g, const Node& a, const Node& b) {
  if (a.op != b.op || a.inputs != b.inputs || a.outputs.size() != b.outputs.size()) return false;
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    if (!(type_of(g, a.outputs[i]) == type_of(g, b.outputs[i]))) return false;
  }
  return std::equal(a.attrs.begin(), a.attrs.end(), b.attrs.begin(), b.attrs.end(), equal_attrs);
}

bool merge_into(Rewriter& rw, NodeId duplicate, NodeId kept) {
  const Graph& g = rw.graph();
  std::string because = "computes the same as node '" + printable(g.node(kept).name) + "'";
  std::vector<ValueId> from = g.node(duplicate).outputs, to = g.node(kept).outputs;
  if (from.size() == 1) return bypass(rw, duplicate, to[0], because);
  for (size_t i = 0; i < from.size(); ++i) {
    if (g.is_output(from[i])) return false;
  }
  for (size_t i = 0; i < from.size(); ++i) rw.replace_all_uses(from[i], to[i]);
  rw.erase(duplicate, because);
  return true;
}

bool merge_nodes(Rewriter& rw) {
  const Graph& g = rw.graph();
  Table seen;
  bool changed = false;
  const std::vector<NodeId> order = g.topological_order();
  seen.reserve(order.size());
  for (NodeId id : order) {
    const Node& n = g.node(id);
    if (ops::is_random(n) || n.outputs.empty() || !ir::bodies_of(n).empty()) continue;
    uint64_t key = hash_node(n);
    auto [first, last] = seen.equal_range(key);
    auto same = std::find_if(first, last,
                             [&](const auto& e) { return same_computation(g, g.node(NodeId(e.second)), n); });
    if (same == last) {
      seen.emplace(key, id.index());
    } else if (merge_into(rw, id, NodeId(same->second))) {
      changed = true;
    }
  }
  return changed;
}

}  // namespace

Status cse(Graph& graph, const PassContext&, bool& changed) {
  Rewriter rw(graph, "cse");
  bool constants = merge_constants(rw);
  changed = merge_nodes(rw) || constants;
  return {};
}

}  // namespace mrvlc::passes

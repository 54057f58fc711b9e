// cse
//   before  %1 = Relu(%x)    %2 = Relu(%x)    %3 = Add(%1, %2)
//   after   %1 = Relu(%x)    %3 = Add(%1, %1)
// Preconditions: same operator, same attributes to the bit, same inputs, same result types; not random.
// Constants are equal in type and bytes; equal ones are merged first, so that nodes reading them become equal
// too. Safe because operators are functions of their inputs and attributes. Tables are only looked up, never
// walked, so their order does not show in the result.
#include <algorithm>
#include <bit>

#include "mrvlc/ops/random.h"
#include "passes.h"
#include "structure.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

// Indices by hash, in one block of memory: a million nodes would else be a million allocations.
class Table {
 public:
  explicit Table(size_t most) : slots_(std::bit_ceil(2 * most + 1)) {}

  // The one with this hash for which same(index) holds; else `index` is added, and returned.
  template <class Same>
  uint32_t find_or_add(uint64_t hash, uint32_t index, const Same& same) {
    const size_t mask = slots_.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      Slot& s = slots_[i];
      if (s.index == kNone) {
        s = {hash, index};
        return index;
      }
      if (s.hash == hash && same(s.index)) return s.index;
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Slot {
    uint64_t hash = 0;
    uint32_t index = kNone;
  };
  std::vector<Slot> slots_;  // at least half of them empty
};

bool merge_constants(Rewriter& rw) {
  const Graph& g = rw.graph();
  std::vector<ValueId> constants;
  for (size_t i = 0; i < g.value_slots(); ++i) {
    const ir::Value& v = g.value(ValueId(i));
    if (v.kind == ir::ValueKind::Constant && !v.users.empty() && v.type.elem != ElementType::String)
      constants.push_back(v.id);
  }
  Table seen(constants.size());
  bool changed = false;
  for (ValueId id : constants) {
    const Tensor& t = *g.constant(id);
    auto equal = [&](uint32_t other) { return *g.constant(ValueId(other)) == t; };
    const ValueId same(seen.find_or_add(hash_tensor(t), id.index(), equal));
    if (same == id) continue;
    rw.replace_all_uses(id, same);
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

bool mergeable(const Node& n) {
  return !n.erased && !n.outputs.empty() && !ops::is_random(n) && ir::bodies_of(n).empty();
}

// In any order: where no two nodes are the same to begin with, none become so.
bool has_duplicates(const Graph& g) {
  Table seen(g.node_slots());
  return has_anchor(g, [&](const Node& n) {
    auto same = [&](uint32_t other) { return same_computation(g, g.node(NodeId(other)), n); };
    return mergeable(n) && seen.find_or_add(hash_node(n), n.id.index(), same) != n.id.index();
  });
}

bool merge_nodes(Rewriter& rw) {
  const Graph& g = rw.graph();
  if (!has_duplicates(g)) return false;
  bool changed = false;
  const std::vector<NodeId> order = g.topological_order();
  Table seen(order.size());
  for (NodeId id : order) {
    if (!mergeable(g.node(id))) continue;
    auto same = [&](uint32_t other) { return same_computation(g, g.node(NodeId(other)), g.node(id)); };
    const NodeId kept(seen.find_or_add(hash_node(g.node(id)), id.index(), same));
    if (kept != id && merge_into(rw, id, kept)) changed = true;
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

// Values, nodes and use lists one after the other; a cycle shows as nodes missing in the topological order.
#include "mrvlc/ir/verifier.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "mrvlc/support/diag/ir.h"

namespace mrvlc::ir {
namespace {

Diag broken(const Node* node, std::string_view what) {
  Diag d = make_diag<DiagCode::MRV0801>(what);
  return node == nullptr ? d : at_node(std::move(d), node->name, node->op->name);
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  Status run() {
    MRVLC_TRY(check_values());
    for (size_t i = 0; i < graph_.node_slots(); ++i) {
      const Node& n = graph_.node(NodeId(i));
      if (!n.erased) MRVLC_TRY(check_node(n));
    }
    for (ValueId out : graph_.outputs()) {
      if (!live(out)) return broken(nullptr, "a graph output has no producer");
    }
    return check_uses();
  }

 private:
  bool in_range(ValueId id) const { return id.valid() && id.index() < graph_.value_slots(); }

  bool live(ValueId id) const {
    if (!in_range(id)) return false;
    const Value& v = graph_.value(id);
    return v.kind != ValueKind::Result ? !v.released
                                       : (v.producer.valid() && !graph_.node(v.producer).erased);
  }

  Status check_values() {
    std::unordered_set<std::string_view> names;
    names.reserve(graph_.value_slots());
    for (size_t i = 0; i < graph_.value_slots(); ++i) {
      const Value& v = graph_.value(ValueId(i));
      if (!live(v.id)) continue;
      if (!names.insert(v.name).second)
        return broken(nullptr, "value name '" + printable(v.name) + "' is not unique");
      if (v.type.elem == ElementType::Undefined)
        return broken(nullptr, "value '" + printable(v.name) + "' has no type");
      if (v.kind == ValueKind::Constant && !(v.constant().type() == v.type)) {
        return broken(nullptr, "constant '" + printable(v.name) + "' disagrees with its type");
      }
    }
    return {};
  }

  Status check_node(const Node& n) const {
    if (n.attrs.size() != n.op->attrs.size()) return broken(&n, "attribute slots do not match the schema");
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      const AttrSpec& spec = n.op->attrs[i];
      if (!is_set(n.attrs[i]) ? spec.required : kind_of(n.attrs[i]) != spec.kind) {
        return broken(&n, "attribute '" + std::string(spec.name) + "' is missing or of the wrong kind");
      }
    }
    for (ValueId in : n.inputs) {
      if (!in.valid()) continue;
      if (!live(in)) return broken(&n, "an input is read that nothing produces");
    }
    for (ValueId out : n.outputs) {
      if (!in_range(out) || graph_.value(out).producer != n.id)
        return broken(&n, "an output has another producer");
    }
    const Lineage& lineage = graph_.lineage(n.id);
    if (lineage.sources.empty()) return broken(&n, "it has no ONNX source");
    for (SourceId s : lineage.sources) {
      if (s.index() >= graph_.sources().size()) return broken(&n, "it names a source that does not exist");
    }
    return {};
  }

  Status check_use(const Value& v, size_t k) const {
    const Node& n = graph_.node(v.users[k]);
    size_t input = v.user_inputs[k];
    if (n.erased || input >= n.inputs.size() || n.inputs[input] != v.id || n.use_at[input] != k) {
      return broken(&n, "it is listed as user of a value it does not read");
    }
    return {};
  }

  // Users and inputs agree (as multisets), and there is no cycle.
  Status check_uses() const {
    size_t uses = 0, listed = 0, outputs = 0, live_nodes = 0;
    for (size_t i = 0; i < graph_.node_slots(); ++i) {
      const Node& n = graph_.node(NodeId(i));
      if (n.erased) continue;
      ++live_nodes;
      uses += static_cast<size_t>(
          std::count_if(n.inputs.begin(), n.inputs.end(), [](ValueId v) { return v.valid(); }));
    }
    for (size_t i = 0; i < graph_.value_slots(); ++i) {
      const Value& v = graph_.value(ValueId(i));
      outputs += v.output_uses;
      if (v.users.size() != v.user_inputs.size()) return broken(nullptr, "users and their inputs disagree");
      for (size_t k = 0; k < v.users.size(); ++k) MRVLC_TRY(check_use(v, k));
      listed += v.users.size();
    }
    if (outputs != graph_.outputs().size()) return broken(nullptr, "graph outputs are miscounted");
    if (uses != listed) return broken(nullptr, "users and inputs disagree");
    if (graph_.topological_order().size() != live_nodes) return broken(nullptr, "the graph has a cycle");
    return {};
  }

  const Graph& graph_;
};

}  // namespace

Status verify(const Graph& graph) {
  return Verifier(graph).run();
}

}  // namespace mrvlc::ir

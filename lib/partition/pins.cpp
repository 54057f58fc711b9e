// Constraints on the imported graph. What is computed at compile time is nowhere placed: nodes of constants
// are left out, both as what is named and as what a node was made of.
#include <algorithm>
#include <map>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/random.h"
#include "mrvlc/partition/answers.h"
#include "mrvlc/partition/constraints.h"
#include "mrvlc/support/diag/partition.h"
#include "no_match.h"

namespace mrvlc::partition {
namespace {

using Target = Constraint::Target;

bool known_shape(const ir::Graph& g, const ir::Node& n) {
  return n.is(Op::Shape, Op::Size) && g.value(n.inputs[0]).type.is_static();
}

// By NodeId.
std::vector<bool> constant_nodes(const ir::Graph& g, const std::vector<ir::NodeId>& order) {
  std::vector<bool> out(g.node_slots());
  auto constant = [&](ir::ValueId v) {
    if (!v.valid() || g.is_constant(v)) return true;
    return g.value(v).kind == ir::ValueKind::Result && out[g.value(v).producer.index()];
  };
  for (ir::NodeId id : order) {
    const ir::Node& n = g.node(id);
    if (ops::is_random(n) || !ir::bodies_of(n).empty()) continue;
    out[id.index()] = known_shape(g, n) || std::ranges::all_of(n.inputs, constant);
  }
  return out;
}

// The constraint, and of several selectors which.
std::string named_in(const Constraint& c, const std::string& selector) {
  if (c.nodes.size() < 2) return c.given_as;
  return fmt::format("{}: '{}'", c.given_as, printable(selector));
}

class Resolver {
 public:
  explicit Resolver(const ir::Graph& graph) : g_(graph), order_(graph.topological_order()) {
    for (size_t i = 0; i < g_.sources().size(); ++i) by_id_.emplace(g_.sources()[i].id, i);
  }

  std::vector<bool> constant_sources() const {
    std::vector<bool> out(g_.sources().size());
    const std::vector<bool> constant = constant_nodes(g_, order_);
    for (bool value : {true, false}) {  // a source of several nodes is one if all are
      for (ir::NodeId n : order_) {
        if (constant[n.index()] != value) continue;
        for (ir::SourceId s : g_.lineage(n).sources) out[s.index()] = value;
      }
    }
    return out;
  }

  Status add(const Constraint& c, Pins::Set& set) {
    set.constraint = c;
    set.sources.assign(g_.sources().size(), false);
    for (const std::string& selector : c.nodes) {
      const bool operators = !selector.starts_with("tensor:") && !selector.starts_with("id:");
      if (select(selector, set)) continue;
      if (!operators) return matches_nothing(g_, named_in(c, selector), {selector});
      set.canonical = true;
    }
    if (!c.from.empty() || !c.to.empty()) MRVLC_TRY(between(c, set));
    set.count = static_cast<size_t>(std::ranges::count(set.sources, true));
    return {};
  }

 private:
  bool take(ir::NodeId n, Pins::Set& set) const {
    for (ir::SourceId s : g_.lineage(n).sources) set.sources[s.index()] = true;
    return true;
  }

  bool select(const std::string& selector, Pins::Set& set) const {
    // A placement.json that was given back may name each node of a large model so.
    if (const std::string_view text = selector; text.starts_with("id:")) {
      const auto it = by_id_.find(text.substr(3));
      if (it != by_id_.end()) return set.sources[it->second] = true;
    }
    bool any = false;
    for (size_t i = 0; i < g_.sources().size(); ++i) {
      if (answers(g_.sources()[i], selector)) any = set.sources[i] = true;
    }
    for (ir::NodeId n : order_) {
      if (answers_itself(g_.node(n), selector)) any = take(n, set);
    }
    if (!any && selector.starts_with("tensor:")) any = readers(selector.substr(7), set);
    return any;
  }

  // Of an input or a weight of the model.
  bool readers(const std::string& name, Pins::Set& set) const {
    const auto value = g_.find_value(name);
    if (!value) return false;
    bool any = false;
    for (ir::NodeId n : g_.value(*value).users) any = take(n, set);
    return any;
  }

  Result<std::vector<bool>> values(const Constraint& c, const std::vector<std::string>& names) const {
    std::vector<bool> out(g_.value_slots());
    for (const std::string& name : names) {
      const auto value = g_.find_value(name);
      if (!value) return make_diag<DiagCode::MRV0409>(c.given_as, printable(name));
      out[value->index()] = true;
    }
    return out;
  }

  // Nodes that what `from` holds reaches, and that reach what `to` holds; of an empty side all.
  Status between(const Constraint& c, Pins::Set& set) {
    MRVLC_ASSIGN(const std::vector<bool> from, values(c, c.from));
    MRVLC_ASSIGN(const std::vector<bool> to, values(c, c.to));
    std::vector<bool> behind(g_.node_slots(), c.from.empty()), ahead(g_.node_slots(), c.to.empty());
    for (ir::NodeId n : order_) {
      for (ir::ValueId v : g_.node(n).inputs) {
        if (!v.valid()) continue;
        const bool reached =
            g_.value(v).kind == ir::ValueKind::Result && behind[g_.value(v).producer.index()];
        if (from[v.index()] || reached) behind[n.index()] = true;
      }
    }
    bool any = false;
    for (size_t i = order_.size(); i-- > 0;) {
      const ir::NodeId n = order_[i];
      for (ir::ValueId v : g_.node(n).outputs) {
        if (!v.valid()) continue;
        const auto& users = g_.value(v).users;
        if (to[v.index()] || std::ranges::any_of(users, [&](ir::NodeId u) { return ahead[u.index()]; }))
          ahead[n.index()] = true;
      }
      if (behind[n.index()] && ahead[n.index()]) any = take(n, set);
    }
    if (!any) return make_diag<DiagCode::MRV0410>(c.given_as);
    return {};
  }

  const ir::Graph& g_;
  std::vector<ir::NodeId> order_;
  std::map<std::string_view, size_t> by_id_;
};

// Why both cannot hold of one node; empty when they can.
std::string_view clash(const Constraint& a, const Constraint& b) {
  if (a.together && b.together) return "a node is in one group";
  if ((a.together && b.on == Target::Cpu) || (b.together && a.on == Target::Cpu))
    return "a region is on the accelerator";
  return {};
}

bool differ(Target a, Target b) {
  return a != b && a != Target::Any && b != Target::Any;
}

Status check_pair(const Pins::Set& a, const Pins::Set& b, const std::vector<bool>& constant,
                  const ir::Graph& g) {
  const std::string_view why = clash(a.constraint, b.constraint);
  const bool targets = differ(a.constraint.on, b.constraint.on);
  if (why.empty() && !targets) return {};
  for (size_t s = 0; s < constant.size(); ++s) {
    if (!a.sources[s] || !b.sources[s] || constant[s]) continue;
    const ir::Source& source = g.sources()[s];
    const Diag d = targets ? make_diag<DiagCode::MRV0403>(a.constraint.given_as, b.constraint.given_as)
                           : make_diag<DiagCode::MRV0411>(a.constraint.given_as, b.constraint.given_as, why);
    return at_node(d, source.name.empty() ? source.id : source.name, source.op_type);
  }
  return {};
}

bool on_cpu(const Constraint& c) {
  return c.on == Target::Cpu;
}
bool border_before(const Constraint& c) {
  return c.before;
}
bool border_after(const Constraint& c) {
  return c.after;
}

}  // namespace

Result<Pins> Pins::resolve(const ir::Graph& imported, const std::vector<Constraint>& constraints) {
  Pins out;
  if (constraints.empty()) return out;
  Resolver resolver(imported);
  out.constant_ = resolver.constant_sources();
  for (const Constraint& c : constraints) {
    Set& set = out.sets_.emplace_back();
    MRVLC_TRY(resolver.add(c, set));
    for (size_t i = 0; i + 1 < out.sets_.size(); ++i)
      MRVLC_TRY(check_pair(out.sets_[i], set, out.constant_, imported));
  }
  return out;
}

std::vector<ir::SourceId> Pins::computed_sources(const ir::Graph& graph, ir::NodeId node) const {
  const auto& all = graph.lineage(node).sources;
  std::vector<ir::SourceId> out;
  std::ranges::copy_if(all, std::back_inserter(out), [&](ir::SourceId s) { return !constant_[s.index()]; });
  return out.empty() ? all : out;
}

bool Pins::holds(const Set& set, const ir::Graph& graph, ir::NodeId node) const {
  if (set.canonical && std::ranges::any_of(set.constraint.nodes, [&](const std::string& selector) {
        return answers_itself(graph.node(node), selector);
      }))
    return true;
  if (set.count == 0) return false;
  return std::ranges::any_of(computed_sources(graph, node),
                             [&](ir::SourceId s) { return set.sources[s.index()]; });
}

bool Pins::holds_more(const Set& set, const ir::Graph& graph, ir::NodeId node) const {
  const std::vector<ir::SourceId> sources = computed_sources(graph, node);
  return set.count != 0 &&
         std::ranges::any_of(sources, [&](ir::SourceId s) { return set.sources[s.index()]; }) &&
         !std::ranges::all_of(sources, [&](ir::SourceId s) { return set.sources[s.index()]; });
}

bool Pins::any(const ir::Graph& graph, ir::NodeId node, bool (*of)(const Constraint&)) const {
  return std::ranges::any_of(sets_, [&](const Set& s) { return of(s.constraint) && holds(s, graph, node); });
}

int64_t Pins::group(const ir::Graph& graph, ir::NodeId node) const {
  for (size_t i = 0; i < sets_.size(); ++i) {
    if (sets_[i].constraint.together && holds(sets_[i], graph, node)) return static_cast<int64_t>(i) + 1;
  }
  return 0;
}

bool Pins::fences() const {
  return std::ranges::any_of(sets_, [](const Set& s) {
    const Constraint& c = s.constraint;
    return on_cpu(c) || c.before || c.after || c.together;
  });
}

int64_t Pins::fence(const ir::Graph& imported, ir::ValueId value, ir::NodeId user) const {
  if (sets_.empty()) return 0;
  const ir::Value& v = imported.value(value);
  // Texts and integers, shapes among them, stay on the CPU whoever reads them; but not those of quantised
  // networks.
  if (v.kind != ir::ValueKind::Result || v.type.wrapper != Wrapper::None) return 0;
  const bool sums =
      v.type.elem == ElementType::I32 && imported.node(v.producer).is(Op::ConvInteger, Op::MatMulInteger);
  if (!is_float(v.type.elem) && !is_byte(v.type.elem) && !sums) return 0;
  const auto& made_by = imported.lineage(v.producer).sources;
  if (std::ranges::all_of(made_by, [&](ir::SourceId s) { return constant_[s.index()]; })) return 0;
  const int64_t group_of_user = group(imported, user);
  const bool border = group(imported, v.producer) != group_of_user || any(imported, user, border_before) ||
                      any(imported, v.producer, border_after);
  const bool apart = any(imported, user, on_cpu) != any(imported, v.producer, on_cpu);
  if (!border && !apart) return 0;
  return group_of_user << 2 | (apart ? 2 : 0) | (border ? 1 : 0);
}

}  // namespace mrvlc::partition

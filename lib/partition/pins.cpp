// Constraints on the imported graph. What is computed at compile time is nowhere placed: nodes of constants
// are left out, both as what is named and as what a node was made of.
#include <algorithm>
#include <array>
#include <tuple>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/random.h"
#include "mrvlc/partition/answers.h"
#include "mrvlc/partition/constraints.h"
#include "mrvlc/support/diag/partition.h"
#include "no_match.h"
#include "selectors.h"

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
  explicit Resolver(const ir::Graph& graph)
      : g_(graph), order_(graph.topological_order()), selectors_(graph, order_) {}

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

  Result<Pins::Set> set(const Constraint& c) const {
    Pins::Set set;
    set.constraint = c;
    for (const std::string& selector : c.nodes) {
      const std::vector<ir::SourceId> found = selectors_.named(selector);
      set.sources.insert(set.sources.end(), found.begin(), found.end());
      if (!found.empty()) continue;
      const bool operators = !selector.starts_with("tensor:") && !selector.starts_with("id:");
      if (!operators) return matches_nothing(g_, named_in(c, selector), {selector});
      set.canonical = true;
    }
    if (!c.from.empty() || !c.to.empty()) MRVLC_TRY(between(c, set));
    std::ranges::sort(set.sources);
    const auto twice = std::ranges::unique(set.sources);
    set.sources.erase(twice.begin(), twice.end());
    return set;
  }

 private:
  Result<std::vector<bool>> values(const Constraint& c, const std::vector<std::string>& names) const {
    std::vector<bool> out(g_.value_slots());
    for (const std::string& name : names) {
      const auto value = selectors_.value(name);
      if (!value) return make_diag<DiagCode::MRV0409>(c.given_as, printable(name), nearest_value(g_, name));
      out[value->index()] = true;
    }
    return out;
  }

  // Nodes that what `from` holds reaches, and that reach what `to` holds; of an empty side all.
  Status between(const Constraint& c, Pins::Set& set) const {
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
    const size_t before = set.sources.size();
    for (size_t i = order_.size(); i-- > 0;) {
      const ir::NodeId n = order_[i];
      for (ir::ValueId v : g_.node(n).outputs) {
        if (!v.valid()) continue;
        const auto& users = g_.value(v).users;
        if (to[v.index()] || std::ranges::any_of(users, [&](ir::NodeId u) { return ahead[u.index()]; }))
          ahead[n.index()] = true;
      }
      if (!behind[n.index()] || !ahead[n.index()]) continue;
      const auto& sources = g_.lineage(n).sources;
      set.sources.insert(set.sources.end(), sources.begin(), sources.end());
    }
    if (set.sources.size() == before) return make_diag<DiagCode::MRV0410>(c.given_as);
    return {};
  }

  const ir::Graph& g_;
  std::vector<ir::NodeId> order_;
  Selectors selectors_;
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

// The contradictions of sets, one after another: of each kind that may clash the first set that names a
// source is compared, so that many constraints on one node take no time by the square.
class Contradictions {
 public:
  Contradictions(const ir::Graph& graph, const std::vector<bool>& constant)
      : g_(graph), constant_(constant), first_(constant.size()) {}

  // Of `sets.back()` with those before it.
  Status check(const std::vector<Pins::Set>& sets) {
    const Pins::Set& set = sets.back();
    size_t with = sets.size();
    ir::SourceId at;
    for (ir::SourceId s : set.sources) {
      if (constant_[s.index()]) continue;
      for (const auto& first : first_[s.index()]) {
        if (!first || *first >= with || !clashes(sets[*first].constraint, set.constraint)) continue;
        with = *first;
        at = s;
      }
    }
    if (with < sets.size()) return contradiction(sets[with].constraint, set.constraint, at);
    note(set, sets.size() - 1);
    return {};
  }

 private:
  static bool clashes(const Constraint& a, const Constraint& b) {
    return differ(a.on, b.on) || !clash(a, b).empty();
  }

  Diag contradiction(const Constraint& a, const Constraint& b, ir::SourceId at) const {
    const ir::Source& source = g_.sources()[at.index()];
    const Diag d = differ(a.on, b.on) ? make_diag<DiagCode::MRV0403>(a.given_as, b.given_as)
                                      : make_diag<DiagCode::MRV0411>(a.given_as, b.given_as, clash(a, b));
    return at_node(d, source.name.empty() ? source.id : source.name, source.op_type);
  }

  void note(const Pins::Set& set, size_t index) {
    const bool of[] = {set.constraint.on == Target::Cpu, set.constraint.on == Target::Accelerator,
                       set.constraint.together};
    for (ir::SourceId s : set.sources) {
      for (size_t kind = 0; kind < std::size(of); ++kind)
        if (of[kind] && !first_[s.index()][kind]) first_[s.index()][kind] = index;
    }
  }

  const ir::Graph& g_;
  const std::vector<bool>& constant_;  // by SourceId
  std::vector<std::array<std::optional<size_t>, 3>>
      first_;  // by SourceId: on the CPU, accelerator, in a group
};

// One of several that say the same is enough; a group named twice is a contradiction.
using Meaning = std::tuple<std::vector<std::string>, std::vector<std::string>, std::vector<std::string>,
                           Target, bool, bool, std::optional<uint32_t>, std::optional<uint32_t>>;
Meaning meaning(const Constraint& c) {
  return {c.nodes, c.from, c.to, c.on, c.before, c.after, c.max_layers, c.max_regions};
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
  const Resolver resolver(imported);
  out.constant_ = resolver.constant_sources();
  out.by_source_.resize(imported.sources().size());
  Contradictions contradictions(imported, out.constant_);
  std::set<Meaning> known;
  for (const Constraint& c : constraints) {
    if (!c.together && !known.insert(meaning(c)).second) continue;
    MRVLC_ASSIGN(Set set, resolver.set(c));
    out.add(std::move(set));
    MRVLC_TRY(contradictions.check(out.sets_));
  }
  return out;
}

bool Pins::Set::names(ir::SourceId source) const {
  return std::ranges::binary_search(sources, source);
}

void Pins::add(Set set) {
  const auto index = static_cast<uint32_t>(sets_.size());
  for (ir::SourceId s : set.sources) by_source_[s.index()].push_back(index);
  if (set.canonical) canonical_.push_back(index);
  sets_.push_back(std::move(set));
}

std::vector<ir::SourceId> Pins::computed_sources(const ir::Graph& graph, ir::NodeId node) const {
  const auto& all = graph.lineage(node).sources;
  std::vector<ir::SourceId> out;
  std::ranges::copy_if(all, std::back_inserter(out), [&](ir::SourceId s) { return !constant_[s.index()]; });
  return out.empty() ? all : out;
}

std::vector<uint32_t> Pins::sets_of(const ir::Graph& graph, ir::NodeId node) const {
  std::vector<uint32_t> out;
  if (sets_.empty()) return out;
  const auto answering = [&](const std::string& selector) {
    return answers_itself(graph.node(node), selector);
  };
  for (uint32_t i : canonical_)
    if (std::ranges::any_of(sets_[i].constraint.nodes, answering)) out.push_back(i);
  for (ir::SourceId s : computed_sources(graph, node))
    out.insert(out.end(), by_source_[s.index()].begin(), by_source_[s.index()].end());
  std::ranges::sort(out);
  const auto twice = std::ranges::unique(out);
  out.erase(twice.begin(), twice.end());
  return out;
}

bool Pins::holds_more(const Set& set, const ir::Graph& graph, ir::NodeId node) const {
  const std::vector<ir::SourceId> sources = computed_sources(graph, node);
  const auto named = [&](ir::SourceId s) { return set.names(s); };
  return std::ranges::any_of(sources, named) && !std::ranges::all_of(sources, named);
}

bool Pins::any(const ir::Graph& graph, ir::NodeId node, bool (*of)(const Constraint&)) const {
  return std::ranges::any_of(sets_of(graph, node), [&](uint32_t i) { return of(sets_[i].constraint); });
}

int64_t Pins::group(const ir::Graph& graph, ir::NodeId node) const {
  for (uint32_t i : sets_of(graph, node))
    if (sets_[i].constraint.together) return int64_t{i} + 1;
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
  // Texts and long integers, shapes among them, stay on the CPU whoever reads them; sums of products do not.
  if (v.kind != ir::ValueKind::Result || v.type.wrapper != Wrapper::None) return 0;
  const bool sums = imported.node(v.producer).is(Op::ConvInteger, Op::MatMulInteger);
  if (!is_float(v.type.elem) && !is_byte(v.type.elem) && !sums) return 0;
  const auto& made_by = imported.lineage(v.producer).sources;
  if (std::ranges::all_of(made_by, [&](ir::SourceId s) { return constant_[s.index()]; })) return 0;
  const int64_t group_of_user = group(imported, user), group_of_maker = group(imported, v.producer);
  const bool border = group_of_maker != group_of_user || any(imported, user, border_before) ||
                      any(imported, v.producer, border_after);
  const bool apart = any(imported, user, on_cpu) != any(imported, v.producer, on_cpu);
  if (!border && !apart) return 0;
  return group_of_user << 3 | (group_of_maker != 0 ? 4 : 0) | (apart ? 2 : 0) | (border ? 1 : 0);
}

}  // namespace mrvlc::partition

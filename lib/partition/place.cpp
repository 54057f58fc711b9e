// Tries the rules at every node, in the order in which they decide; what matches and is legal becomes a
// layer.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "calls.h"
#include "mrvlc/partition/rules.h"
#include "placement.h"

namespace mrvlc::partition {

Placement::Placement(const ir::Graph& g, const Accelerator* a)
    : graph(g), accelerator(a), order(g.topological_order()) {
  size_t n = g.node_slots();
  if (a != nullptr) parts = a->parts();
  given_back.resize(n);
  rank.resize(n);
  constraints.resize(n);
  decisions.resize(n);
  progress.resize(n);
  settled.resize(n);
  layer_of.assign(n, kNone);
  for (size_t i = 0; i < order.size(); ++i) {
    rank[order[i].index()] = static_cast<uint32_t>(i);
    decision(order[i]).node = order[i];
  }
}

bool Placement::has_borders() const {
  return (pins != nullptr && pins->fences()) ||
         std::ranges::any_of(constraints, [](const NodeConstraints& c) { return c.border; });
}

namespace {

constexpr size_t kMatchedBefore = 1000;  // progress of a rule that matched on the imported graph

// Equal trials of a rule on several nodes are one.
class TrialPool {
 public:
  std::shared_ptr<const RuleTrial> get(RuleTrial trial) {
    return *trials_.insert(std::make_shared<const RuleTrial>(std::move(trial))).first;
  }

 private:
  using Trial = std::shared_ptr<const RuleTrial>;
  struct Hash {
    size_t operator()(const Trial& t) const {
      size_t hash = t->accepted ? 1 : 0;
      for (const std::string* s : {&t->rule, &t->condition, &t->actual, &t->limit, &t->reason})
        hash = hash * 31 + std::hash<std::string>()(*s);
      return hash;
    }
  };
  struct Equal {
    bool operator()(const Trial& a, const Trial& b) const { return *a == *b; }
  };
  std::unordered_set<Trial, Hash, Equal> trials_;  // looked up only
};

class Placer {
 public:
  // `library`: whose rules they are; null: those of accelerator `part`.
  Placer(Placement& p, const rules::RuleSet& set, const SourceMatches& sources, const Library* library,
         uint32_t part)
      : p_(p), set_(set), sources_(sources), library_(library), part_(part) {
    // Rules of libraries have no such conditions.
    if (library == nullptr) numbers_ = machine_numbers(p.parts[part]->machine());
    operators_.reserve(p.order.size());
    for (ir::NodeId n : p.order) operators_.push_back(p.graph.node(n).op);
    options_.available = [this](ir::NodeId n) { return free(n); };
    options_.starts_region = [this](ir::NodeId n) { return p_.constraints[n.index()].border; };
    options_.machine = &numbers_;
    options_.known = p_.known;
    options_.legal = [this](const rules::Match& m) { return legal(m); };
  }

  // Rule by rule, not node by node: a rule that decides first may take, in the middle of its pattern, what a
  // later one would begin with.
  void run() {
    for (const rules::Rule& rule : set_.rules()) {
      if (rule.stage == rules::Stage::Source || asks_for_integers(rule)) place_sources(rule);
      if (rule.stage == rules::Stage::Source) continue;
      for (ir::NodeId n : anchors_of(rule)) {
        if (free(n)) attempt(rule, n);
      }
    }
  }

 private:
  bool free(ir::NodeId n) const {
    const NodeConstraints& w = p_.constraints[n.index()];
    if (p_.settled[n.index()] || !w.cpu_pattern.empty()) return false;
    // A library computes in the formats that its rules ask for, and what is meant for regions is not its own.
    if (library_ != nullptr) return w.accel_pattern.empty() && w.group == 0;
    if ((p_.given_back[n.index()] >> part_ & 1u) != 0) return false;
    if (!p_.parts[part_]->half() || !w.accel_pattern.empty()) return true;
    return w.exact_for.empty() && (w.rounded_by.empty() || w.exact_chain != UINT32_MAX);
  }

  std::vector<ir::NodeId> in_order(std::vector<ir::NodeId> nodes) const {
    std::ranges::sort(nodes, {}, [&](ir::NodeId n) { return p_.rank[n.index()]; });
    return nodes;
  }

  // The one place where it is asked: for every match of every rule that makes a layer.
  rules::Verdict legal(const rules::Match& match) const {
    if (match.rule->layer == kCpuKind) return {};
    if (!joined(match.nodes))
      return {
          false, "one layer", "a border inside", {}, "a region must begin in the middle of what it matched."};
    if (match.rule->layer == rules::kCallKind)
      return make_call(p_.graph, match, in_order(match.nodes)).refused;
    if (p_.parts[part_]->half() && cuts_chain(match.nodes))
      return {false,
              "rounded in the layer",
              "rounded behind it",
              {},
              "its result is rounded to integers next, in another layer, and would come rounded to fp16."};
    Legality l = p_.parts[part_]->legal(p_.graph, layer_of(match, part_));
    if (l.ok) return {};
    std::string condition = fmt::format("layer {}: {}", match.rule->layer, l.condition);
    return {false, std::move(condition), std::move(l.actual), std::move(l.limit), std::move(l.reason)};
  }

  // Whether it takes a part of an exact chain alone.
  bool cuts_chain(const std::vector<ir::NodeId>& nodes) const {
    return std::ranges::any_of(nodes, [&](ir::NodeId n) {
      const ExactChain* chain = exact_chain(p_, n);
      if (chain == nullptr || !p_.constraints[n.index()].accel_pattern.empty()) return false;
      return !std::ranges::all_of(chain->nodes,
                                  [&](ir::NodeId c) { return std::ranges::find(nodes, c) != nodes.end(); });
    });
  }

  // No border and no end of a group between them.
  bool joined(const std::vector<ir::NodeId>& nodes) const {
    if (p_.pins == nullptr || nodes.size() < 2) return true;
    const uint32_t group = p_.constraints[nodes.front().index()].group;
    return std::ranges::all_of(nodes, [&](ir::NodeId n) {
      return p_.constraints[n.index()].group == group && !borders_on(n, nodes);
    });
  }
  bool borders_on(ir::NodeId n, const std::vector<ir::NodeId>& nodes) const {
    return std::ranges::any_of(p_.graph.node(n).inputs, [&](ir::ValueId v) {
      return v.valid() && p_.pins->borders.contains({v, n}) &&
             std::ranges::find(nodes, p_.graph.value(v).producer) != nodes.end();
    });
  }

  // In order.
  std::vector<ir::NodeId> anchors_of(const rules::Rule& rule) const {
    std::unordered_set<const ir::OpSchema*> wanted;
    for (const rules::Operator& op : rule.pattern[rule.anchor].operators) wanted.insert(op.def);
    std::vector<ir::NodeId> out;
    for (size_t i = 0; i < operators_.size(); ++i)
      if (wanted.contains(operators_[i])) out.push_back(p_.order[i]);
    return out;
  }

  void attempt(const rules::Rule& rule, ir::NodeId n) {
    rules::Outcome o = rules::try_rule(rule, p_.graph, n, options_);
    if (!o.match) return refuse(rule, n, std::move(o));
    if (rule.layer == kCpuKind) return keep(rule, *o.match);
    take(rule, *o.match);
  }

  void refuse(const rules::Rule& rule, ir::NodeId n, rules::Outcome o) {
    NodeDecision& d = p_.decision(n);
    if (d.trials.empty() || o.progress > p_.progress[n.index()]) {
      p_.progress[n.index()] = o.progress;
      d.why = Why::Refused;
      d.reason = reasons_.get(fmt::format("Rule '{}' does not take it: {}", rule.name, o.reason));
    }
    auto trial = trials_.get({rule.name, false, std::move(o.condition), std::move(o.actual),
                              std::move(o.limit), std::move(o.reason)});
    // Rules may be tried twice: see offer_given_back().
    if (std::ranges::none_of(d.trials, [&](const auto& t) { return *t == *trial; }))
      d.trials.push_back(std::move(trial));
  }

  // What the passes made of the nodes that a rule matched before them.
  void place_sources(const rules::Rule& rule) {
    if (!source_nodes_) source_nodes_.emplace(p_.graph);
    for (const SourceMatch& m : sources_) {
      if (m.rule != rule.name) continue;
      Remains left = source_nodes_->of(m);
      if (left.nodes.empty() && left.reason.empty()) continue;  // folded
      place_remains(rule, m, std::move(left));
    }
  }

  void place_remains(const rules::Rule& rule, const SourceMatch& m, Remains left) {
    rules::Match match;
    match.rule = &rule;
    match.nodes = std::move(left.nodes);
    rules::Outcome o;
    o.progress = kMatchedBefore;
    o.condition = rule.stage == rules::Stage::Source ? "stage source" : "integer weights";
    o.actual = std::move(left.actual);
    o.reason = std::move(left.reason);
    if (!match.nodes.empty()) {
      match.anchor = match.nodes.front();
      if (!std::ranges::all_of(match.nodes, [&](ir::NodeId n) { return free(n); })) return;  // taken before
      if (begins_region_inside(match)) {
        o.actual = "a border inside";
        o.reason = "a region must begin in the middle of what it matched.";
      } else {
        rules::Verdict v = legal(match);
        if (v.ok) return rule.layer == kCpuKind ? keep(rule, match) : take(rule, match);
        o.condition = std::move(v.condition), o.actual = std::move(v.actual), o.limit = std::move(v.limit);
        o.reason = std::move(v.reason);
      }
    }
    for (ir::NodeId n : source_nodes_->touched(m)) {
      if (!p_.settled[n.index()]) return refuse(rule, n, std::move(o));
    }
  }

  bool begins_region_inside(const rules::Match& match) const {
    return std::ranges::any_of(match.nodes, [&](ir::NodeId n) {
      if (!p_.constraints[n.index()].border) return false;
      return std::ranges::any_of(p_.graph.node(n).inputs, [&](ir::ValueId v) {
        return v.valid() && p_.graph.value(v).producer.valid() &&
               std::ranges::find(match.nodes, p_.graph.value(v).producer) != match.nodes.end();
      });
    });
  }

  // What the nodes that a rule settles have in common.
  struct Settled {
    SharedText rule, reason;
    std::shared_ptr<const RuleTrial> trial;
  };

  const Settled& settled_by(const rules::Rule& rule) {
    Settled& s = settled_by_[&rule];
    if (s.trial != nullptr) return s;
    s.rule = rule.name;
    s.reason = rule.layer == kCpuKind ? fmt::format("Rule '{}' keeps it on the CPU: {}.", rule.name, rule.why)
                                      : rule.why;
    s.trial = trials_.get({rule.name, true, {}, {}, {}, rule.why});
    return s;
  }

  void settle(const rules::Rule& rule, ir::NodeId n) {
    p_.settled[n.index()] = true;
    NodeDecision& d = p_.decision(n);
    const Settled& s = settled_by(rule);
    d.rule = s.rule;
    d.why = rule.layer == kCpuKind ? Why::HostRule : Why::Rule;
    d.reason = s.reason;
    d.trials.push_back(s.trial);
  }

  void keep(const rules::Rule& rule, const rules::Match& match) {
    for (ir::NodeId n : match.nodes) settle(rule, n);
  }

  void take(const rules::Rule& rule, const rules::Match& match) {
    if (rule.layer == rules::kCallKind) return take_call(rule, match);
    for (ir::NodeId n : match.nodes) {
      p_.layer_of[n.index()] = static_cast<uint32_t>(p_.layers.size());
      settle(rule, n);
    }
    p_.layers.push_back(layer_of(match, part_));
  }

  void take_call(const rules::Rule& rule, const rules::Match& match) {
    Call call = *make_call(p_.graph, match, in_order(match.nodes)).call;
    call.target = library_->target;
    for (ir::NodeId n : call.nodes) {
      p_.decision(n).call = static_cast<uint32_t>(p_.calls.size());
      settle(rule, n);
    }
    p_.calls.push_back(std::move(call));
  }

  Placement& p_;
  const rules::RuleSet& set_;
  const SourceMatches& sources_;
  const Library* library_;
  uint32_t part_;
  rules::MachineNumbers numbers_;
  std::optional<SourceNodes> source_nodes_;     // made when a rule needs it
  std::vector<const ir::OpSchema*> operators_;  // of the nodes in their order
  rules::MatchOptions options_;
  TextPool reasons_;
  TrialPool trials_;
  std::unordered_map<const rules::Rule*, Settled> settled_by_;  // looked up only
};

}  // namespace

void place_layers(Placement& placement, uint32_t accelerator, const rules::RuleSet& set,
                  const SourceMatches& sources) {
  Placer(placement, set, sources, nullptr, accelerator).run();
}

void place_calls(Placement& placement, const Library& library) {
  const SourceMatches none;  // no rule of a library is of that stage
  Placer(placement, library.rules->set, none, &library, 0).run();
}

void explain_rest(Placement& p) {
  TextPool reasons;
  for (ir::NodeId n : p.order) {
    if (p.settled[n.index()]) continue;
    NodeDecision& d = p.decision(n);
    const NodeConstraints& w = p.constraints[n.index()];
    if (!w.cpu_pattern.empty()) {
      d.why = Why::HostOption;
      d.reason = reasons.get(fmt::format("It is kept on the CPU because {} names it.", w.cpu_pattern));
    } else if (!w.rounded_by.empty()) {
      d.why = Why::Rounded;
      d.reason = reasons.get(rounded_reason(w.rounded_by));
    } else if (!w.exact_for.empty()) {
      d.why = Why::Sensitive;
      d.reason = reasons.get(exact_reason(w.exact_for));
    } else if (d.trials.empty()) {
      d.reason = reasons.get(fmt::format("No rule takes operator {}.", printable(p.graph.node(n).op->name)));
    }
  }
}

}  // namespace mrvlc::partition

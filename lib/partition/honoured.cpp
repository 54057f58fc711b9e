// Whether what came about is what constraints ask, read off the partition alone: whoever forms regions,
// nothing is ignored. And what `max_regions` asks, which only the finished partition can tell.
#include <algorithm>
#include <map>

#include "mrvlc/ir/pass_names.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/partition.h"
#include "mrvlc/support/saturating.h"
#include "placement.h"

namespace mrvlc::partition {
namespace {

constexpr uint32_t kCpu = UINT32_MAX;

class Checker {
 public:
  Checker(const ir::Graph& graph, const Pins& pins, const Partition& partition)
      : graph_(graph),
        pins_(pins),
        partition_(partition),
        region_of_(graph.node_slots(), kCpu),
        decision_of_(graph.node_slots()) {
    for (const NodeDecision& d : partition.decisions) {
      decision_of_[d.node.index()] = &d;
      if (d.accelerator) region_of_[d.node.index()] = d.region;
    }
  }

  Status run() const {
    for (const auto& [i, nodes] : named()) {
      const Constraint& c = pins_.sets()[i].constraint;
      if (std::string why = broken(c, nodes); !why.empty())
        return make_diag<DiagCode::MRV0412>(c.given_as, why);
    }
    for (const auto& [value, user] : pins_.borders) {
      const ir::Value& v = graph_.value(value);
      if (v.kind != ir::ValueKind::Result || graph_.node(user).erased) continue;
      const uint32_t region = region_of_[user.index()];
      if (region != kCpu && region_of_[v.producer.index()] == region)
        return make_diag<DiagCode::MRV0412>(
            "a border", fmt::format("{} and {} are in one region", shown(graph_, graph_.node(v.producer)),
                                    shown(graph_, graph_.node(user))));
    }
    return {};
  }

 private:
  // The nodes of the sets that have some, in the order of the decisions.
  std::map<uint32_t, std::vector<ir::NodeId>> named() const {
    std::map<uint32_t, std::vector<ir::NodeId>> out;
    for (const NodeDecision& d : partition_.decisions) {
      if (graph_.lineage(d.node).pass == ir::kWidenF16) continue;
      for (uint32_t i : pins_.sets_of(graph_, d.node)) out[i].push_back(d.node);
    }
    return out;
  }

  std::string broken(const Constraint& c, const std::vector<ir::NodeId>& nodes) const {
    if (c.on != Constraint::Target::Any) {
      const bool cpu = c.on == Constraint::Target::Cpu;
      for (ir::NodeId n : nodes) {
        if ((region_of_[n.index()] == kCpu) != cpu)
          return fmt::format("{} runs on the {}", shown(graph_, graph_.node(n)), cpu ? "accelerator" : "CPU");
      }
    }
    if (std::string why = c.together ? parted(nodes) : ""; !why.empty()) return why;
    if (std::string why = c.max_layers ? too_many_layers(nodes, *c.max_layers) : ""; !why.empty()) return why;
    if (c.max_regions && regions_of(nodes).size() > *c.max_regions)
      return fmt::format("there are {} regions", regions_of(nodes).size());
    return {};
  }

  std::set<uint32_t> regions_of(const std::vector<ir::NodeId>& nodes) const {
    std::set<uint32_t> out;
    for (ir::NodeId n : nodes) {
      if (region_of_[n.index()] != kCpu) out.insert(region_of_[n.index()]);
    }
    return out;
  }

  std::vector<bool> inside(const std::vector<ir::NodeId>& nodes) const {
    std::vector<bool> out(graph_.node_slots());
    for (ir::NodeId n : nodes) out[n.index()] = true;
    return out;
  }

  std::string parted(const std::vector<ir::NodeId>& nodes) const {
    for (ir::NodeId n : nodes) {
      const NodeDecision& d = *decision_of_[n.index()];
      if (!d.accelerator)
        return fmt::format("{} runs on the CPU: {}", shown(graph_, graph_.node(n)), d.reason);
    }
    const std::set<uint32_t> regions = regions_of(nodes);
    if (regions.size() > 1) return several(nodes, regions);
    const std::set<ir::NodeId> among(nodes.begin(), nodes.end());
    for (uint32_t r : regions) {
      for (const Layer& l : partition_.regions[r].layers) {
        for (ir::NodeId n : l.nodes) {
          if (!among.contains(n))
            return fmt::format("{} would be in the same region", shown(graph_, graph_.node(n)));
        }
      }
    }
    return {};
  }

  std::string several(const std::vector<ir::NodeId>& nodes, const std::set<uint32_t>& regions) const {
    if (const ir::NodeId between = way_back(nodes); between.valid())
      return fmt::format("a way leads out of them through {} and back", shown(graph_, graph_.node(between)));
    return fmt::format(
        "they make {} regions: one does not hold as many layers, or as many inputs and outputs",
        regions.size());
  }

  // A node outside that one of them reaches, and that reaches one of them; invalid: there is none.
  ir::NodeId way_back(const std::vector<ir::NodeId>& nodes) const {
    const std::vector<bool> among = inside(nodes);
    std::vector<bool> behind(graph_.node_slots());
    for (const NodeDecision& d : partition_.decisions) {
      for (ir::ValueId v : graph_.node(d.node).inputs) {
        if (!v.valid() || graph_.value(v).kind != ir::ValueKind::Result) continue;
        const ir::NodeId from = graph_.value(v).producer;
        if (among[d.node.index()] && !among[from.index()] && behind[from.index()]) return from;
        if (among[from.index()] || behind[from.index()]) behind[d.node.index()] = true;
      }
    }
    return {};
  }

  std::string too_many_layers(const std::vector<ir::NodeId>& nodes, uint32_t most) const {
    for (uint32_t r : regions_of(nodes)) {
      const size_t count = partition_.regions[r].layers.size();
      if (count > most) return fmt::format("region {} holds {} layers", r, count);
    }
    return {};
  }

  const ir::Graph& graph_;
  const Pins& pins_;
  const Partition& partition_;
  std::vector<uint32_t> region_of_;  // by NodeId
  std::vector<const NodeDecision*> decision_of_;
};

int64_t macs_of(const ir::Graph& graph, const Region& region) {
  int64_t all = 0;
  for (const Layer& l : region.layers) {
    for (ir::NodeId n : l.nodes) all = saturating_add(all, ops::macs(graph, graph.node(n)));
  }
  return all;
}

// That no other constraint holds on the accelerator.
bool may_leave(const Placement& p, const Region& region) {
  return std::ranges::none_of(region.layers, [&](const Layer& l) { return is_asked_for(p, l); });
}

// By constraint that limits them, the regions that hold one of its nodes.
std::map<uint32_t, std::vector<const Region*>> limited_regions(const Placement& p, const Partition& formed) {
  std::map<uint32_t, std::vector<const Region*>> out;
  const auto limits = [](const Pins::Set& set) { return set.constraint.max_regions.has_value(); };
  if (std::ranges::none_of(p.pins->sets(), limits)) return out;
  for (const Region& r : formed.regions) {
    std::set<uint32_t> mine;
    for (const Layer& l : r.layers) {
      for (ir::NodeId n : l.nodes) {
        const std::vector<uint32_t> sets = p.pins->sets_of(p.graph, n);
        mine.insert(sets.begin(), sets.end());
      }
    }
    for (uint32_t i : mine)
      if (limits(p.pins->sets()[i])) out[i].push_back(&r);
  }
  return out;
}

void leave(Placement& p, const Region& region, const std::string& asked) {
  const SharedText reason =
      fmt::format("It is kept on the CPU because {} admits no more regions than there are.", asked);
  for (const Layer& l : region.layers) {
    p.layers[p.layer_of[l.anchor.index()]].nodes.clear();
    for (ir::NodeId n : l.nodes) {
      p.layer_of[n.index()] = Placement::kNone;
      p.decision(n).rule.clear();
      p.decision(n).why = Why::HostOption;
      p.decision(n).reason = reason;
      p.beyond_regions.push_back(n);
    }
  }
  drop_empty_layers(p);
}

}  // namespace

Status check_honoured(const ir::Graph& graph, const Pins& pins, const Partition& partition) {
  return Checker(graph, pins, partition).run();
}

bool give_back_regions(Placement& p, const Partition& formed) {
  if (p.pins == nullptr) return false;
  for (auto& [i, holding] : limited_regions(p, formed)) {
    const Constraint& c = p.pins->sets()[i].constraint;
    if (holding.size() <= *c.max_regions) continue;
    std::erase_if(holding, [&](const Region* r) { return !may_leave(p, *r); });
    if (holding.empty()) return false;  // check_honoured says so
    const Region* least =
        *std::ranges::min_element(holding, {}, [&](const Region* r) { return macs_of(p.graph, *r); });
    leave(p, *least, c.given_as);
    return true;
  }
  return false;
}

}  // namespace mrvlc::partition

// Own costs, and those of the values that the nodes read and make: a launch is not counted.
#include "choice/runners_up.h"

#include <algorithm>
#include <map>
#include <set>

namespace mrvlc::partition {
namespace {

constexpr size_t kMostReaders = 256;  // of a value: those behind it are not asked

class Elsewhere {
 public:
  Elsewhere(const Placement& p, const Offers& offers, const Tariff& tariff, const Choice& choice)
      : p_(p), offers_(offers), tariff_(tariff), choice_(choice) {
    for (uint32_t i = 0; i < offers.all.size(); ++i)
      for (ir::NodeId n : offers.all[i].layer.nodes) by_node_[n].push_back(i);
  }

  // Of the nodes that one offer, or the host, computes; empty: nobody else would.
  std::vector<TargetCost> of(const std::vector<ir::NodeId>& nodes) const {
    std::vector<TargetCost> out;
    for (uint32_t b = 0; b < offers_.bidders.size(); ++b)
      if (const auto offers = offers_of(b, nodes); !offers.empty())
        out.push_back({offers_.bidders[b].name, seconds(nodes, offers)});
    if (out.empty()) return out;
    out.push_back({"host", seconds(nodes, {})});
    std::ranges::stable_sort(out, {}, &TargetCost::seconds);
    return out;
  }

 private:
  // Of the bidder's offers, those that lie within the nodes: the largest first.
  std::vector<uint32_t> offers_of(uint32_t bidder, const std::vector<ir::NodeId>& nodes) const {
    std::set<ir::NodeId> open(nodes.begin(), nodes.end());
    std::vector<uint32_t> fitting, out;
    for (ir::NodeId n : nodes) {
      const auto found = by_node_.find(n);
      if (found == by_node_.end()) continue;
      for (uint32_t i : found->second)
        if (offers_.all[i].bidder == bidder && offers_.all[i].layer.nodes.front() == n) fitting.push_back(i);
    }
    const auto size = [&](uint32_t i) { return offers_.all[i].layer.nodes.size(); };
    std::ranges::stable_sort(fitting, std::greater<>(), size);
    for (uint32_t i : fitting) {
      const auto& of = offers_.all[i].layer.nodes;
      if (!std::ranges::all_of(of, [&](ir::NodeId n) { return open.contains(n); })) continue;
      for (ir::NodeId n : of) open.erase(n);
      out.push_back(i);
    }
    return out;
  }

  double seconds(const std::vector<ir::NodeId>& nodes, const std::vector<uint32_t>& offers) const {
    std::map<ir::NodeId, uint32_t> of;
    for (ir::NodeId n : nodes) of[n] = kOnHost;
    double sum = 0;
    for (uint32_t i : offers) {
      sum += tariff_.own(i);
      for (ir::NodeId n : offers_.all[i].layer.nodes) of[n] = i;
    }
    std::set<ir::ValueId> values;
    for (ir::NodeId n : nodes) {
      if (of.at(n) == kOnHost) sum += tariff_.host(p_.rank[n.index()]);
      for (const auto* list : {&p_.graph.node(n).inputs, &p_.graph.node(n).outputs})
        for (ir::ValueId v : *list)
          if (v.valid() && !p_.graph.is_constant(v)) values.insert(v);
    }
    for (ir::ValueId v : values) sum += handed(v, of);
    return sum;
  }

  double handed(ir::ValueId id, const std::map<ir::NodeId, uint32_t>& of) const {
    const ir::Value& v = p_.graph.value(id);
    const auto side = [&](ir::NodeId n) {
      const auto here = of.find(n);
      return tariff_.side_of(here == of.end() ? choice_[p_.rank[n.index()]] : here->second);
    };
    Handed state;
    const bool input = v.kind == ir::ValueKind::Input || !v.producer.valid();
    double sum = tariff_.made(id, input ? kHostSide : side(v.producer), v.output_uses > 0, state);
    for (size_t i = 0; i < std::min(v.users.size(), kMostReaders); ++i)
      sum += tariff_.read(id, side(v.users[i]), state);
    return sum;
  }

  const Placement& p_;
  const Offers& offers_;
  const Tariff& tariff_;
  const Choice& choice_;
  std::map<ir::NodeId, std::vector<uint32_t>> by_node_;
};

}  // namespace

std::vector<std::shared_ptr<const std::vector<TargetCost>>> runners_up(const Placement& p,
                                                                       const Offers& offers,
                                                                       const Tariff& tariff,
                                                                       const Choice& choice) {
  const Elsewhere elsewhere(p, offers, tariff, choice);
  std::vector<std::shared_ptr<const std::vector<TargetCost>>> out(p.order.size());
  for (size_t rank = 0; rank < choice.size(); ++rank) {
    if (out[rank] != nullptr) continue;
    std::vector<ir::NodeId> nodes = {p.order[rank]};
    if (choice[rank] != kOnHost) nodes = offers.all[choice[rank]].layer.nodes;
    std::vector<TargetCost> costs = elsewhere.of(nodes);
    if (costs.empty()) continue;
    const auto shared = std::make_shared<const std::vector<TargetCost>>(std::move(costs));
    for (ir::NodeId n : nodes) out[p.rank[n.index()]] = shared;
  }
  return out;
}

}  // namespace mrvlc::partition

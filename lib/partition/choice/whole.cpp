// Forms the regions of a choice and adds up what they, the calls and the host take.
#include "choice/whole.h"

#include <algorithm>
#include <limits>

namespace mrvlc::partition {
namespace {

std::vector<ir::NodeId> nodes_of_layers(const Region& r) {
  std::vector<ir::NodeId> out;
  for (const Layer& l : r.layers) out.insert(out.end(), l.nodes.begin(), l.nodes.end());
  return out;
}

Placement without_words(const Placement& p) {
  Placement out = p;
  out.layers.clear(), out.calls.clear();
  out.layer_of.assign(out.layer_of.size(), Placement::kNone);
  for (NodeDecision& d : out.decisions) {
    const ir::NodeId node = d.node;
    d = NodeDecision();
    d.node = node;
  }
  return out;
}

}  // namespace

Whole::Whole(const Placement& p, const Offers& offers, const Tariff& tariff, const Costs& costs)
    : offers_(offers),
      tariff_(tariff),
      costs_(costs),
      scratch_(without_words(p)),
      nodes_(p.graph.node_slots(), 0) {
  for (size_t rank = 0; rank < p.order.size(); ++rank) nodes_[p.order[rank].index()] = tariff.host(rank);
  for (uint32_t i = 0; i < offers.all.size(); ++i) {
    const Offer& o = offers.all[i];
    if (!o.call) of_layer_.emplace(std::pair(o.layer.accelerator, o.layer.nodes), tariff.own(i));
  }
}

void Whole::place(const Choice& choice, Placement& p) const {
  p.layers.clear(), p.calls.clear();
  p.layer_of.assign(p.layer_of.size(), Placement::kNone);
  for (size_t rank = 0; rank < choice.size(); ++rank) {
    if (choice[rank] == kOnHost) continue;
    const Offer& o = offers_.all[choice[rank]];
    if (o.layer.nodes.front() != p.order[rank]) continue;
    if (o.call) {
      p.calls.push_back(*o.call);
      continue;
    }
    for (ir::NodeId n : o.layer.nodes) p.layer_of[n.index()] = static_cast<uint32_t>(p.layers.size());
    p.layers.push_back(o.layer);
  }
}

Partition Whole::regions_of(const Choice& choice) {
  place(choice, scratch_);
  Partition out;
  form_regions(scratch_, out, false);
  if (costs_.keep)
    for (Region& r : out.regions) costs_.keep(scratch_.graph, r);
  return out;
}

double Whole::seconds(const Choice& choice) {
  for (size_t rank = 0; rank < choice.size(); ++rank)
    if (tariff_.side_of(choice[rank]) == kHostSide && !tariff_.may_stay(rank))
      return std::numeric_limits<double>::infinity();
  ++asked_;
  return estimated(choice, [&](const Region& r) { return from_shapes(r); });
}

std::optional<double> Whole::measured(const Choice& choice) {
  bool possible = true;
  const double sum = estimated(choice, [&](const Region& r) {
    const std::optional<double> seconds = possible ? timed(r) : std::nullopt;
    possible = possible && seconds.has_value();
    return seconds.value_or(0);
  });
  return possible ? std::optional(sum) : std::nullopt;
}

double Whole::estimated(const Choice& choice, const std::function<double(const Region&)>& of_region) {
  const Partition partition = regions_of(choice);
  std::vector<double> nodes = nodes_;
  time_calls(scratch_.calls, nodes);
  if (scratch_.accelerator == nullptr) {
    double sum = 0;
    for (ir::NodeId n : scratch_.order) sum += nodes[n.index()];
    return sum;
  }
  const std::vector<Crossing> borders = crossings(scratch_.graph, partition, *scratch_.accelerator);
  return estimate(scratch_.graph, partition, *scratch_.accelerator, costs_.host, nodes, borders, of_region)
      .seconds();
}

double Whole::from_shapes(const Region& r) const {
  double sum = scratch_.parts[r.accelerator]->border_seconds(scratch_.graph, r);
  for (const Layer& l : r.layers) sum += of_layer_.at({r.accelerator, l.nodes});
  return sum;
}

// Choices share regions: each is compiled once. A target that tells no cycles is taken at its estimate.
std::optional<double> Whole::timed(const Region& r) {
  const auto [it, fresh] = timed_.try_emplace({r.accelerator, nodes_of_layers(r)});
  if (!fresh) return it->second;
  it->second = costs_.measured(scratch_.graph, r);
  if (it->second && *it->second == 0) it->second = from_shapes(r);
  return it->second;
}

}  // namespace mrvlc::partition

// Whole stretches change hands: a single layer seldom pays for a launch and for its values.
#include "choice/improve.h"

#include <algorithm>

namespace mrvlc::partition {
namespace {

constexpr uint32_t kNobody = kOnHost;

// Fills in choices, first those of one bidder.
class Filler {
 public:
  Filler(const Placement& p, const Offers& offers, const Tariff& tariff)
      : p_(p), offers_(offers), tariff_(tariff) {}

  // Nodes of `open` (by rank) get offers of the bidder that lie within; kNobody: none.
  void give(uint32_t bidder, std::vector<bool>& open, Choice& choice) const {
    if (bidder == kNobody) return;
    for (size_t rank = 0; rank < open.size(); ++rank) {
      if (!open[rank]) continue;
      const uint32_t best = best_of(rank, open, [&](uint32_t i) { return offers_.all[i].bidder == bidder; });
      if (best != kNobody) take(best, open, choice);
    }
  }

  // What is left goes to whoever takes least by itself.
  void give_cheapest(std::vector<bool>& open, Choice& choice) const {
    for (size_t rank = 0; rank < open.size(); ++rank) {
      if (!open[rank]) continue;
      const uint32_t best = best_of(rank, open, [&](uint32_t i) { return saves(i, rank); });
      if (best != kNobody) take(best, open, choice);
    }
  }

 private:
  bool saves(uint32_t i, size_t rank) const {
    double host = 0;
    for (ir::NodeId n : offers_.all[i].layer.nodes) host += tariff_.host(p_.rank[n.index()]);
    return tariff_.own(i) <= host || !tariff_.may_stay(rank);
  }

  // Of the most nodes, then the least cost of its own.
  uint32_t best_of(size_t rank, const std::vector<bool>& open, const auto& among) const {
    uint32_t best = kNobody;
    for (uint32_t i : offers_.begin[rank]) {
      const auto& nodes = offers_.all[i].layer.nodes;
      if (!among(i)) continue;
      if (!std::ranges::all_of(nodes, [&](ir::NodeId n) { return open[p_.rank[n.index()]]; })) continue;
      if (best == kNobody || per_node(i) < per_node(best)) best = i;
    }
    return best;
  }
  double per_node(uint32_t i) const {
    return tariff_.own(i) / static_cast<double>(offers_.all[i].layer.nodes.size());
  }

  void take(uint32_t i, std::vector<bool>& open, Choice& choice) const {
    for (ir::NodeId n : offers_.all[i].layer.nodes) {
      open[p_.rank[n.index()]] = false;
      choice[p_.rank[n.index()]] = i;
    }
  }

  const Placement& p_;
  const Offers& offers_;
  const Tariff& tariff_;
};

class Improver {
 public:
  Improver(const Placement& p, const Offers& offers, const Tariff& tariff, Whole& whole, Priced known,
           size_t tries)
      : p_(p),
        offers_(offers),
        filler_(p, offers, tariff),
        whole_(whole),
        best_(std::move(known)),
        tries_(tries) {}

  Priced run() {
    for (bool better = true; better && tries_ > 0;) {
      better = false;
      for (const std::vector<bool>& nodes : stretches()) better = improve(nodes) || better;
    }
    return std::move(best_);
  }

 private:
  using Nodes = std::vector<bool>;  // by rank

  // Regions; their first and last layers; what lies between regions on the host; nodes by bidder.
  std::vector<Nodes> stretches() {
    std::vector<Nodes> out;
    const auto add = [&](const std::vector<const Layer*>& layers) {
      Nodes nodes(p_.order.size());
      for (const Layer* l : layers)
        for (ir::NodeId n : l->nodes) nodes[p_.rank[n.index()]] = true;
      out.push_back(std::move(nodes));
    };
    const Partition now = whole_.regions_of(best_.choice);
    for (const Region& r : now.regions) {
      if (out.size() > tries_) break;
      std::vector<const Layer*> layers;
      for (const Layer& l : r.layers) layers.push_back(&l);
      add(layers);
      if (layers.size() < 2) continue;
      add({layers.front()});
      add({layers.back()});
    }
    add_host_runs(out);
    return out;
  }

  void add_host_runs(std::vector<Nodes>& out) const {
    Nodes run(p_.order.size()), all(p_.order.size());
    bool any = false;
    for (size_t rank = 0; rank < run.size(); ++rank) {
      const uint32_t i = best_.choice[rank];
      const bool host = i == kOnHost || offers_.all[i].call.has_value();
      if (host) run[rank] = all[rank] = any = true;
      if ((host && rank + 1 < run.size()) || !any) continue;
      if (out.size() > tries_) break;
      out.push_back(std::exchange(run, Nodes(p_.order.size())));
      any = false;
    }
    out.push_back(std::move(all));
  }

  bool improve(const Nodes& nodes) {
    bool better = false;
    for (uint32_t b = 0; b <= offers_.bidders.size(); ++b) {
      for (const bool cheapest : {false, true}) {
        if (tries_ == 0) return better;
        Nodes open = nodes;
        Choice next = best_.choice;
        release(open, next);
        filler_.give(b < offers_.bidders.size() ? b : kNobody, open, next);
        if (cheapest) filler_.give_cheapest(open, next);
        better = consider(std::move(next)) || better;
      }
    }
    return better;
  }

  // Offers that reach beyond the nodes are given up as a whole.
  void release(Nodes& open, Choice& choice) const {
    const Nodes asked = open;
    for (size_t rank = 0; rank < asked.size(); ++rank) {
      if (!asked[rank] || choice[rank] == kOnHost) continue;
      for (ir::NodeId n : offers_.all[choice[rank]].layer.nodes) {
        open[p_.rank[n.index()]] = true;
        choice[p_.rank[n.index()]] = kOnHost;
      }
    }
  }

  bool consider(Choice next) {
    if (next == best_.choice) return false;
    --tries_;
    const double seconds = whole_.seconds(next);
    if (seconds >= best_.seconds || same_seconds(seconds, best_.seconds)) return false;
    best_ = {std::move(next), seconds};
    return true;
  }

  const Placement& p_;
  const Offers& offers_;
  Filler filler_;
  Whole& whole_;
  Priced best_;
  size_t tries_;
};

}  // namespace

std::vector<Choice> first_choices(const Placement& p, const Offers& offers, const Tariff& tariff) {
  const Filler filler(p, offers, tariff);
  std::vector<Choice> out = {Choice(p.order.size(), kOnHost)};
  const auto add = [&](uint32_t first, bool cheapest) {
    std::vector<bool> open(p.order.size(), true);
    Choice choice(p.order.size(), kOnHost);
    filler.give(first, open, choice);
    if (cheapest) filler.give_cheapest(open, choice);
    if (std::ranges::find(out, choice) == out.end()) out.push_back(std::move(choice));
  };
  for (uint32_t b = 0; b < offers.bidders.size(); ++b) add(b, false);
  for (uint32_t b = 0; b < offers.bidders.size(); ++b) add(b, true);
  add(kNobody, true);
  return out;
}

Priced improve(const Placement& p, const Offers& offers, const Tariff& tariff, Whole& whole, Priced known,
               size_t tries) {
  return Improver(p, offers, tariff, whole, std::move(known), tries).run();
}

namespace {

// Another bidder's offer of the same nodes that takes as long, and is named before.
uint32_t named_before(const Offers& offers, const Tariff& tariff, const std::vector<uint32_t>& here,
                      uint32_t i) {
  uint32_t best = i;
  for (uint32_t o : here) {
    if (offers.all[o].layer.nodes != offers.all[i].layer.nodes) continue;
    if (!same_seconds(tariff.own(o), tariff.own(i))) continue;
    if (offers.bidders[offers.all[o].bidder].position < offers.bidders[offers.all[best].bidder].position)
      best = o;
  }
  return best;
}

// What the host takes as long for as a call: the library was asked for.
void give_as_cheap(const Placement& p, const Offers& offers, const Tariff& tariff, size_t rank,
                   Choice& choice) {
  uint32_t best = kNobody;
  for (uint32_t o : offers.begin[rank]) {
    const Offer& offer = offers.all[o];
    double host = 0;
    bool free = offer.call.has_value();
    for (ir::NodeId n : offer.layer.nodes) {
      host += tariff.host(p.rank[n.index()]);
      free = free && choice[p.rank[n.index()]] == kOnHost;
    }
    if (!free || !same_seconds(host, tariff.own(o))) continue;
    if (best == kNobody ||
        offers.bidders[offer.bidder].position < offers.bidders[offers.all[best].bidder].position)
      best = o;
  }
  if (best == kNobody) return;
  for (ir::NodeId n : offers.all[best].layer.nodes) choice[p.rank[n.index()]] = best;
}

}  // namespace

Priced prefer_named(const Placement& p, const Offers& offers, const Tariff& tariff, Whole& whole,
                    Priced known) {
  Choice next = known.choice;
  for (size_t rank = 0; rank < next.size(); ++rank) {
    const uint32_t i = next[rank];
    if (i == kOnHost || offers.all[i].layer.nodes.front() != p.order[rank]) continue;
    const uint32_t best = named_before(offers, tariff, offers.begin[rank], i);
    for (ir::NodeId n : offers.all[i].layer.nodes) next[p.rank[n.index()]] = best;
  }
  for (size_t rank = 0; rank < next.size(); ++rank) give_as_cheap(p, offers, tariff, rank, next);
  if (next == known.choice) return known;
  const double seconds = whole.seconds(next);
  if (seconds > known.seconds && !same_seconds(seconds, known.seconds)) return known;
  return {std::move(next), seconds};
}

}  // namespace mrvlc::partition

// Asks each target's rules on a copy of the placement: with all nodes, with those that another target leaves,
// and with those that all others leave.
#include "choice/offers.h"

#include <algorithm>
#include <map>

namespace mrvlc::partition {
namespace {

constexpr size_t kMostPaired = 6;  // targets of which each pair is asked

}  // namespace

std::vector<Bidder> bidders_of(const Placement& p, const Options& options) {
  std::vector<Bidder> out;
  const size_t libraries = options.libraries == nullptr ? 0 : options.libraries->size();
  uint32_t position = 0;
  for (uint32_t i = 0; i <= libraries; ++i) {
    for (uint32_t a = 0; a < p.parts.size(); ++a)
      if (turn_of(options, a).behind == i) out.push_back({p.parts[a]->machine().name, false, a, position++});
    if (i < libraries) out.push_back({(*options.libraries)[i].target, true, i, position++});
  }
  std::ranges::sort(out, {}, [](const Bidder& b) { return std::pair(b.name, b.position); });
  return out;
}

void ask_rules(Placement& p, const Options& options, const SourceMatches& sources, const Bidder& b) {
  if (b.is_library) return place_calls(p, (*options.libraries)[b.index]);
  const Turn turn = turn_of(options, b.index);
  const SoundRules& rules = turn.rules != nullptr ? turn.rules : p.parts[b.index]->rules();
  place_layers(p, b.index, rules->set, sources);
}

namespace {

class Gatherer {
 public:
  Gatherer(const Placement& p, const Options& options, const SourceMatches& sources)
      : p_(p), options_(options), sources_(sources) {
    out_.bidders = bidders_of(p, options);
    out_.begin.resize(p.order.size());
  }

  Offers run() {
    const auto count = static_cast<uint32_t>(out_.bidders.size());
    for (uint32_t b = 0; b < count; ++b) {
      Placement asked = ask(b, std::vector<bool>(p_.graph.node_slots()));
      add(b, asked);
      taken_.push_back(taken_by(asked));
      out_.of_bidder.push_back(out_.all.size());
      out_.said.push_back(std::move(asked.decisions));
    }
    for (uint32_t b = 0; b < count; ++b) ask_for_rests(b);
    return std::move(out_);
  }

 private:
  // What the rules of a target take where the `closed` nodes are not theirs.
  Placement ask(uint32_t bidder, const std::vector<bool>& closed) const {
    Placement copy = p_;
    for (size_t n = 0; n < closed.size(); ++n) copy.settled[n] = copy.settled[n] || closed[n];
    ask_rules(copy, options_, sources_, out_.bidders[bidder]);
    return copy;
  }

  static bool takes(const Placement& asked, ir::NodeId n) {
    return asked.layer_of[n.index()] != Placement::kNone ||
           asked.decisions[n.index()].call != NodeDecision::kNoCall;
  }
  std::vector<bool> taken_by(const Placement& asked) const {
    std::vector<bool> out(p_.graph.node_slots());
    for (ir::NodeId n : p_.order) out[n.index()] = takes(asked, n);
    return out;
  }

  // Where layers of two targets meet and differ, each may compute the rest of its own.
  void ask_for_rests(uint32_t bidder) {
    const size_t count = out_.bidders.size();
    std::vector<bool> others(p_.graph.node_slots());
    for (uint32_t b = 0; b < count; ++b) {
      if (b == bidder) continue;
      for (size_t n = 0; n < others.size(); ++n) others[n] = others[n] || taken_[b][n];
      if (count <= kMostPaired && cuts(bidder, taken_[b])) add(bidder, ask(bidder, taken_[b]));
    }
    if ((count > 2 || count > kMostPaired) && cuts(bidder, others)) add(bidder, ask(bidder, others));
  }

  // Whether some of a layer of the target is among the nodes, and some is not.
  bool cuts(uint32_t bidder, const std::vector<bool>& nodes) const {
    const auto cut = [&](uint32_t i) {
      const auto in = [&](ir::NodeId n) { return nodes[n.index()]; };
      const std::vector<ir::NodeId>& of = out_.all[i].layer.nodes;
      return std::ranges::any_of(of, in) && !std::ranges::all_of(of, in);
    };
    return std::ranges::any_of(out_.alone(bidder), cut);
  }

  void add(uint32_t bidder, const Placement& asked) {
    for (const Layer& l : asked.layers) add(bidder, asked, l, std::nullopt);
    for (const Call& c : asked.calls) add(bidder, asked, {c.rule, {}, c.nodes, c.anchor, 0}, c);
  }

  void add(uint32_t bidder, const Placement& asked, Layer layer, std::optional<Call> call) {
    std::ranges::sort(layer.nodes, {}, [&](ir::NodeId n) { return p_.rank[n.index()]; });
    std::vector<uint32_t>& here = out_.begin[p_.rank[layer.nodes.front().index()]];
    const bool known = std::ranges::any_of(here, [&](uint32_t i) {
      return out_.all[i].bidder == bidder && out_.all[i].layer.nodes == layer.nodes;
    });
    if (known) return;
    if (here.size() == kMostOffers) {
      ++out_.left_out;
      return;
    }
    const NodeDecision& d = asked.decisions[layer.nodes.front().index()];
    here.push_back(static_cast<uint32_t>(out_.all.size()));
    out_.all.push_back({bidder, std::move(layer), std::move(call), d.rule, d.reason});
  }

  const Placement& p_;
  const Options& options_;
  const SourceMatches& sources_;
  std::vector<std::vector<bool>> taken_;  // by bidder, by node id
  Offers out_;
};

}  // namespace

std::vector<uint32_t> Offers::alone(uint32_t bidder) const {
  std::vector<uint32_t> out;
  for (size_t i = bidder == 0 ? 0 : of_bidder[bidder - 1]; i < of_bidder[bidder]; ++i)
    out.push_back(static_cast<uint32_t>(i));
  return out;
}

Offers gather_offers(const Placement& placement, const Options& options, const SourceMatches& sources) {
  return Gatherer(placement, options, sources).run();
}

}  // namespace mrvlc::partition

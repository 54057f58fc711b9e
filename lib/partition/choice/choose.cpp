// Which target takes which layer, by cost, among all that --target names: starting points, the frontier, what
// makes them better, all choices where there are few. Of the best few, those that a compile can time are
// timed (Costs::measured).
#include <algorithm>
#include <limits>

#include "choice/frontier.h"
#include "choice/improve.h"
#include "choice/runners_up.h"
#include "mrvlc/ops/work.h"

namespace mrvlc::partition {
namespace {

constexpr double kExact = 1e-6;       // a gap that is none
constexpr double kMostMacs = 1e9;     // of a model that is compiled several ways to know
constexpr size_t kMostTimed = 3;      // of a smaller one
constexpr double kNearlySame = 1.01;  // times an estimate

class TargetChooser {
 public:
  TargetChooser(const Placement& p, const Options& options, const Offers& offers)
      : p_(p),
        options_(options),
        offers_(offers),
        tariff_(p, offers, *options.costs),
        whole_(p, offers, tariff_, *options.costs),
        tries_(std::clamp<size_t>(200'000 / std::max<size_t>(1, p.order.size()), 8, 400)) {}

  Choice run(Partition& out) {
    for (Choice& c : first_choices(p_, offers_, tariff_)) consider(std::move(c));
    make_better();
    const Bound bound = search_frontier(p_, offers_, tariff_, best().seconds);
    if (bound.choice) {
      consider(*bound.choice);
      make_better();
    }
    double least = bound.least;
    if (best().seconds > least * (1 + kExact)) {
      const Least all = search_all(p_, offers_, tariff_, whole_, best().choice, best().seconds);
      known_.push_back({all.choice, all.seconds});
      if (all.all) least = all.seconds;
    }
    Priced chosen = timed(prefer_named(p_, offers_, tariff_, whole_, best()));
    out.gap = std::max(0.0, best().seconds / std::max(least, 1e-15) - 1);
    if (out.gap < kExact) out.gap = 0;
    out.chosen_seconds = chosen.seconds;
    return std::move(chosen.choice);
  }

  const Tariff& tariff() const { return tariff_; }
  const Whole& whole() const { return whole_; }

 private:
  void consider(Choice choice) {
    const double seconds = whole_.seconds(choice);
    known_.push_back({std::move(choice), seconds});
  }
  const Priced& best() const { return *std::ranges::min_element(known_, {}, &Priced::seconds); }
  void make_better() { known_.push_back(improve(p_, offers_, tariff_, whole_, best(), tries_)); }

  // The best few by what a compile says of them; the first counts where none can be timed.
  Priced timed(Priced first) {
    double macs = 0;
    for (ir::NodeId n : p_.order) macs += static_cast<double>(ops::macs(p_.graph, p_.graph.node(n)));
    if (!options_.costs->measured || p_.parts.empty() || macs > kMostMacs) return first;
    std::ranges::stable_sort(known_, {}, &Priced::seconds);
    std::vector<Priced> few = {first};
    for (const Priced& k : known_) {
      if (few.size() == kMostTimed) break;
      if (k.seconds >= kNearlySame * few.back().seconds) few.push_back(k);
    }
    const Choice none(p_.order.size(), kOnHost);
    const auto host = std::ranges::find(known_, none, &Priced::choice);
    if (host != known_.end() && std::isfinite(host->seconds)) few.push_back(*host);
    return least_measured(std::move(few));
  }

  Priced least_measured(std::vector<Priced> few) {
    Priced* best = nullptr;
    for (Priced& c : few) {
      const std::optional<double> seconds =
          std::isfinite(c.seconds) ? whole_.measured(c.choice) : std::nullopt;
      c.seconds = seconds.value_or(std::numeric_limits<double>::infinity());
      if (best == nullptr || c.seconds < best->seconds) best = &c;
    }
    return std::move(*best);
  }

  const Placement& p_;
  const Options& options_;
  const Offers& offers_;
  Tariff tariff_;
  Whole whole_;
  size_t tries_;  // from one choice on
  std::vector<Priced> known_;
};

// What all targets say of a node that none computes: the word of the one that came furthest.
void leave(const Offers& offers, const NodeConstraints& asked, NodeDecision& d) {
  if (!asked.cpu_pattern.empty()) return;
  for (const auto& said : offers.said) {
    const NodeDecision& own = said[d.node.index()];
    if (own.why == Why::HostRule || (own.why == Why::Refused && d.why == Why::NoRule)) {
      d.why = own.why;
      d.rule = own.rule;
      d.reason = own.reason;
    }
  }
}

// Empty: nobody else takes it.
std::string takers_of(const Offers& offers, ir::NodeId n) {
  std::string out;
  for (uint32_t b = 0; b < offers.bidders.size(); ++b)
    if (offers.said[b][n.index()].why == Why::Rule) out += (out.empty() ? "" : ", ") + offers.bidders[b].name;
  return out;
}

// Decisions as the choice says, with what every target's rules said of the node.
class Installer {
 public:
  Installer(const Offers& offers, const Choice& choice, Placement& p)
      : offers_(offers), choice_(choice), p_(p) {
    // In the order of --target.
    for (uint32_t b = 0; b < offers.bidders.size(); ++b) by_position_.push_back(b);
    std::ranges::sort(by_position_, {}, [&](uint32_t b) { return offers.bidders[b].position; });
  }

  void run(const std::vector<std::shared_ptr<const std::vector<TargetCost>>>& costs) {
    std::vector<uint32_t> call_of = number_calls();
    for (size_t rank = 0; rank < choice_.size(); ++rank) {
      NodeDecision& d = p_.decision(p_.order[rank]);
      for (uint32_t b : by_position_) add_trials(offers_.said[b][d.node.index()], d);
      d.costs = costs[rank];
      if (choice_[rank] == kOnHost) {
        on_host(d);
        continue;
      }
      const Offer& o = offers_.all[choice_[rank]];
      d.why = Why::Rule;
      d.rule = o.rule;
      d.reason = o.reason;
      if (o.call) d.call = call_of[rank];
      p_.settled[d.node.index()] = true;
    }
  }

 private:
  static void add_trials(const NodeDecision& said, NodeDecision& d) {
    for (const auto& t : said.trials)
      if (std::ranges::none_of(d.trials, [&](const auto& known) { return *known == *t; }))
        d.trials.push_back(t);
  }

  // As Whole::place counts them.
  std::vector<uint32_t> number_calls() const {
    std::vector<uint32_t> out(choice_.size(), NodeDecision::kNoCall);
    uint32_t next = 0;
    for (size_t rank = 0; rank < choice_.size(); ++rank) {
      if (choice_[rank] == kOnHost) continue;
      const Offer& o = offers_.all[choice_[rank]];
      if (!o.call || o.layer.nodes.front() != p_.order[rank]) continue;
      for (ir::NodeId n : o.layer.nodes) out[p_.rank[n.index()]] = next;
      ++next;
    }
    return out;
  }

  void on_host(NodeDecision& d) {
    const std::string takers = takers_of(offers_, d.node);
    if (takers.empty()) {
      leave(offers_, p_.constraints[d.node.index()], d);
      p_.settled[d.node.index()] = d.why == Why::HostRule;
      return;
    }
    d.why = Why::CheaperOnHost;
    d.reason =
        reasons_.get(fmt::format("Rules of {} take it, but it is cheaper on the host: what would be saved "
                                 "does not pay for a launch and "
                                 "for handing the values over.",
                                 takers));
    p_.settled[d.node.index()] = true;
  }

  const Offers& offers_;
  const Choice& choice_;
  Placement& p_;
  std::vector<uint32_t> by_position_;
  TextPool reasons_;
};

}  // namespace

bool chooses_among(const Placement& p, const Options& options) {
  const bool libraries = options.libraries != nullptr && !options.libraries->empty();
  return options.costs != nullptr && (libraries || p.parts.size() > 1);
}

void place_by_cost(Placement& p, const Options& options, const SourceMatches& sources, Partition& out) {
  const Offers offers = gather_offers(p, options, sources);
  TargetChooser chooser(p, options, offers);
  const Choice choice = chooser.run(out);
  const auto costs = runners_up(p, offers, chooser.tariff(), choice);
  chooser.whole().place(choice, p);
  Installer(offers, choice, p).run(costs);
  out.left_out = offers.left_out;
}

namespace {

// By node id: whose it was, as an index into `bidders`; kOnHost: nobody's.
std::vector<uint32_t> owners(const ir::Graph& graph, const Partition& before,
                             const std::vector<Bidder>& bidders) {
  std::vector<uint32_t> out(graph.node_slots(), kOnHost);
  const auto find = [&](bool library, auto&& is) {
    for (uint32_t b = 0; b < bidders.size(); ++b)
      if (bidders[b].is_library == library && is(bidders[b])) return b;
    return kOnHost;
  };
  for (const NodeDecision& d : before.decisions) {
    uint32_t& owner = out[d.node.index()];
    if (d.accelerator) {
      const uint32_t part = before.regions[d.region - before.first_region].accelerator;
      owner = find(false, [&](const Bidder& b) { return b.index == part; });
    } else if (d.call != NodeDecision::kNoCall) {
      owner = find(true, [&](const Bidder& b) { return b.name == before.calls[d.call].target; });
    }
  }
  return out;
}

}  // namespace

void place_as_before(Placement& p, const Options& options, const SourceMatches& sources) {
  const std::vector<Bidder> bidders = bidders_of(p, options);
  const std::vector<uint32_t> owner = owners(p.graph, *options.before, bidders);
  for (uint32_t b = 0; b < bidders.size(); ++b) {
    std::vector<ir::NodeId> closed;
    for (ir::NodeId n : p.order)
      if (owner[n.index()] != b && !p.settled[n.index()]) closed.push_back(n);
    for (ir::NodeId n : closed) p.settled[n.index()] = true;
    ask_rules(p, options, sources, bidders[b]);
    for (ir::NodeId n : closed) p.settled[n.index()] = false;
  }
  for (const NodeDecision& d : options.before->decisions) {
    p.decision(d.node).costs = d.costs;
    if (d.why != Why::CheaperOnHost || p.settled[d.node.index()]) continue;
    p.settled[d.node.index()] = true;
    p.decision(d.node).why = d.why;
    p.decision(d.node).reason = d.reason;
  }
}

void tell_costs(Placement& p, const Costs& costs, const std::vector<bool>& on_host) {
  if (p.parts.size() != 1 || p.layers.empty()) return;
  Offers offers;
  offers.bidders = {{p.parts[0]->machine().name, false, 0, 0}};
  Choice choice(p.order.size(), kOnHost);
  for (uint32_t i = 0; i < p.layers.size(); ++i) {
    offers.all.push_back({0, p.layers[i], std::nullopt, {}, {}});
    if (on_host[i]) continue;
    for (ir::NodeId n : p.layers[i].nodes) choice[p.rank[n.index()]] = i;
  }
  const Tariff tariff(p, offers, costs);
  const auto told = runners_up(p, offers, tariff, choice);
  for (size_t rank = 0; rank < told.size(); ++rank) p.decision(p.order[rank]).costs = told[rank];
}

}  // namespace mrvlc::partition

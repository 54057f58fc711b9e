// Partition by cost. Which layers the accelerator takes is a labelling with two targets, whose best is a
// minimum cut as long as costs add up: seconds of layers and nodes, and of values handed over. Launches do
// not add up, so cuts with several prices of a launch are starting points, next to the greedy partition and
// the host alone; then regions are given back, shortened and joined as long as the estimate falls. What
// promises more than the greedy partition and the host alone is compiled and timed (Costs::measured), and so
// is the greedy one: estimates are not good enough to be another for a percent or two.
#include <algorithm>
#include <limits>
#include <map>

#include "labels.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/partition/accelerator.h"
#include "mrvlc/partition/costs.h"
#include "placement.h"

namespace mrvlc::partition {
namespace {

constexpr uint32_t kHost = 0, kAccelerator = 1;
constexpr size_t kSmall = 24;            // layers: every run of them is a candidate
constexpr double kSmallMacs = 1e7;       // a model that takes milliseconds to compile: always done to know
constexpr double kLargeMacs = 1e9;       // a model whose compilation takes a second or so
constexpr double kFarAway = 3;           // times the better of two estimates: no need to compile to know
constexpr double kWorthIt = 0.95;        // of the greedy partition and of the host alone, to be neither
constexpr double kWorthCompiling = 0.9;  // the same, of a large model
constexpr double kSame = 1.01;           // times an estimate: the same partition, nearly
constexpr size_t kMostMeasured = 3;

using OnHost = std::vector<bool>;  // by layer

int64_t picoseconds(double seconds) {
  return static_cast<int64_t>(std::clamp(seconds * 1e12, 0.0, 0x1p44));
}

void hand_to_host(Placement& p, const OnHost& on_host, const SharedText* reasons) {
  for (size_t i = 0; i < on_host.size(); ++i) {
    if (!on_host[i]) continue;
    for (ir::NodeId n : p.layers[i].nodes) {
      p.layer_of[n.index()] = Placement::kNone;
      if (reasons == nullptr) continue;
      p.decision(n).rule.clear();
      p.decision(n).why = Why::CheaperOnHost;
      p.decision(n).reason = reasons[i];
    }
    p.layers[i].nodes.clear();
  }
  drop_empty_layers(p);
}

// The sentence names the rule; the seconds stand in report.json.
std::vector<SharedText> host_reasons(const Placement& p) {
  TextPool pool;
  std::vector<SharedText> out;
  for (const Layer& l : p.layers)
    out.push_back(
        pool.get(fmt::format("Rule '{}' takes it, but it is cheaper on the host: what the accelerator "
                             "would save does not pay for its launch and for handing the values over.",
                             l.rule)));
  return out;
}

// A copy to try out partitions on, without what is only said of them.
Placement bare(const Placement& p) {
  Placement out = p;
  for (NodeDecision& d : out.decisions) {
    d.trials.clear();
    d.rule.clear();
    d.reason.clear();
  }
  return out;
}

// Layers that a cut gives the host, with a price on every value that begins a region.
class Cut {
 public:
  Cut(const Placement& p, const HostModel& host, const std::vector<double>& on_host,
      const std::vector<double>& on_accelerator)
      : p_(p), model_(host), on_host_(on_host), on_accelerator_(on_accelerator) {
    for (uint32_t part = 0; part < p.parts.size(); ++part) {
      Region everything;
      everything.accelerator = part;
      std::ranges::copy_if(p.layers, std::back_inserter(everything.layers),
                           [&](const Layer& l) { return l.accelerator == part; });
      for (size_t v = 0; v < p.graph.value_slots(); ++v) {
        const ir::Value& value = p.graph.value(ir::ValueId(v));
        if (stands_between(value)) everything.inputs.push_back(value.id);
      }
      for (DeviceForm& f : p.parts[part]->forms(p.graph, everything).inputs)
        forms_.emplace(f.value, std::move(f));
    }
  }

  OnHost run(double launch) {
    labels_ = Labelling();
    for (size_t i = 0; i < p_.layers.size(); ++i) {
      const bool asked = is_asked_for(p_, p_.layers[i]);
      labels_.add_item({asked ? kForbidden : picoseconds(on_host_[i]), picoseconds(on_accelerator_[i])});
    }
    rest_ = labels_.add_item({0, kForbidden});  // nodes of the host, inputs and outputs
    for (size_t v = 0; v < p_.graph.value_slots(); ++v) add_value(ir::ValueId(v), launch);
    const std::vector<uint32_t> best = best_labels(labels_);
    OnHost out(p_.layers.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = best[i] == kHost;
    return out;
  }

 private:
  uint32_t item(ir::NodeId n) const {
    const uint32_t layer = p_.layer_of[n.index()];
    return layer == Placement::kNone ? rest_ : layer;
  }

  static bool stands_between(const ir::Value& v) {
    return v.kind == ir::ValueKind::Input || (v.kind == ir::ValueKind::Result && v.producer.valid());
  }

  void add_value(ir::ValueId id, double launch) {
    const ir::Value& v = p_.graph.value(id);
    if (!stands_between(v)) return;
    const uint32_t from = v.kind == ir::ValueKind::Input ? rest_ : item(v.producer);
    std::vector<uint32_t> readers;
    for (ir::NodeId n : v.users) readers.push_back(item(n));
    if (v.output_uses > 0) readers.push_back(rest_);
    std::ranges::sort(readers);
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    if (readers.empty() || (readers.size() == 1 && readers[0] == from)) return;
    hand_over(from, readers, kAccelerator, crossing(id, false));
    hand_over(from, readers, kHost, crossing(id, true) + launch);
  }

  double crossing(ir::ValueId id, bool to_device) const {
    const DeviceForm& form = forms_.at(id);
    return crossing_seconds(model_, {0, id, to_device, form.casts, form.permutes},
                            p_.graph.value(id).type.elements());
  }

  // A value made on `side` and read on the other is handed over once, however many read it: an item of its
  // own says whether anybody does.
  void hand_over(uint32_t from, const std::vector<uint32_t>& readers, uint32_t side, double seconds) {
    const uint32_t other = side == kHost ? kAccelerator : kHost;
    const uint32_t copy = labels_.add_item({0, 0});
    auto pair = [&](uint32_t a, uint32_t b, int64_t cost) {
      Labelling::Pair p{a, b, {0, 0, 0, 0}};
      p.cost[side * 2 + other] = cost;
      labels_.pairs.push_back(std::move(p));
    };
    pair(from, copy, picoseconds(seconds));
    for (uint32_t r : readers) {
      if (r != from) pair(copy, r, kForbidden);
    }
  }

  const Placement& p_;
  const HostModel& model_;
  const std::vector<double>&on_host_, &on_accelerator_;
  std::map<ir::ValueId, DeviceForm>
      forms_;  // where all layers are one region; of several accelerators the first's
  Labelling labels_;
  uint32_t rest_ = 0;
};

class PartitionSearch {
 public:
  PartitionSearch(const Placement& p, const Options& options)
      : p_(bare(p)),
        costs_(*options.costs),
        nodes_(node_seconds(p.graph, costs_.host)),
        tries_(std::clamp<size_t>(400'000 / std::max<size_t>(1, p.order.size()), 8, 600)) {
    time_calls(p.calls, nodes_);
    for (const Layer& l : p.layers) {
      double host = 0;
      for (ir::NodeId n : l.nodes) {
        host += nodes_[n.index()];
        macs_ += static_cast<double>(ops::macs(p.graph, p.graph.node(n)));
      }
      on_host_.push_back(host);
      on_accelerator_.push_back(p.accelerator_of(l).layer_seconds(p.graph, l));
      of_anchor_[l.anchor] = on_accelerator_.back();
      asked_.push_back(is_asked_for(p, l));
    }
  }

  // The layers that the host takes; fills in the seconds of `out`.
  OnHost run(Partition& out) {
    const OnHost greedy = greedily(), all(p_.layers.size(), false);
    if (costs_.keep && costs_.measured) scale_layers(greedy);
    OnHost none;
    for (bool asked : asked_) none.push_back(!asked);
    seconds(greedy), seconds(none), seconds(all);
    double launch = 0;
    for (const Accelerator* part : p_.parts) launch = std::max(launch, 1e-6 * part->machine().launch_us);
    for (double share : {0.0, 0.25, 1.0})
      seconds(Cut(p_, costs_.host, on_host_, on_accelerator_).run(share * launch));
    if (p_.layers.size() <= kSmall) try_runs();
    improve(best_known());
    return choose(greedy, none, out);
  }

 private:
  // Of all layers but those on the host, and their regions.
  Partition regions_of(const OnHost& on_host) const {
    Placement scratch = p_;
    hand_to_host(scratch, on_host, nullptr);
    Partition out;
    form_regions(scratch, out, false);
    if (costs_.keep)
      for (Region& r : out.regions) costs_.keep(p_.graph, r);
    return out;
  }

  OnHost greedily() const {
    Placement scratch = p_;
    Partition out;
    form_regions(scratch, out, true);
    OnHost on_host;
    for (const Layer& l : p_.layers)
      on_host.push_back(scratch.layer_of[l.nodes.front().index()] == Placement::kNone);
    return on_host;
  }

  double seconds(const OnHost& on_host) {
    auto [it, fresh] = known_.try_emplace(on_host, 0);
    if (!fresh) return it->second;
    if (tries_ > 0) --tries_;
    it->second = estimated(regions_of(on_host), [&](const Region& r) { return from_shapes(r); });
    return it->second;
  }

  double from_shapes(const Region& r) const {
    double sum = p_.parts[r.accelerator]->border_seconds(p_.graph, r);
    for (const Layer& l : r.layers) sum += of_anchor_.at(l.anchor);
    return sum;
  }

  // To what the regions of the partition are measured to take.
  void scale_layers(const OnHost& on_host) {
    std::map<ir::NodeId, double> times;
    for (const Region& r : regions_of(on_host).regions) {
      const std::optional<double> seconds = of_region(r);
      const double expected = from_shapes(r);
      if (!seconds || expected <= 0) continue;
      for (const Layer& l : r.layers) times[l.anchor] = *seconds / expected;
    }
    for (size_t i = 0; i < p_.layers.size(); ++i) {
      const auto factor = times.find(p_.layers[i].anchor);
      if (factor == times.end()) continue;
      on_accelerator_[i] *= factor->second;
      of_anchor_[p_.layers[i].anchor] = on_accelerator_[i];
    }
  }

  double estimated(const Partition& partition,
                   const std::function<double(const Region&)>& accelerator) const {
    return estimate(p_.graph, partition, *p_.accelerator, costs_.host, nodes_,
                    crossings(p_.graph, partition, *p_.accelerator), accelerator)
        .seconds();
  }

  OnHost best_known() const {
    auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
    return std::ranges::min_element(known_, less)->first;
  }

  // Layers in program order.
  std::vector<size_t> in_order() const {
    std::vector<size_t> order(p_.layers.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](size_t i) { return p_.rank[p_.layers[i].anchor.index()]; });
    return order;
  }

  void try_runs() {
    const std::vector<size_t> order = in_order();
    for (size_t begin = 0; begin < order.size(); ++begin) {
      for (size_t end = begin + 1; end <= order.size() && tries_ > 0; ++end) {
        OnHost on_host(order.size());
        for (size_t k = 0; k < order.size(); ++k)
          on_host[order[k]] = !asked_[order[k]] && (k < begin || k >= end);
        seconds(on_host);
      }
    }
  }

  // Changes to a partition that may make it better.
  std::vector<OnHost> moves(const OnHost& now) const {
    std::vector<OnHost> out;
    auto with = [&](const std::vector<size_t>& layers, bool host) {
      OnHost next = now;
      for (size_t i : layers) next[i] = host && !asked_[i];
      if (next != now) out.push_back(std::move(next));
    };
    std::map<ir::NodeId, size_t> index;
    for (size_t i = 0; i < p_.layers.size(); ++i) index[p_.layers[i].anchor] = i;
    for (const Region& r : regions_of(now).regions) {
      std::vector<size_t> layers;
      for (const Layer& l : r.layers) layers.push_back(index.at(l.anchor));
      with(layers, true);
      with({layers.front()}, true);
      with({layers.back()}, true);
    }
    std::vector<size_t> gap;  // layers on the host that follow each other
    for (size_t i : in_order()) {
      if (now[i]) {
        with({i}, false);
        gap.push_back(i);
        continue;
      }
      if (gap.size() > 1) with(gap, false);
      gap.clear();
    }
    if (gap.size() > 1) with(gap, false);
    return out;
  }

  void improve(OnHost best) {
    for (bool better = true; better && tries_ > 0;) {
      better = false;
      const double before = seconds(best);
      for (OnHost& next : moves(best)) {
        if (tries_ == 0) break;
        if (seconds(next) >= before) continue;
        best = std::move(next);
        better = true;
        break;
      }
    }
  }

  // Candidates share regions: each is compiled once.
  std::optional<double> of_region(const Region& r) {
    std::vector<ir::NodeId> anchors;
    for (const Layer& l : r.layers) anchors.push_back(l.anchor);
    const auto [it, fresh] = compiled_.try_emplace(std::move(anchors));
    if (fresh) it->second = costs_.measured(p_.graph, r);
    return it->second;
  }

  std::optional<double> measured(const OnHost& on_host) {
    bool possible = true;
    const double sum = estimated(regions_of(on_host), [&](const Region& r) {
      const std::optional<double> seconds = possible ? of_region(r) : std::nullopt;
      possible = possible && seconds.has_value();
      return seconds.value_or(0);
    });
    return possible ? std::optional(sum) : std::nullopt;
  }

  // The best by estimate that promise more than `simple`, the greedy partition or the host alone, whichever
  // is better; those that are nearly the same count once.
  std::vector<OnHost> promising(double simple) const {
    const bool large = macs_ > kLargeMacs;
    const double most = (large ? kWorthCompiling : kWorthIt) * simple;
    std::vector<std::pair<double, const OnHost*>> found;
    for (const auto& [on_host, seconds] : known_)
      if (seconds <= most) found.emplace_back(seconds, &on_host);
    std::ranges::stable_sort(found, {}, [](const auto& f) { return f.first; });
    std::vector<OnHost> out;
    double last = 0;
    for (const auto& [seconds, on_host] : found) {
      if (seconds < kSame * last) continue;
      out.push_back(*on_host);
      last = seconds;
      if (out.size() == (large ? 1 : kMostMeasured)) break;
    }
    return out;
  }

  // Of the greedy partition and the host alone the better one, unless another is worth it.
  OnHost choose(const OnHost& greedy, const OnHost& none, Partition& out) {
    const double on_host = known_.at(none);
    out.greedy_seconds = known_.at(greedy);
    const double low = std::min(on_host, out.greedy_seconds), high = std::max(on_host, out.greedy_seconds);
    std::vector<OnHost> others = promising(low);
    const bool open = costs_.keep || !others.empty() || high <= kFarAway * low || macs_ <= kSmallMacs;
    const bool compile = costs_.measured && open;
    const auto seconds_of = [&](const OnHost& c) { return compile ? measured(c) : known_.at(c); };
    constexpr double kNever = std::numeric_limits<double>::infinity();
    // What cannot be compiled is worth nothing.
    const double greedily = seconds_of(greedy).value_or(kNever);
    if (greedily < kNever) out.greedy_seconds = greedily;
    const OnHost* best = greedily <= on_host ? &greedy : &none;
    out.chosen_seconds = std::min(greedily, on_host);
    double least = kWorthIt * out.chosen_seconds;
    for (const OnHost& c : others) {
      const double seconds = seconds_of(c).value_or(kNever);
      if (seconds >= least) continue;
      out.chosen_seconds = least = seconds;
      best = &c;
    }
    return *best;
  }

  Placement p_;
  const Costs& costs_;
  std::vector<double> nodes_;                     // seconds on the host, by node
  std::vector<double> on_host_, on_accelerator_;  // by layer
  std::vector<bool> asked_;                       // by layer: --accel names it
  std::map<ir::NodeId, double> of_anchor_;
  std::map<OnHost, double> known_;                                     // estimates
  std::map<std::vector<ir::NodeId>, std::optional<double>> compiled_;  // by anchors of a region
  double macs_ = 0;
  size_t tries_;  // estimates that may still be made
};

}  // namespace

void partition_by_cost(Placement& placement, const Options& options, Partition& out) {
  const OnHost on_host = PartitionSearch(placement, options).run(out);
  tell_costs(placement, *options.costs, on_host);
  const std::vector<SharedText> reasons = host_reasons(placement);
  hand_to_host(placement, on_host, reasons.data());
  form_regions(placement, out, false);
}

void partition_as_decided(Placement& placement, const std::vector<bool>& decided, Partition& out) {
  OnHost on_host;
  for (const Layer& l : placement.layers)
    on_host.push_back(std::ranges::any_of(
        l.nodes, [&](ir::NodeId n) { return n.index() < decided.size() && decided[n.index()]; }));
  const std::vector<SharedText> reasons = host_reasons(placement);
  hand_to_host(placement, on_host, reasons.data());
  form_regions(placement, out, false);
}

}  // namespace mrvlc::partition

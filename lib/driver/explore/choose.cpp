// `compile --accuracy`: what the outputs are most sensitive to, for what it costs, is kept more exactly
// first; then it is tried, and more follows where the prediction was too good.
#include "explore/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explore/plan.h"

namespace mrvlc::driver {
namespace {

// The prediction is a root of squares, which errors exceed now and then.
constexpr double kMargin = 0.5;
constexpr size_t kMostRuns = 8;
// When what was asked is met: predictions, as shares of it, of plans that may do so with less.
constexpr double kReturns[] = {1.6, 1.35, 1.15, 1, 0.87, 0.75, 0.65};
// Then pairs are taken away one by one.
constexpr size_t kMostThinned = 12;
// Compiles that look for the best within a number of cycles, those that then try one pair more, and how much
// less is aimed at after one that had too many.
constexpr size_t kMostTrials = 12, kMostAdded = 6;
constexpr double kLess = 0.9;

bool meets(const std::optional<Trial>& trial, double asked) {
  return trial && trial->error <= asked;
}

// The best plan so far, which meets what is asked.
struct Met {
  Plan plan;
  Trial trial;
  // What the host takes counts, too.
  double cycles() const { return trial.cycles + plan.host_cycles(); }
};

// What the plan has room for is given back: pairs are chosen again by what they turned out to cost. How far a
// measurement will be from its prediction is not known (half to twice as much), so predictions are tried from
// above what is asked downwards: the first that meets it costs least.
Met give_back(Met best, const Trial& plain, double asked, AccuracyTrials& trials) {
  best.plan.learn(plain, best.trial);
  Plan last = best.plan;
  for (const double share : kReturns) {
    if (share * asked <= best.plan.predicted()) break;
    Plan next = best.plan.cheapest(share * asked);
    if (next.same_steps(last) || next.same_steps(best.plan)) continue;
    const std::optional<Trial> trial = trials.measure(next.choice());
    if (!trial) break;
    last = next;
    const Met now{std::move(next), *trial};
    if (meets(trial, asked) && now.cycles() < best.cycles()) return now;
  }
  return best;
}

// Pairs that turn out to be needless go, the dearest for what they should buy first.
Met thinned(Met best, double asked, AccuracyTrials& trials) {
  size_t tried = 0;
  for (const size_t i : best.plan.pairs_by_price()) {
    if (++tried > kMostThinned) break;
    Plan without = best.plan.with_pair(i, false);
    const std::optional<Trial> trial = trials.measure(without.choice());
    if (!trial) break;
    Met now{std::move(without), *trial};
    if (meets(trial, asked) && now.cycles() < best.cycles()) best = std::move(now);
  }
  return best;
}

// The cheapest way to the accuracy that is asked for.
std::optional<AccuracyChoice> meet(double asked, AccuracyTrials& trials) {
  const std::optional<Trial> plain = trials.measure({});
  if (!plain) return std::nullopt;
  const auto finished = [&](AccuracyChoice choice) {
    choice.asked = asked;
    choice.runs = trials.runs();
    return choice;
  };
  if (plain->error <= asked) return finished({});
  if (const auto fitted = plain->overflows ? trials.fitting() : std::nullopt)
    if (meets(trials.measure(*fitted), asked)) return finished(*fitted);
  auto found = trials.roundings();
  if (!found) return std::nullopt;
  Plan plan(trials.graph(), std::move(*found), plain->error);
  double target = kMargin * asked, room = kUnbounded;
  while (trials.runs() < kMostRuns) {
    bool any = false;
    while ((!any || plan.predicted() > target) && plan.step(true, room)) any = true;
    if (!any) break;
    const std::optional<Trial> trial = trials.measure(plan.choice());
    if (meets(trial, asked))
      return finished(thinned(give_back({plan, *trial}, *plain, asked, trials), asked, trials).plan.choice());
    if (!trial && plan.choice().precisions.empty()) return std::nullopt;
    if (!trial) plan.without_pairs();
    target *= trial && std::isfinite(trial->error) ? std::min(kMargin, asked / trial->error) : kMargin;
  }
  plan.move_all();
  if (!trials.measure(plan.choice())) return std::nullopt;
  return finished(plan.choice());
}

// Looks for the best accuracy within a number of cycles, all on the accelerator. What pairs cost is learnt
// from each trial; what fits is then chosen anew.
class Within {
 public:
  Within(double slowdown, const Trial& plain, Plan plan, AccuracyTrials& trials)
      : limit_(slowdown * plain.cycles), plain_(plain), plan_(plan), best_(std::move(plan)), trials_(trials) {
    least_ = plain.error;
  }

  AccuracyChoice run() {
    fill();
    add_pairs();
    AccuracyChoice out = best_.choice();
    out.runs = trials_.runs();
    return out;
  }

 private:
  bool seen(const Plan& plan) const {
    return std::ranges::any_of(seen_, [&](const Plan& p) { return p.same_steps(plan); });
  }

  // nullopt: it cannot be compiled, or not probed.
  std::optional<Trial> measure(const Plan& next) {
    seen_.push_back(next);
    std::optional<Trial> trial = trials_.measure(next.choice());
    if (!trial || trial->cycles > limit_ || trial->error >= least_) return trial;
    best_ = next, least_ = trial->error, cycles_ = trial->cycles;
    return trial;
  }

  // What is aimed at lies between what was too much and what was not.
  void fill() {
    double low = 0, high = kMostShare, share = 1;
    while (trials_.runs() < kMostTrials && high - low > kCloseShare) {
      Plan next = plan_.within(share * (limit_ - plain_.cycles));
      if (next.choice().precisions.empty()) break;
      bool fits = true;  // what was seen before was, or something near it
      if (!seen(next)) {
        const std::optional<Trial> trial = measure(next);
        fits = trial && trial->cycles <= limit_;
        if (trial) next.learn(plain_, *trial);
        if (trial) plan_ = std::move(next);
      }
      (fits ? low : high) = share;
      if (low > 0 && high < kMostShare)
        share = (low + high) / 2;
      else
        share *= fits ? 1 / kLess : kLess;
    }
  }

  // One more at a time, as long as cycles are left.
  void add_pairs() {
    Plan plan = best_;
    plan.take_costs(plan_);
    for (const size_t i : plan.further_pairs(kOver * (limit_ - cycles_))) {
      if (trials_.runs() >= kMostTrials + kMostAdded) return;
      const double before = least_;
      const Plan next = plan.with_pair(i, true);
      if (seen(next)) continue;
      measure(next);
      if (least_ < before) plan = next;
    }
  }

  static constexpr double kMostShare = 1.3, kCloseShare = 0.02;
  // Costs of single pairs are estimates.
  static constexpr double kOver = 1.5;
  double limit_, least_ = 0, cycles_ = 0;  // error and cycles of the best plan
  const Trial& plain_;
  Plan plan_, best_;
  AccuracyTrials& trials_;
  std::vector<Plan> seen_;
};

std::optional<AccuracyChoice> best_within(double slowdown, AccuracyTrials& trials) {
  const std::optional<Trial> plain = trials.measure({});
  if (!plain) return std::nullopt;
  auto found = trials.roundings();
  if (!found) return std::nullopt;
  return Within(slowdown, *plain, Plan(trials.graph(), std::move(*found), plain->error), trials).run();
}

// Predictions halve from row to row.
constexpr size_t kMostRows = 8;

}  // namespace

std::vector<FrontierPoint> accuracy_frontier(Session& session, const Fork& fork, bool ends) {
  AccuracyTrials trials(session, fork);
  const std::optional<Trial> plain = trials.measure({});
  auto found = plain ? trials.roundings() : std::nullopt;
  if (!found) return {};
  std::vector<FrontierPoint> out = {{plain->error, *plain, 0, {}}};
  Plan plan(trials.graph(), std::move(*found), plain->error);
  Plan on_cpu = plan;
  double room = kUnbounded, target = plan.predicted() / 2;
  while (out.size() < kMostRows) {
    bool any = false;
    while (plan.predicted() > target && plan.step(true, room)) any = true;
    const std::optional<Trial> trial = any ? trials.measure(plan.choice()) : std::nullopt;
    if (!trial) break;
    out.push_back({plan.predicted(), *trial, plan.host_cycles(), plan.choice()});
    target = plan.predicted() / 2;
  }
  if (!ends) return out;
  if (const auto fitted = plain->overflows ? trials.fitting() : std::nullopt)
    if (const auto trial = trials.measure(*fitted)) out.push_back({trial->error, *trial, 0, *fitted});
  on_cpu.move_all();
  if (const auto trial = trials.measure(on_cpu.choice()))
    out.push_back({on_cpu.predicted(), *trial, on_cpu.host_cycles(), on_cpu.choice()});
  return out;
}

Chosen choose_for_accuracy(Session& session, const Fork& fork) {
  AccuracyTrials trials(session, fork);
  const CompileOptions& options = fork.options();
  const bool within = options.objective == CompileOptions::Objective::Accuracy;
  auto choice = within ? best_within(options.slowdown, trials) : meet(*options.accuracy, trials);
  auto made = choice ? std::move(trials).made(*choice) : std::nullopt;
  return {std::move(choice), std::move(trials).first_probe(), std::move(made)};
}

void apply_precisions(const AccuracyChoice& choice, const ir::Graph& graph, partition::Region& region) {
  const partition::PrecisionChoice can(graph, region);
  for (ir::ValueId v : can.values()) {
    const auto wanted = choice.precisions.find(v);
    if (wanted != choice.precisions.end() && !can.obstacle(v, wanted->second))
      can.set(region.precisions, v, wanted->second);
  }
}

void apply_choice(const AccuracyChoice& choice, const ir::Graph& graph, partition::Partition& partition) {
  for (partition::Region& region : partition.regions) apply_precisions(choice, graph, region);
  for (partition::NodeDecision& d : partition.decisions) {
    const auto& sources = graph.lineage(d.node).sources;
    const bool named = std::ranges::any_of(
        sources, [&](ir::SourceId s) { return choice.on_cpu.contains(graph.sources()[s.index()].id); });
    if (!named || d.accelerator) continue;
    d.why = partition::Why::Accuracy;
    const auto why = std::ranges::find_if(
        sources, [&](ir::SourceId s) { return choice.reasons.contains(graph.sources()[s.index()].id); });
    if (why != sources.end())
      d.reason = choice.reasons.at(graph.sources()[why->index()].id);
    else
      d.reason = fmt::format("It is kept on the CPU for --accuracy {:g}: there nothing is rounded to fp16.",
                             choice.asked);
  }
}

}  // namespace mrvlc::driver

// `compile --accuracy`: what the outputs are most sensitive to, for what it costs, is kept more exactly
// first; then it is tried, and more follows where the prediction was too good.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "accuracy/plan.h"
#include "accuracy/trials.h"

namespace mrvlc::driver {
namespace {

// The prediction is a root of squares, which errors exceed now and then.
constexpr double kMargin = 0.5;
constexpr size_t kMostRuns = 8;
// When what was asked is met: predictions, as shares of it, of plans that may do so with less.
constexpr double kReturns[] = {1.6, 1.35, 1.15, 1, 0.87, 0.75, 0.65};
// Then pairs are taken away one by one.
constexpr size_t kMostThinned = 12;
// Compiles that look for the best within a number of cycles, and how much less is aimed at after one that had
// too many.
constexpr size_t kMostTrials = 14;
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
Met give_back(Met best, const Trial& plain, double asked, Trials& trials) {
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
Met thinned(Met best, double asked, Trials& trials) {
  size_t tried = 0;
  for (const size_t i : best.plan.pairs_by_price()) {
    if (++tried > kMostThinned) break;
    Plan without = best.plan.without_pair(i);
    const std::optional<Trial> trial = trials.measure(without.choice());
    if (!trial) break;
    Met now{std::move(without), *trial};
    if (meets(trial, asked) && now.cycles() < best.cycles()) best = std::move(now);
  }
  return best;
}

// The cheapest way to the accuracy that is asked for.
std::optional<AccuracyChoice> meet(double asked, Trials& trials) {
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

// The best accuracy within so many times the cycles, all on the accelerator. What pairs cost is learnt from
// each trial; what fits is then chosen anew.
std::optional<AccuracyChoice> best_within(double slowdown, Trials& trials) {
  const std::optional<Trial> plain = trials.measure({});
  if (!plain) return std::nullopt;
  auto found = trials.roundings();
  if (!found) return std::nullopt;
  AccuracyChoice best;
  double least = plain->error, share = 1;
  Plan plan(trials.graph(), std::move(*found), plain->error);
  const double room = (slowdown - 1) * plain->cycles;
  while (trials.runs() < kMostTrials) {
    Plan next = plan.within(share * room);
    if (next.same_steps(plan) || next.choice().precisions.empty()) break;
    const std::optional<Trial> trial = trials.measure(next.choice());
    const bool fits = trial && trial->cycles <= slowdown * plain->cycles;
    if (fits && trial->error < least) best = next.choice(), least = trial->error;
    if (!fits) share *= kLess;
    if (trial) next.learn(*plain, *trial);
    plan = std::move(next);
  }
  best.runs = trials.runs();
  return best;
}

// Predictions halve from row to row.
constexpr size_t kMostRows = 8;

}  // namespace

std::vector<FrontierPoint> accuracy_frontier(const CompileOptions& options) {
  Trials trials(options);
  const std::optional<Trial> plain = trials.measure({});
  auto found = plain ? trials.roundings() : std::nullopt;
  if (!found) return {};
  std::vector<FrontierPoint> out = {{plain->error, plain->error, plain->cycles, 0}};
  Plan plan(trials.graph(), std::move(*found), plain->error);
  double room = kUnbounded, target = plan.predicted() / 2;
  while (out.size() < kMostRows) {
    bool any = false;
    while (plan.predicted() > target && plan.step(true, room)) any = true;
    const std::optional<Trial> trial = any ? trials.measure(plan.choice()) : std::nullopt;
    if (!trial) break;
    out.push_back({plan.predicted(), trial->error, trial->cycles, plan.host_cycles()});
    target = plan.predicted() / 2;
  }
  return out;
}

std::optional<AccuracyChoice> choose_for_accuracy(const CompileOptions& options) {
  Trials trials(options);
  if (options.objective == CompileOptions::Objective::Accuracy) return best_within(options.slowdown, trials);
  return meet(*options.accuracy, trials);
}

void apply_choice(const AccuracyChoice& choice, const ir::Graph& graph, partition::Partition& partition) {
  for (partition::Region& region : partition.regions) {
    const partition::PrecisionChoice can(graph, region);
    for (ir::ValueId v : can.values()) {
      const auto wanted = choice.precisions.find(v);
      if (wanted != choice.precisions.end() && !can.obstacle(v, wanted->second))
        can.set(region.precisions, v, wanted->second);
    }
  }
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

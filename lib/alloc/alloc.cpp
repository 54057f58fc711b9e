// How effort is spent: greedy layouts, improvement, repair, exact search; then goals halfway to what failed.
#include "mrvlc/alloc/alloc.h"

#include <algorithm>

#include "greedy.h"
#include "repair.h"
#include "search.h"

namespace mrvlc::alloc {
namespace {

// Boxes above which the search is not tried on a whole part, only on windows of it.
constexpr size_t kMaxExact = 5000;

class Planner {
 public:
  Planner(const std::vector<Item>& items, const Options& options)
      : instance_(normalise(items, std::max<int64_t>(1, options.alignment))), count_(items.size()) {
    budget_.limit = options.effort;
  }

  int64_t unit() const { return instance_.unit; }
  int64_t lower_bound() const { return instance_.lower_bound; }

  // Every part to `goal`. With `minimise`: or as near as can be.
  Placement run(int64_t goal, bool minimise) {
    proven_low_ = lower_bound();
    std::vector<Layout> layouts;
    for (const Problem& p : instance_.parts) layouts.push_back(greedy(p, goal, budget_));
    for (size_t i = 0; i < layouts.size(); ++i) {
      if (layouts[i].peak <= goal) continue;
      // The goal may be out of reach: effort is kept for what lies above it.
      uint64_t effort = minimise ? budget_.left() / 3 : budget_.left();
      bool reached = reach(instance_.parts[i], goal, effort, layouts[i]) == Answer::Found;
      if (!reached && !minimise) break;
      if (!reached) approach(instance_.parts[i], goal, layouts[i]);
      goal = std::max(goal, layouts[i].peak);
    }
    return collect(layouts);
  }

 private:
  // By what is cheap first. `best` is replaced by what is found, or by what is better.
  Answer reach(const Problem& p, int64_t goal, uint64_t step_limit, Layout& best) {
    uint64_t end = budget_.steps + step_limit;
    constexpr size_t kSmall = 500;
    if (p.boxes.size() > kSmall) {
      improve(p, goal, step_limit / 8, best, budget_);
      if (best.peak <= goal) return Answer::Found;
      Layout repaired = best;
      if (repair(p, goal, repaired, nodes_, budget_)) {
        best = std::move(repaired);
        return Answer::Found;
      }
    }
    if (p.boxes.size() > kMaxExact || budget_.steps >= end) return Answer::Unknown;
    SearchResult r = search(p, goal, end - budget_.steps, budget_);
    nodes_ += r.nodes;
    if (r.answer == Answer::Found) best = std::move(r.layout);
    if (r.answer == Answer::None) proven_low_ = std::max(proven_low_, goal + 1);
    return r.answer;
  }

  // Halves the distance between what failed and what was found, again and again while there is effort: what
  // failed for want of steps may succeed from a better start.
  void approach(const Problem& p, int64_t goal, Layout& best) {
    for (uint64_t before = UINT64_MAX; before != budget_.steps && !budget_.spent();) {
      before = budget_.steps;
      int64_t failed = std::max(goal, proven_low_ - 1);
      while (failed + 1 < best.peak && !budget_.spent()) {
        int64_t middle = failed + (best.peak - failed) / 2;
        if (reach(p, middle, budget_.left() / 5 + 1, best) != Answer::Found) failed = middle;
      }
    }
  }

  Placement collect(const std::vector<Layout>& layouts) const {
    Placement out;
    out.offsets.assign(count_, 0);
    for (size_t p = 0; p < layouts.size(); ++p) {
      for (size_t b = 0; b < layouts[p].offsets.size(); ++b)
        out.offsets[instance_.parts[p].items[b]] = layouts[p].offsets[b] * unit();
      out.peak = std::max(out.peak, layouts[p].peak * unit());
    }
    out.lower_bound = lower_bound() * unit();
    out.proven = out.peak <= proven_low_ * unit();
    out.nodes = nodes_;
    out.steps = budget_.steps;
    return out;
  }

  Instance instance_;
  size_t count_;
  Budget budget_;
  int64_t proven_low_ = 0;  // units; nothing is lower
  uint64_t nodes_ = 0;
};

}  // namespace

Placement minimise_peak(const std::vector<Item>& items, const Options& options) {
  Planner planner(items, options);
  return planner.run(planner.lower_bound(), true);
}

std::optional<Placement> place_within(const std::vector<Item>& items, int64_t capacity,
                                      const Options& options) {
  Planner planner(items, options);
  int64_t goal = capacity / planner.unit();
  if (capacity < 0 || goal < planner.lower_bound()) return std::nullopt;
  Placement out = planner.run(goal, false);
  if (out.peak > capacity) return std::nullopt;
  return out;
}

}  // namespace mrvlc::alloc

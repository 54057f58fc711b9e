#include "mrvlc/alloc/alloc.h"

#include <algorithm>

#include "greedy.h"
#include "search.h"

namespace mrvlc::alloc {
namespace {

// Boxes above which the exact search is not tried.
constexpr size_t kMaxExact = 5000;

class Planner {
 public:
  Planner(const std::vector<Item>& items, const Options& options)
      : instance_(normalise(items, std::max<int64_t>(1, options.alignment))), count_(items.size()) {
    budget_.limit = options.effort;
  }

  int64_t unit() const { return instance_.unit; }
  int64_t lower_bound() const { return instance_.lower_bound; }

  // Every part to `goal`, or as near as can be.
  Placement run(int64_t goal, bool minimise) {
    proven_ = true;
    std::vector<Layout> layouts;
    for (const Problem& p : instance_.parts) layouts.push_back(greedy(p, goal, budget_));
    for (size_t i = 0; i < layouts.size(); ++i) {
      if (layouts[i].peak <= goal) continue;
      reach(instance_.parts[i], goal, layouts[i], minimise);
      if (minimise) goal = std::max(goal, layouts[i].peak);
    }
    return collect(layouts);
  }

 private:
  void reach(const Problem& p, int64_t goal, Layout& best, bool minimise) {
    (void)minimise;
    if (p.boxes.size() > kMaxExact) return;
    SearchResult r = search(p, goal, UINT64_MAX / 2, budget_);
    nodes_ += r.nodes;
    if (r.answer == Answer::Found) best = std::move(r.layout);
    if (r.answer != Answer::Found) proven_ = false;
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
    out.proven = proven_ || out.peak == out.lower_bound;
    out.nodes = nodes_;
    out.steps = budget_.steps;
    return out;
  }

  Instance instance_;
  size_t count_;
  Budget budget_;
  bool proven_ = false;
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

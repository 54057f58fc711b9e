// A search by single steps: every schedule that is tried has to be made and timed.
#include "plan/stripe_search.h"

#include <algorithm>

namespace mrvlc::accel {
namespace {

class StripeSearch {
 public:
  StripeSearch(std::vector<Run> runs, size_t primitives, const StripeTrials& trials)
      : now_{std::move(runs), {}}, primitives_(primitives), trials_(trials) {
    now_.grids.assign(now_.runs.size(), Grid{});
  }

  Status run() {
    for (size_t k = 0; k < now_.runs.size(); ++k) {
      MRVLC_ASSIGN([[maybe_unused]] const bool helps, improve(now_, k, trials_.choices(now_.runs[k])));
    }
    for (size_t k = 0; k < now_.runs.size(); ++k) {
      for (bool longer = true; longer;) {
        MRVLC_ASSIGN(longer, lengthen(k));
      }
    }
    return {};
  }

 private:
  // The best of these grids for run `k`, if one is better than all before; then it is taken.
  Result<bool> improve(Striping of, size_t k, const std::vector<Grid>& grids) {
    std::optional<Grid> best;
    int worse = 0;  // more and more stripes in a row since the last that helped
    for (const Grid& grid : grids) {
      const bool same_kind = best && (grid.rows == best->rows || grid.cols == best->cols);
      constexpr int kPatience = 2;
      if (same_kind && worse >= kPatience) continue;
      of.grids[k] = grid;
      MRVLC_ASSIGN(const bool helps, trials_.better(of));
      if (helps) best = grid;
      worse = helps ? 0 : worse + 1;
    }
    if (!best) return false;
    of.grids[k] = *best;
    now_ = std::move(of);
    return true;
  }

  // A tensor that fits the chip as a whole ends a run, and takes the place of others: in stripes all of them
  // may fit.
  Result<bool> lengthen(size_t k) {
    for (const Striping& longer : longer_than(k)) {
      const std::vector<Grid> grids = like(now_.grids[k], trials_.choices(longer.runs[k]));
      MRVLC_ASSIGN(const bool helps, improve(longer, k, grids));
      if (helps) return true;
    }
    return false;
  }

  // Of the choices those next to this one, or all where it is none.
  static std::vector<Grid> like(const Grid& grid, const std::vector<Grid>& all) {
    const auto found = std::ranges::find(all, grid);
    if (found == all.end()) return all;
    const auto first = found == all.begin() ? found : found - 1;
    return {first, all.end() - found > 3 ? found + 3 : all.end()};
  }

  // With run `k` joined to the next, or a few operations longer at one end.
  std::vector<Striping> longer_than(size_t k) const {
    std::vector<Striping> out;
    const std::vector<Run>& runs = now_.runs;
    const auto add = [&](size_t begin, size_t end) -> Striping& {
      out.push_back(now_);
      out.back().runs[k] = {begin, end};
      return out.back();
    };
    const Run& r = runs[k];
    if (k + 1 < runs.size()) {
      Striping& joined = add(r.first, runs[k + 1].last);
      joined.runs.erase(joined.runs.begin() + static_cast<std::ptrdiff_t>(k) + 1);
      joined.grids.erase(joined.grids.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    }
    const size_t begin = k == 0 ? 0 : runs[k - 1].last + 1;
    const size_t end = k + 1 < runs.size() ? runs[k + 1].first : primitives_;
    for (const size_t n : {size_t{2}, size_t{1}, size_t{4}}) {
      if (r.last + n < end) add(r.first, r.last + n);
      if (r.first >= begin + n) add(r.first - n, r.last);
    }
    return out;
  }

  Striping now_;
  size_t primitives_;
  const StripeTrials& trials_;
};

}  // namespace

Status search_stripes(std::vector<Run> runs, size_t primitives, const StripeTrials& trials) {
  return StripeSearch(std::move(runs), primitives, trials).run();
}

}  // namespace mrvlc::accel

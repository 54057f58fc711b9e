// A search by single steps: every schedule that is tried has to be made and timed.
#include "plan/stripe_search.h"

#include <array>

namespace mrvlc::accel {
namespace {

constexpr std::array<int64_t, 6> kStripes = {2, 3, 4, 6, 8, 12};

class StripeSearch {
 public:
  StripeSearch(std::vector<Run> runs, size_t primitives,
               const std::function<Result<bool>(const Striping&)>& better)
      : now_{std::move(runs), {}}, primitives_(primitives), better_(better) {
    now_.stripes.assign(now_.runs.size(), 1);
  }

  Status run() {
    for (size_t k = 0; k < now_.runs.size(); ++k) {
      MRVLC_ASSIGN([[maybe_unused]] const bool helps, improve(now_, k, 0, kStripes.size()));
    }
    for (size_t k = 0; k < now_.runs.size(); ++k) {
      for (bool longer = true; longer;) {
        MRVLC_ASSIGN(longer, lengthen(k));
      }
    }
    return {};
  }

 private:
  // The best of these numbers of stripes for run `k`, if one is better than all before; then it is taken.
  Result<bool> improve(Striping of, size_t k, size_t first, size_t last) {
    std::optional<int64_t> best;
    for (size_t i = first; i < last; ++i) {
      of.stripes[k] = kStripes[i];
      MRVLC_ASSIGN(const bool helps, better_(of));
      if (helps) best = kStripes[i];
    }
    if (!best) return false;
    of.stripes[k] = *best;
    now_ = std::move(of);
    return true;
  }

  // A tensor that fits the chip as a whole ends a run, and takes the place of others: in stripes all of them
  // may fit.
  Result<bool> lengthen(size_t k) {
    const auto at = std::ranges::find(kStripes, now_.stripes[k]) - kStripes.begin();
    const auto whole = static_cast<size_t>(at) == kStripes.size();
    const size_t first = whole || at == 0 ? 0 : static_cast<size_t>(at - 1);
    const size_t last = whole ? kStripes.size() : std::min(kStripes.size(), static_cast<size_t>(at) + 3);
    for (const Striping& longer : longer_than(k)) {
      MRVLC_ASSIGN(const bool helps, improve(longer, k, first, last));
      if (helps) return true;
    }
    return false;
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
      joined.stripes.erase(joined.stripes.begin() + static_cast<std::ptrdiff_t>(k) + 1);
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
  const std::function<Result<bool>(const Striping&)>& better_;
};

}  // namespace

Status search_stripes(std::vector<Run> runs, size_t primitives,
                      const std::function<Result<bool>(const Striping&)>& better) {
  return StripeSearch(std::move(runs), primitives, better).run();
}

}  // namespace mrvlc::accel

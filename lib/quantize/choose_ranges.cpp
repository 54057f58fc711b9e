// What is best for a tensor by itself need not be for the network: a large value may be the one that decides.
// Where the budget allows, each tensor's candidates are therefore tried, all others rounded as they are so
// far, producers first.
#include "choose_ranges.h"

#include <algorithm>
#include <array>

#include "judge.h"
#include "mrvlc/support/parallel.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::quantize {
namespace {

constexpr std::array kCandidates = {RangeMethod::Mse, RangeMethod::MinMax, RangeMethod::Percentile,
                                    RangeMethod::Entropy};
constexpr size_t kMostSamples = 32;
// Of the error with the first candidate: less may be chance.
constexpr double kWorthIt = 0.97;

class RangeSearch {
 public:
  RangeSearch(const ir::Graph& graph, const Plan& plan, const std::vector<Sample>& samples,
              const std::vector<std::vector<Tensor>>& expected, const Options& options)
      : g_(graph), plan_(plan), samples_(samples), expected_(expected), o_(options) {
    const int64_t runs = static_cast<int64_t>(plan.groups.size() * kCandidates.size());
    const int64_t fit = o_.budget / saturating_mul(run_cost(graph, options), runs);
    const size_t n = std::min({static_cast<size_t>(fit), kMostSamples, samples.size()});
    for (size_t i = 0; i < n; ++i) taken_.push_back(i * samples.size() / n);
  }

  bool affordable() const { return !taken_.empty(); }

  Status run(const std::vector<Histogram>& histograms, std::vector<ChosenRange>& ranges) {
    for (size_t g = 0; g < ranges.size(); ++g) {
      if (o_.progress) o_.progress("methods", g + 1, ranges.size());
      MRVLC_TRY(improve(g, histograms[g], ranges));
    }
    return {};
  }

 private:
  Status improve(size_t g, const Histogram& histogram, std::vector<ChosenRange>& ranges) {
    std::vector<std::vector<Affine>> tried;
    for (RangeMethod method : kCandidates) {
      std::vector<Affine> affines;
      for (const ChosenRange& r : ranges) affines.push_back(r.affine);
      affines[g] = affine_by(method, histogram, o_.activations);
      tried.push_back(std::move(affines));
    }
    std::vector<double> errors(tried.size() * taken_.size(), 0);
    MRVLC_TRY(for_each_index(errors.size(), o_.jobs, [&](size_t i) -> Status {
      const size_t sample = taken_[i % taken_.size()];
      MRVLC_ASSIGN(auto outputs, run_rounded(g_, plan_, tried[i / taken_.size()], samples_[sample]));
      errors[i] = relative_square(outputs, expected_[sample]);
      return {};
    }));
    double least = -1;
    for (size_t c = 0; c < tried.size(); ++c) {
      double error = 0;
      for (size_t s = 0; s < taken_.size(); ++s) error += errors[c * taken_.size() + s];
      if (c > 0 && error > kWorthIt * least) continue;
      least = error;
      ranges[g].affine = tried[c][g];
      ranges[g].method = kCandidates[c];
    }
    return {};
  }

  const ir::Graph& g_;
  const Plan& plan_;
  const std::vector<Sample>& samples_;
  const std::vector<std::vector<Tensor>>& expected_;
  const Options& o_;
  std::vector<size_t> taken_;  // samples
};

}  // namespace

Result<std::vector<ChosenRange>> choose_ranges(const ir::Graph& graph, const Plan& plan,
                                               const std::vector<Sample>& samples,
                                               const std::vector<std::vector<Tensor>>& expected,
                                               const Options& options) {
  MRVLC_ASSIGN(const std::vector<Histogram> histograms, observe(graph, plan, samples, options.progress));
  const RangeMethod first = options.ranges == RangeMethod::Best ? RangeMethod::Mse : options.ranges;
  std::vector<ChosenRange> out;
  for (const Histogram& h : histograms)
    out.push_back({affine_by(first, h, options.activations), first, h.min(), h.max()});
  if (options.ranges != RangeMethod::Best) return out;
  RangeSearch search(graph, plan, samples, expected, options);
  if (search.affordable()) MRVLC_TRY(search.run(histograms, out));
  return out;
}

}  // namespace mrvlc::quantize

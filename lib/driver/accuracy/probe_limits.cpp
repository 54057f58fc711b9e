// What the probe does when it is done: larger and smaller inputs, until outputs are no longer accurate.
#include <algorithm>
#include <cmath>

#include "accuracy/input_limits.h"
#include "accuracy/probe.h"
#include "accuracy/run_cost.h"

namespace mrvlc::driver {
namespace {

// Half of what the probe itself may cost (docs/accuracy.md), but at least one run where there was one of it.
constexpr int64_t kSearchBudget = 3'000'000'000;
constexpr int64_t kLeastSearchRuns = 1, kMostSearchRuns = 9;
// Of smaller inputs: four powers of ten and zero, where there is room for these beside the others.
constexpr int64_t kSmallRuns = 5;
constexpr uint32_t kSeed = 1001;

bool any_lost(const Accuracy& accuracy) {
  return std::ranges::any_of(accuracy.beyond, [](const auto& b) { return !b.wide; });
}

double reached(const calibration::Distributions& all, size_t input) {
  const auto at = all.find(input);
  return at == all.end() ? 1 : std::max(std::abs(at->second.at(0)), std::abs(at->second.at(1)));
}

// Of inputs that are made: the range itself, and the same about zero.
calibration::Distributions about_zero(const ir::Graph& graph, const calibration::Distributions& all,
                                      const calibration::Distributions& stated) {
  calibration::Distributions out = all;
  for (size_t i = 0; i < graph.inputs().size(); ++i)
    if (!stated.contains(i) && can_be_checked(graph.value(graph.inputs()[i]).type))
      out[i] = calibration::uniform(-reached(all, i), reached(all, i));
  return out;
}

}  // namespace

void Probe::prepare_search(const PlacedModel& m, const CompileOptions& options) {
  const std::optional<int64_t> cost = run_cost(m.model.graph, m.partition);
  // Integers saturate in the reference, too, which therefore has nothing to say of larger inputs.
  if (!options.input_limits || options.quantized != nullptr || !compared_.empty() || !cost) return;
  const int64_t affordable = kSearchBudget / std::max<int64_t>(1, *cost);
  search_samples_ = affordable >= 2 * kMostSearchRuns ? 2 : 1;
  search_runs_ = static_cast<int>(std::clamp(affordable, kLeastSearchRuns, kMostSearchRuns));
  small_runs_ = affordable >= kMostSearchRuns + kSmallRuns ? static_cast<int>(kSmallRuns) : 0;
  whole_ = m.model.graph;
}

std::vector<std::vector<Tensor>> Probe::scaled_inputs(double factor) const {
  std::vector<std::vector<Tensor>> out;
  for (size_t k = 0; k < search_samples_; ++k) {
    if (accuracy_.on_data) {
      out.push_back(inputs_[k % inputs_.size()]);
    } else {
      const bool first = k == 0;
      out.push_back(
          calibration::draw_inputs(*whole_, kSeed + static_cast<uint32_t>(k),
                                   first ? distributions_ : about_zero(*whole_, distributions_, stated_),
                                   first ? calibration::Texture::Noise : calibration::Texture::Smooth));
    }
    for (size_t i = 0; i < out.back().size(); ++i) {
      Tensor& input = out.back()[i];
      if (named_.contains(i) || !can_be_checked(input.type())) continue;
      for (int64_t e = 0; e < input.elements(); ++e) input.set_double(e, factor * input.as_double(e));
    }
  }
  return out;
}

Result<std::vector<Accuracy::Limit>> Probe::limits(const ProbedModel& m,
                                                   const CompileOptions& options) const {
  std::vector<Accuracy::Limit> out;
  if (!options.input_limits || !m.accuracy.on_accelerator) return out;
  const ir::Graph& graph = m.model.graph;
  std::vector<chost::InputLimit> all = stated_limits(graph, named_);
  const bool good = m.accuracy.known() && m.accuracy.expected_error() <= options.accuracy_warning;
  if (whole_ && good && !any_lost(m.accuracy)) {
    LimitSearch search{*whole_,          {},          [this](double factor) { return scaled_inputs(factor); },
                       search_runs_,     small_runs_, options.accuracy_warning,
                       options.jobs != 1};
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      const TensorType& type = graph.value(graph.inputs()[i]).type;
      if (!named_.contains(i) && can_be_checked(type) && type.elements() > 0)
        search.reached[i] = reached(distributions_, i);
    }
    MRVLC_ASSIGN(const std::vector<chost::InputLimit> found, search.find(m));
    all.insert(all.end(), found.begin(), found.end());
  }
  for (const chost::InputLimit& l : all) out.push_back({graph.value(graph.inputs()[l.input]).name, l});
  return out;
}

}  // namespace mrvlc::driver

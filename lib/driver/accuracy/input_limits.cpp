// Inputs made larger by powers of two, and smaller by powers of ten, until outputs are not accurate, in as
// few runs as are granted.
#include "accuracy/input_limits.h"

#include <algorithm>
#include <cmath>
#include <future>

#include "accuracy/device_run.h"
#include "mrvlc/calibration/error.h"
#include "mrvlc/range/interval.h"

namespace mrvlc::driver {
namespace {

// Of inputs that are made ever larger from next to nothing.
constexpr int kMostExponent = 40;
// Inputs in [0, 1) are often brought to a mean of 0 and a deviation of 1 instead.
constexpr int kOnlyStep = 3;
constexpr double kWider = 1.0 / 1024;

bool accurate(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected, double most) {
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i].type().wrapper != Wrapper::None || !is_float(actual[i].elem())) continue;
    if (!(calibration::float_error(actual[i], expected[i]) <= most)) return false;
  }
  return true;
}

}  // namespace

int largest_good(int most, int runs, const std::function<bool(int)>& good) {
  int known = 0, bad = most + 1;
  for (bool failed = false; runs > 0 && bad - known > 1; --runs) {
    // Upwards by even steps until one is bad, a small one if it is the only one; then between the two.
    const int gap = bad - known, step = std::max(1, (gap + runs) / (runs + 1));
    const int next = known + (failed ? gap / 2 : runs == 1 ? std::min(step, kOnlyStep) : step);
    if (next >= bad) break;
    good(next) ? known = next : (failed = true, bad = next);
  }
  return known;
}

Smallest smallest_good(int runs, const std::function<bool(double)>& good) {
  constexpr int kPowers = 4;
  Smallest out;
  double last = 1;
  for (int k = 0; k < kPowers && runs > 0 && out.factor == 0; ++k, --runs) {
    const double next = last / 10;
    good(next) ? last = next : out.factor = last;
  }
  if (runs > 0) out.zero = good(0);
  // Between the last power and zero nothing was tried.
  if (!out.zero && out.factor == 0) out.factor = last;
  return out;
}

bool can_be_checked(const TensorType& type) {
  return type.wrapper == Wrapper::None && (type.elem == ElementType::F32 || type.elem == ElementType::F16);
}

std::vector<chost::InputLimit> stated_limits(const ir::Graph& graph,
                                             const calibration::Distributions& stated) {
  std::vector<chost::InputLimit> out;
  for (const auto& [input, range] : stated) {
    if (!can_be_checked(graph.value(graph.inputs()[input]).type)) continue;
    const double least = range.at(0), most = range.at(1);
    const double room = kWider * std::max(std::abs(least), std::abs(most));
    out.push_back({input, least - room, most + room});
  }
  return out;
}

Result<std::vector<chost::InputLimit>> LimitSearch::find(const CodedModel& m) const {
  std::vector<chost::InputLimit> out;
  double least = range::kFp16Most;
  // What is all zero stays so however often it is made larger: nothing is known of it, and it is no limit.
  const auto tried = [](const auto& r) { return r.second > 0; };
  for (const auto& r : reached)
    if (tried(r)) least = std::min(least, r.second);
  if (std::ranges::none_of(reached, tried)) return out;
  const int most = std::min(kMostExponent, static_cast<int>(std::ceil(std::log2(range::kFp16Most / least))));
  MRVLC_ASSIGN(DeviceRun device, DeviceRun::create(m, m.model.graph));
  const auto factor = [&](int exponent) {
    return std::min(std::ldexp(1.0, exponent), range::kFp16Most / least);
  };
  const auto good = [&](double times) {
    for (const std::vector<Tensor>& sample : inputs(times)) {
      auto reference = std::async(both_at_once ? std::launch::async : std::launch::deferred,
                                  [&] { return interp::run(graph, sample); });
      const auto actual = device.run(sample);
      const auto expected = reference.get();
      // No reference: an index among the inputs is out of range, say.
      if (!expected.ok() || !actual.ok() || !accurate(actual->outputs, *expected, accuracy)) return false;
    }
    return true;
  };
  const double last = factor(largest_good(most, runs, [&](int exponent) { return good(factor(exponent)); }));
  const Smallest small = smallest_good(small_runs, good);
  for (const auto& [input, magnitude] : reached)
    if (magnitude > 0)
      out.push_back({input, -last * magnitude, last * magnitude, small.factor * magnitude, small.zero});
  return out;
}

}  // namespace mrvlc::driver

// Runs of the interpreter, sample by sample; then a few that look for inputs which move blind outputs.
#include "accuracy/probe_reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "mrvlc/calibration/error.h"
#include "mrvlc/interp/visit.h"
#include "mrvlc/support/diag/accuracy.h"
#include "mrvlc/support/parallel.h"

namespace mrvlc::driver {
namespace {

// Each holds tensors of its own.
constexpr unsigned kMostAtOnce = 2;
// Outputs that move less than this part of their magnitude do not move. Behind a Sigmoid or its like,
// whose results have room for 1, more is to be seen.
constexpr double kHardly = 1e-3, kHardlyBehind = 0.05;
// Who has moved so much was in the steep part, and shows its error.
constexpr double kAllTheWay = 0.5;
constexpr uint32_t kSearchSeed = 7001;

struct Span {
  double least = INFINITY, most = -INFINITY;
  void add(const Tensor& t) {
    if (t.type().wrapper != Wrapper::None || !is_float(t.elem())) return;
    for (int64_t i = 0; i < t.elements(); ++i) {
      const double v = t.as_double(i);
      if (!std::isfinite(v)) continue;
      least = std::min(least, v), most = std::max(most, v);
    }
  }
  double moved() const { return most < least ? 0 : most - least; }
  double magnitude() const { return most < least ? 0 : std::max(std::abs(least), std::abs(most)); }
};

// Of what is behind a Sigmoid or its like: as it is where that is steep, relative to the value where it is
// flat anyway, as another input would have to take it all the way back.
double error_in_front(const Tensor& actual, const Tensor& expected) {
  constexpr double kSteep = 4;
  double error = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double a = actual.as_double(i), b = expected.as_double(i);
    if (!std::isfinite(b)) continue;
    error =
        std::max(error, std::isfinite(a) ? std::abs(a - b) / std::max(1.0, std::abs(b) / kSteep) : INFINITY);
  }
  return error;
}

struct Ran {
  ReferenceSample sample;
  std::map<ir::ValueId, double> magnitudes;
  std::optional<Diag> refused;
};

void run_one(const ReferenceTask& task, const MadeSample& made, bool fronts, Ran& out) {
  const std::vector<Tensor>& inputs = made.inputs;
  const std::set<ir::ValueId> wanted(task.kept.begin(), task.kept.end());
  const auto look = [&](ir::ValueId id, Tensor& tensor) {
    if (wanted.contains(id)) out.sample.of_regions.emplace(id, tensor);
    double& most = out.magnitudes[id];
    most = std::max(most, calibration::magnitude(tensor));
  };
  auto outputs = interp::run_visited(task.graph, inputs, look, false, task.room);
  if (!outputs.ok()) return void(out.refused = outputs.error());
  out.sample.inputs = inputs, out.sample.outputs = *std::move(outputs);
  out.sample.earlier = made.earlier;
  if (!fronts || task.fronts.empty()) return;
  std::vector<ir::ValueId> compared;
  for (const Front& f : task.fronts) compared.push_back(f.value);
  calibration::SensitivityOptions limits;
  limits.max_bytes = task.room.max_bytes;
  // Where there is no room for all values at once it stays unknown.
  auto errors =
      calibration::rounded_errors(task.graph, inputs, task.rounding, compared, error_in_front, limits);
  if (errors.ok()) out.sample.fronts = *std::move(errors);
}

// Outputs that are NaN or infinite all over say nothing of fp16.
std::optional<Diag> without_numbers(const ReferenceTask& task, const ReferenceSample& sample) {
  for (size_t i = 0; i < sample.outputs.size(); ++i) {
    const Tensor& t = sample.outputs[i];
    if (t.type().wrapper != Wrapper::None || !is_float(t.elem()) || t.elements() == 0) continue;
    Span span;
    span.add(t);
    if (span.most < span.least)
      return make_diag<DiagCode::MRV0933>(printable(task.graph.value(task.graph.outputs()[i]).name));
  }
  return std::nullopt;
}

// False: the model refuses it.
bool take(const ReferenceTask& task, Ran ran, Reference& out) {
  if (!ran.refused) ran.refused = without_numbers(task, ran.sample);
  if (ran.refused) {
    ++out.refused;
    if (!out.why) out.why = std::move(ran.refused);
    return false;
  }
  out.samples.push_back(std::move(ran.sample));
  for (const auto& [id, most] : ran.magnitudes) {
    double& all = out.magnitudes[id];
    all = std::max(all, most);
  }
  return true;
}

bool behind_front(const ReferenceTask& task, size_t output) {
  return std::ranges::find(task.fronts, output, &Front::output) != task.fronts.end();
}

bool hardly_moves(const ReferenceTask& task, size_t output, const Span& span) {
  const double hardly = behind_front(task, output) ? kHardlyBehind : kHardly * span.magnitude();
  return span.moved() <= hardly;
}

std::vector<size_t> blind_outputs(const ReferenceTask& task, const std::vector<ReferenceSample>& samples) {
  std::vector<size_t> out;
  for (size_t i = 0; i < task.graph.outputs().size(); ++i) {
    const TensorType& type = task.graph.value(task.graph.outputs()[i]).type;
    if (type.wrapper != Wrapper::None || !is_float(type.elem) || type.elements() == 0) continue;
    Span span;
    for (const ReferenceSample& s : samples) span.add(s.outputs[i]);
    if (hardly_moves(task, i, span)) out.push_back(i);
  }
  return out;
}

// Those behind a front that have not been all the way.
std::vector<bool> half_seen(const ReferenceTask& task, const std::vector<ReferenceSample>& samples) {
  std::vector<bool> out(task.graph.outputs().size(), false);
  for (const Front& f : task.fronts) {
    Span span;
    for (const ReferenceSample& s : samples) span.add(s.outputs[f.output]);
    out[f.output] = span.moved() < kAllTheWay;
  }
  return out;
}

// Inputs by which blind outputs move most: others are drawn, then the best are made larger, smaller, shifted
// and mixed, and what is better stays.
class InputSearch {
 public:
  InputSearch(const ReferenceTask& task, Reference& reference) : task_(task), reference_(reference) {}

  void run() {
    left_ = task_.tries;
    for (size_t k = 0; k < kDrawn && left_ > 0; ++k) attempt(drawn(k));
    for (size_t k = 0; left_ > 0 && best_; ++k) attempt(changed(k));
    if (!best_) return;
    take(task_, *std::move(best_), reference_);
    ++reference_.found;
  }

 private:
  static constexpr size_t kDrawn = 8;

  std::vector<Tensor> drawn(size_t k) {
    static constexpr std::array<std::pair<double, double>, 4> kRanges = {
        {{0, 1}, {-1, 1}, {0, 255}, {-4, 4}}};
    calibration::Distributions all = task_.known;
    for (size_t i = 0; i < task_.graph.inputs().size(); ++i) {
      const TensorType& type = task_.graph.value(task_.graph.inputs()[i]).type;
      if (all.contains(i) || type.wrapper != Wrapper::None || !is_float(type.elem)) continue;
      const auto& [least, most] = kRanges[k % kRanges.size()];
      if (task_.hints[i].ranges.empty()) all[i] = calibration::uniform(least, most);
    }
    calibration::add_likely(task_.hints, k, all);
    return calibration::draw_inputs(task_.graph, kSearchSeed + static_cast<uint32_t>(k), all,
                                    calibration::textures(task_.hints, 2 * k + 1));
  }

  // Of what an input is known, or likely, to be.
  std::pair<double, double> ends(size_t i) const {
    if (const auto known = task_.known.find(i); known != task_.known.end())
      return {known->second.at(0), known->second.at(1)};
    std::pair<double, double> out = {-INFINITY, INFINITY};
    const auto& ranges = task_.hints[i].ranges;
    for (const auto& [least, most] : ranges) {
      const bool first = &ranges.front().first == &least;
      out =
          first ? std::pair(least, most) : std::pair(std::min(out.first, least), std::max(out.second, most));
    }
    return out;
  }

  std::vector<Tensor> changed(size_t k) const {
    std::vector<Tensor> out = best_->sample.inputs;
    for (size_t i = 0; i < out.size(); ++i) {
      Tensor& t = out[i];
      if (t.type().wrapper != Wrapper::None || !is_float(t.elem())) continue;
      Span span;
      span.add(t);
      const double middle = (span.least + span.most) / 2, width = span.moved();
      const auto [least, most] = ends(i);
      for (int64_t e = 0; e < t.elements(); ++e) {
        double v = t.as_double(e);
        if (k % 4 == 0) v = middle + 2 * (v - middle);
        if (k % 4 == 1) v = middle + (v - middle) / 2;
        if (k % 4 == 2) v += width / 4;
        if (k % 4 == 3) v -= width / 4;
        t.set_double(e, std::clamp(v, least, most));
      }
    }
    return out;
  }

  void attempt(const std::vector<Tensor>& inputs) {
    --left_;
    Ran ran;
    run_one(task_, {inputs, {}}, task_.front_samples > 0, ran);
    if (ran.refused) return;
    double moved = 0;
    for (size_t i : reference_.blind) {
      Span span;
      for (const ReferenceSample& s : reference_.samples) span.add(s.outputs[i]);
      span.add(ran.sample.outputs[i]);
      moved += span.moved() / (1 + span.magnitude());
    }
    if (best_ && moved <= most_) return;
    most_ = moved, best_ = std::move(ran);
  }

  const ReferenceTask& task_;
  Reference& reference_;
  size_t left_ = 0;
  double most_ = 0;
  std::optional<Ran> best_;
};

// Where the model refuses a choice, the others have its samples, too. `taken`: of the first ones.
void make_up(const ReferenceTask& task, const std::vector<bool>& taken, Reference& out) {
  if (!task.maker || out.refused == 0) return;
  const size_t choices = task.maker->choices(), wanted = taken.size();
  std::vector<bool> runs(choices, true);
  for (size_t k = 0; k < wanted; ++k)
    if (!taken[k]) runs[k % choices] = false;
  for (size_t k = wanted; k < wanted * choices && out.samples.size() < wanted; ++k) {
    if (!runs[k % choices]) continue;
    Ran more;
    run_one(task, task.maker->make(task.graph, k), out.samples.size() < task.front_samples, more);
    if (!more.refused) take(task, std::move(more), out);
  }
}

}  // namespace

Result<Reference> make_reference(const ReferenceTask& task) {
  std::vector<Ran> ran(task.samples.size());
  const unsigned jobs = task.jobs == 1 ? 1 : kMostAtOnce;
  MRVLC_TRY(for_each_index(ran.size(), jobs, [&](size_t k) -> Status {
    run_one(task, task.samples[k], k < task.front_samples, ran[k]);
    return {};
  }));
  Reference out;
  std::vector<bool> taken;
  for (Ran& r : ran) taken.push_back(take(task, std::move(r), out));
  if (out.samples.empty() && out.why) return *out.why;
  make_up(task, taken, out);
  out.blind = blind_outputs(task, out.samples);
  if (!out.blind.empty() && task.tries > 0) {
    InputSearch(task, out).run();
    out.blind = blind_outputs(task, out.samples);
  }
  out.half_seen = half_seen(task, out.samples);
  return out;
}

}  // namespace mrvlc::driver

// Noise and likely inputs in turns, with each choice; states by runs on other inputs.
#include "accuracy/probe_samples.h"

#include <cmath>

namespace mrvlc::driver {
namespace {

// From this sample on inputs of a named range with zero in it are ever smaller, by this each time: a range
// says how large inputs can be, and a network may have logarithms or quotients of them.
constexpr size_t kFirstSmall = 4;
constexpr double kSmaller = 1.0 / 4;
// Seeds of the steps of one sample lie so far apart.
constexpr uint32_t kNextStep = 5003;

// Of sample `k`: those of --input-range, `named`, become smaller.
calibration::Distributions for_sample(size_t k, const calibration::Distributions& all,
                                      const calibration::Distributions& named) {
  calibration::Distributions out = all;
  for (auto& [input, quantiles] : out) {
    const bool around_zero = quantiles.at(0) <= 0 && quantiles.at(1) >= 0;
    if (k < kFirstSmall || !around_zero || !named.contains(input)) continue;
    const double factor = std::pow(kSmaller, static_cast<double>(k - kFirstSmall + 1));
    for (auto& [p, value] : quantiles.points) value *= factor;
  }
  return out;
}

}  // namespace

SampleMaker::SampleMaker(std::vector<calibration::InputHint> hints, calibration::Distributions known,
                         calibration::Distributions named, bool single, int steps)
    : hints_(std::move(hints)),
      known_(std::move(known)),
      named_(std::move(named)),
      single_(single),
      steps_(steps),
      choices_(calibration::samples_of_choices(hints_)) {}

calibration::Distributions SampleMaker::distributions(size_t k) const {
  calibration::Distributions all = for_sample(k, known_, named_);
  calibration::add_likely(hints_, single_ ? 1 : k / choices_, all);
  for (size_t i = 0; i < hints_.size(); ++i) {
    if (hints_[i].choices.empty() || known_.contains(i)) continue;
    const auto value = static_cast<double>(hints_[i].choices[k % hints_[i].choices.size()]);
    all[i] = calibration::uniform(value, value);
  }
  return all;
}

// Each kind of sample with each choice: the model may refuse one of them.
MadeSample SampleMaker::make(const ir::Graph& graph, size_t k) const {
  const size_t like = single_ ? 1 : k / choices_;
  const calibration::Distributions all = distributions(k);
  const auto draw = [&](int step) {
    return calibration::draw_inputs(graph,
                                    static_cast<uint32_t>(k + 1) + kNextStep * static_cast<uint32_t>(step),
                                    all, calibration::textures(hints_, like));
  };
  MadeSample out{draw(0), {}};
  if (like % 2 == 0) return out;
  for (int step = 1; step <= steps_; ++step) {
    EarlierStep now{draw(step), {}};
    for (size_t i = 0; out.earlier.empty() && i < hints_.size(); ++i)
      if (hints_[i].next) now.inputs[i] = Tensor(now.inputs[i].type());
    if (!out.earlier.empty()) hand_on_states(hints_, out.earlier.back().outputs, now.inputs);
    auto outputs = interp::run(graph, now.inputs, interp::Options{});
    if (!outputs.ok()) return {draw(0), {}};
    now.outputs = *std::move(outputs);
    out.earlier.push_back(std::move(now));
  }
  if (!out.earlier.empty()) hand_on_states(hints_, out.earlier.back().outputs, out.inputs);
  return out;
}

void hand_on_states(const std::vector<calibration::InputHint>& hints, const std::vector<Tensor>& outputs,
                    std::vector<Tensor>& inputs) {
  for (size_t i = 0; i < hints.size(); ++i)
    if (hints[i].next) inputs[i] = outputs[*hints[i].next];
}

}  // namespace mrvlc::driver

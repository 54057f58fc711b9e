// What fp16 does to a model: its binaries in the simulator beside float32.
#include "accuracy/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "accuracy/device_run.h"
#include "accuracy/quantized_model.h"
#include "model/accuracy_choice.h"
#include "model/as_in_model.h"
#include "mrvlc/calibration/error.h"
#include "mrvlc/calibration/keep.h"
#include "mrvlc/interp/visit.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/target.h"
#include "mrvlc/support/parallel.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::driver {
namespace {

// What looking in front of saturating outputs, and looking for inputs that move blind ones, may take
// together.
constexpr double kFrontSeconds = 0.6, kMovingSeconds = 0.4;
// It runs twice for each sample, beside the sample itself.
constexpr double kFrontRuns = 2;
constexpr size_t kMostTries = 16;
// Runs before a sample that make its states.
constexpr double kMostSteps = 8;

void take_difference(const Tensor& actual, const Tensor& expected, Accuracy::Output& out) {
  if (!(actual.type() == expected.type())) {
    ++out.elements;
  } else if (expected.type().wrapper != Wrapper::None) {
    const auto &a = actual.items(), &b = expected.items();
    out.elements += a.size() == b.size() ? 0 : 1;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) take_difference(a[i], b[i], out);
  } else if (is_float(expected.elem())) {
    const double error = calibration::float_error(actual, expected);
    out.error = std::max(out.error, error);
    out.magnitude = std::max(out.magnitude, calibration::magnitude(expected));
    out.difference = std::max(out.difference, calibration::difference(actual, expected));
    if (!out.by_sample.empty()) out.by_sample.back() = std::max(out.by_sample.back(), error);
  } else if (expected.elem() == ElementType::String) {
    for (size_t i = 0; i < expected.string_data().size(); ++i)
      out.elements += actual.string_data()[i] == expected.string_data()[i] ? 0 : 1;
  } else {
    for (int64_t i = 0; i < expected.elements(); ++i)
      out.elements += actual.as_int(i) == expected.as_int(i) ? 0 : 1;
  }
}

// Whether values decide how many elements a result has.
bool counts_by_values(const ir::Graph& graph) {
  for (size_t i = 0; i < graph.node_slots(); ++i) {
    const ir::Node& n = graph.node(ir::NodeId(i));
    if (!n.erased && ops::has_data_dependent_shape(*n.op)) return true;
  }
  return false;
}

// Boxes that a NonMaxSuppression keeps are others, and another number, where a score is rounded.
bool any_comparable_output(const ir::Graph& graph) {
  const bool by_values = counts_by_values(graph);
  return std::ranges::any_of(graph.outputs(), [&](ir::ValueId id) {
    const TensorType& type = graph.value(id).type;
    return is_float(type.elem) && (type.dynamic == 0 || !by_values);
  });
}

std::vector<ir::ValueId> region_outputs(const partition::Partition& partition) {
  std::vector<ir::ValueId> all;
  for (const partition::Region& region : partition.regions)
    all.insert(all.end(), region.outputs.begin(), region.outputs.end());
  return all;
}

std::string counted(size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

// Each once, with the ONNX node that makes it.
std::vector<std::pair<ir::ValueId, Accuracy::Beyond>> stored_activations(
    const PlacedModel& m, const calibration::Distributions& known) {
  const ir::Graph& graph = m.model.graph;
  std::vector<std::pair<ir::ValueId, Accuracy::Beyond>> out;
  std::set<ir::ValueId> seen;
  for (const partition::Region& region : m.partition.regions) {
    for (const backend::StoredValue& stored : m.backend->stored_values(graph, region)) {
      if (!seen.insert(stored.value).second) continue;
      const ir::Value& value = graph.value(stored.value);
      Accuracy::Beyond b{stored.value, value.name, {}, {}, 0, stored.type == ElementType::F32, false, false};
      if (const ir::Source* s = value.producer.valid() ? source_of(graph, value.producer) : nullptr)
        b.node = s->name.empty() ? s->id : s->name, b.op_type = s->op_type;
      for (const auto& [i, quantiles] : known) {
        if (graph.inputs()[i] != stored.value) continue;
        b.input_range = true;
        b.magnitude = std::max(std::abs(quantiles.at(0)), std::abs(quantiles.at(1)));
      }
      out.emplace_back(stored.value, std::move(b));
    }
  }
  return out;
}

// All that accelerators round: what regions store, and what their layers multiply with.
calibration::Rounding rounding_of(const PlacedModel& m, const std::vector<Accuracy::Stored>& stored) {
  calibration::Rounding out;
  for (const Accuracy::Stored& s : stored)
    if (s.type == ElementType::F16) out.values.push_back(s.id);
  for (const partition::Region& region : m.partition.regions)
    for (const partition::Layer& layer : region.layers)
      out.constants_of.insert(out.constants_of.end(), layer.nodes.begin(), layer.nodes.end());
  return out;
}

// As many as there is time for: every second sample has them.
int state_steps(const std::vector<calibration::InputHint>& hints, size_t samples, const ProbePlan& plan) {
  const bool states = std::ranges::any_of(hints, [](const auto& h) { return h.next.has_value(); });
  if (!states || !plan.each) return 0;
  const double runs = kMovingSeconds / std::max(*plan.each, 1e-9);
  const double walks = static_cast<double>((samples + 1) / 2);
  return static_cast<int>(std::min(kMostSteps, runs / walks));
}

// `what`: that is compared with float32.
std::string how_inputs_were_made(std::string_view what, size_t samples, bool kept,
                                 const calibration::Calibration* data, bool ranged) {
  const std::string of =
      data != nullptr ? counted(static_cast<size_t>(data->samples), "sample") + " of calibration data" : "";
  if (kept)
    return fmt::format("{} against float32 on {}, those that roundings move most of {}", what,
                       counted(samples, "sample"), of);
  return fmt::format("{} against float32 on {} of seeded inputs{}{}", what, counted(samples, "sample"),
                     data != nullptr ? ", distributed as in " + of : "",
                     ranged ? ", in the ranges of --input-range" : "");
}

}  // namespace

Result<Probe> Probe::begin(const PlacedModel& m, const CompileOptions& options,
                           const calibration::Calibration* data, const Probe* like) {
  Probe out;
  const ir::Graph& graph = m.model.graph;
  MRVLC_ASSIGN(auto distributions, calibration::distributions_of(graph, options.input_ranges));
  const calibration::Distributions named = distributions;
  const bool ranged = !named.empty();
  if (data != nullptr)
    distributions.merge(calibration::distributions_of(graph, *data));  // a named range stays
  out.accuracy_.on_accelerator = !all_regions(graph, m.partition).empty();
  // A range that is named says that inputs are others than the data.
  if (data != nullptr && !ranged) out.inputs_ = calibration::kept_inputs(graph, *data);
  const size_t kept = out.inputs_.size();
  if (m.hints.size() == graph.inputs().size()) out.hints_ = m.hints;
  out.hints_.resize(graph.inputs().size());
  const ProbePlan plan = plan_probe(m, options, kept, calibration::samples_of_choices(out.hints_));
  const size_t samples = plan.samples;
  out.accuracy_.reason = plan.why_not;
  out.accuracy_.mac_share = share_of_macs(m);
  out.inputs_.resize(std::min(samples, kept));
  out.stored_ = stored_activations(m, distributions);
  for (const auto& [id, stored] : out.stored_)
    out.accuracy_.stored.push_back(
        {id, stored.value, stored.wide ? ElementType::F32 : ElementType::F16, m.known.of(graph, id)});
  if (data != nullptr) out.take_calibration(*data);
  if (samples == 0) return out;
  out.accuracy_.how = data != nullptr ? Accuracy::How::Calibration
                      : ranged        ? Accuracy::How::InputRange
                                      : Accuracy::How::Probe;
  out.accuracy_.on_data = kept > 0;
  out.accuracy_.reason =
      how_inputs_were_made(m.backend->half() ? "fp16" : "the target", samples, kept > 0, data, ranged);
  out.named_ = named;
  if (options.quantized != nullptr && !options.quantized->inputs.empty()) {
    out.take_samples(*options.quantized, samples);
  } else {
    out.draw(graph, samples, distributions, plan);
  }
  if (!any_comparable_output(graph)) out.compared_ = region_outputs(m.partition);
  out.stated_ = distributions;
  calibration::add_likely(out.hints_, 0, distributions);
  out.distributions_ = distributions;
  out.prepare_search(m, options);
  out.shares_ = !m.rewritten;
  if (like != nullptr && out.has_reference_of(*like)) {
    out.reference_ = like->reference_;
    return out;
  }
  out.reference_ = std::async(launch_for(options.jobs), [task = out.task(m, options, plan)] {
                     return make_reference(task);
                   }).share();
  return out;
}

void Probe::draw(const ir::Graph& graph, size_t samples, const calibration::Distributions& known,
                 const ProbePlan& plan) {
  maker_.emplace(hints_, known, named_, samples == 1, state_steps(hints_, samples, plan));
  earlier_.resize(inputs_.size());
  for (size_t k = inputs_.size(); k < samples; ++k) {
    MadeSample made = maker_->make(graph, k);
    inputs_.push_back(std::move(made.inputs));
    earlier_.push_back(std::move(made.earlier));
  }
}

// What is done beside the runs of the samples depends on how long one takes.
ReferenceTask Probe::task(const PlacedModel& m, const CompileOptions& options, const ProbePlan& plan) {
  ReferenceTask out{m.model.graph, {}, compared_, room_of(options), options.jobs, {}, {}, 0, hints_,
                    named_,        0,  maker_};
  for (size_t k = 0; k < inputs_.size(); ++k)
    out.samples.push_back(
        {inputs_[k], k < earlier_.size() ? std::move(earlier_[k]) : std::vector<EarlierStep>()});
  earlier_.clear();
  const bool drawn = !accuracy_.on_data && options.quantized == nullptr && compared_.empty();
  if (!plan.each || chooses(options) || options.quantized != nullptr) return out;
  fronts_ = fronts_of(m.model.graph);
  out.fronts = fronts_;
  out.rounding = rounding_of(m, accuracy_.stored);
  const auto within = [&](double seconds, double runs, size_t most) {
    return static_cast<size_t>(
        std::min(seconds / std::max(1e-9, runs * *plan.each), static_cast<double>(most)));
  };
  // Samples of data are what they are.
  if (!fronts_.empty() && drawn) out.front_samples = within(kFrontSeconds, kFrontRuns, inputs_.size());
  if (drawn) out.tries = within(kMovingSeconds, 1, kMostTries);
  return out;
}

// Inputs of one model and one set of options differ in their number alone.
bool Probe::has_reference_of(const Probe& other) const {
  return shares_ && other.shares_ && other.reference_.valid() && inputs_.size() == other.inputs_.size() &&
         compared_ == other.compared_;
}

// Those of --data, against the model in floats.
void Probe::take_samples(const QuantizedModel& quantized, size_t samples) {
  const size_t n = std::min(samples, quantized.inputs.size());
  const auto first = [&](const auto& of) {
    return std::vector(of.begin(), of.begin() + static_cast<long>(n));
  };
  inputs_ = first(quantized.inputs);
  expected_ = first(quantized.expected);
  accuracy_.how = Accuracy::How::Calibration;
  accuracy_.on_data = true;
  accuracy_.reason = fmt::format("against the model in float32 on {} of --data", counted(n, "sample"));
}

// By name: passes keep the names of what they leave, and what they made has none that the data could know.
void Probe::take_calibration(const calibration::Calibration& data) {
  accuracy_.calibrated = true;
  std::map<std::string_view, const calibration::ValueRecord*> by_name;
  for (const calibration::ValueRecord& v : data.values) by_name.emplace(v.name, &v);
  for (auto& [value, stored] : stored_) {
    const auto record = by_name.find(calibration::recorded_name(stored.value));
    if (record == by_name.end() || record->second->summary.max_abs() <= range::kFp16Most) continue;
    stored.magnitude = record->second->summary.max_abs();
    stored.calibrated = true;
  }
}

Result<Accuracy> Probe::finish(const CodedModel& m) {
  if (!reference_.valid()) {
    find_beyond(nullptr);
    choose_worst();
    return std::move(accuracy_);
  }
  const Result<Reference>& expected = reference_.get();
  Status status = expected.ok() ? compare(m, *expected) : Status(expected.error());
  if (status.ok()) {
    accuracy_.samples = expected->samples.size();
    tell_reference(*expected);
  } else {
    const Diag& d = status.error();
    if (d.code == DiagCode::MRV0356) return d;
    accuracy_.how = Accuracy::How::None;
    accuracy_.outputs.clear();
    accuracy_.reason =
        fmt::format("not probed: the reference does not take the inputs that were made: {}{}",
                    d.node.empty() ? "" : fmt::format("node '{}': ", printable(d.node)), d.message);
  }
  find_beyond(expected.ok() ? &*expected : nullptr);
  choose_worst();
  return std::move(accuracy_);
}

void Probe::choose_worst() {
  const auto lost = std::ranges::find_if(accuracy_.beyond, [](const auto& b) { return !b.wide; });
  if (lost != accuracy_.beyond.end()) {
    accuracy_.worst_value = lost->value;
  } else if (accuracy_.expected_error() > 0) {
    accuracy_.worst_value =
        std::ranges::max_element(accuracy_.outputs, {}, &Accuracy::Output::expected)->name;
  }
}

// What was not as it was planned.
void Probe::tell_reference(const Reference& expected) {
  if (expected.refused > 0)
    accuracy_.reason += fmt::format("; {} not taken by the model", counted(expected.refused, "sample"));
  if (expected.found > 0)
    accuracy_.reason += "; one more was looked for that moves outputs that hardly moved";
  if (!compared_.empty()) return;
  for (size_t i : expected.blind) {
    accuracy_.outputs[i].blind = true;
    accuracy_.reason += fmt::format("; '{}' hardly moves on them", printable(accuracy_.outputs[i].name));
  }
  for (size_t f = 0; f < fronts_.size(); ++f)
    for (const ReferenceSample& s : expected.samples) {
      if (s.fronts.size() != fronts_.size() || !expected.half_seen[fronts_[f].output]) continue;
      Accuracy::Output& o = accuracy_.outputs[fronts_[f].output];
      const double error = fronts_[f].slope * s.fronts[f];
      if (!o.front.empty() && error <= o.in_front) continue;
      o.in_front = error, o.front = front_names_[f];
    }
}

// The inputs of the sample with the states that the accelerator makes on its way there. What it gives on the
// way counts, too, where outputs are what is compared.
Result<std::vector<Tensor>> Probe::walk(DeviceRun& device, const ReferenceSample& sample) {
  std::vector<Tensor> states;  // outputs of the step before
  for (const EarlierStep& step : sample.earlier) {
    std::vector<Tensor> inputs = step.inputs;
    if (!states.empty()) hand_on_states(hints_, states, inputs);
    MRVLC_ASSIGN(DeviceRun::Results actual, device.run(inputs));
    for (size_t i = 0; compared_.empty() && i < step.outputs.size(); ++i)
      take_difference(actual.outputs[i], step.outputs[i], accuracy_.outputs[i]);
    states = std::move(actual.outputs);
  }
  std::vector<Tensor> inputs = sample.inputs;
  if (!states.empty()) hand_on_states(hints_, states, inputs);
  return inputs;
}

Status Probe::compare(const CodedModel& m, const Reference& expected) {
  const ir::Graph& graph = m.model.graph;
  for (ir::ValueId id : compared_.empty() ? graph.outputs() : compared_)
    accuracy_.outputs.push_back({graph.value(id).name});
  for (const Front& f : fronts_) front_names_.push_back(ir::readable_name(graph, f.value));
  MRVLC_ASSIGN(DeviceRun device, DeviceRun::create(m, graph));
  for (size_t k = 0; k < expected.samples.size(); ++k) {
    const ReferenceSample& sample = expected.samples[k];
    for (Accuracy::Output& o : accuracy_.outputs) o.by_sample.push_back(0);
    MRVLC_ASSIGN(const std::vector<Tensor> inputs, walk(device, sample));
    MRVLC_ASSIGN(const DeviceRun::Results actual, device.run(inputs));
    size_t at = 0;
    if (compared_.empty()) {
      const std::vector<Tensor>& wanted = k < expected_.size() ? expected_[k] : sample.outputs;
      for (size_t i = 0; i < actual.outputs.size(); ++i)
        take_difference(actual.outputs[i], wanted[i], accuracy_.outputs[at++]);
      continue;
    }
    for (const std::vector<Tensor>& region : actual.of_regions)
      for (const Tensor& value : region) {
        take_difference(value, sample.of_regions.at(compared_[at]), accuracy_.outputs[at]);
        ++at;
      }
  }
  return {};
}

void Probe::find_beyond(const Reference* expected) {
  for (Accuracy::Stored& s : accuracy_.stored) {
    if (expected == nullptr || s.known.fits_fp16() || s.known.how == range::How::Observed) continue;
    if (const auto seen = expected->magnitudes.find(s.id); seen != expected->magnitudes.end())
      s.known = {range::How::Observed, {-seen->second, seen->second}};
  }
  for (auto& [value, stored] : stored_) {
    if (expected != nullptr && !stored.calibrated) {
      const auto reach = expected->magnitudes.find(value);
      if (reach != expected->magnitudes.end()) stored.magnitude = std::max(stored.magnitude, reach->second);
    }
    if (stored.magnitude > range::kFp16Most) accuracy_.beyond.push_back(stored);
  }
}

}  // namespace mrvlc::driver

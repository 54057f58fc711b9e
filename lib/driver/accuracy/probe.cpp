// What fp16 does to a model: its binaries in the simulator beside float32.
#include "accuracy/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "accuracy/device_run.h"
#include "accuracy/quantized_model.h"
#include "accuracy/run_cost.h"
#include "model/accuracy_choice.h"
#include "model/as_in_model.h"
#include "mrvlc/calibration/error.h"
#include "mrvlc/calibration/keep.h"
#include "mrvlc/interp/visit.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/parallel.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::driver {
namespace {

constexpr int64_t kSamples = 2;  // seeds 1, 2, ...
// Of small models more, within this: an error that is relative to outputs depends on how near to zero they
// come.
constexpr int64_t kMoreSamples = 8, kMoreBudget = 200'000'000;
// What a probe may cost, in multiply-accumulates or as much time in other steps: about a second and a half.
// docs/accuracy.md.
constexpr int64_t kProbeBudget = 6'000'000'000;
// The same, where calibration data hold samples: who calibrates waits for an answer.
constexpr int64_t kDataBudget = 4 * kProbeBudget;
// From this sample on inputs of a named range with zero in it are ever smaller, by this each time: a range
// says how large inputs can be, and a network may have logarithms or quotients of them.
constexpr size_t kFirstSmall = 4;
constexpr double kSmaller = 1.0 / 4;
// Bytes of live tensors; what --probe may take is the interpreter's limit.
constexpr int64_t kRoom = int64_t{512} << 20;

void take_difference(const Tensor& actual, const Tensor& expected, Accuracy::Output& out) {
  if (!(actual.type() == expected.type())) {
    ++out.elements;
  } else if (expected.type().wrapper != Wrapper::None) {
    const auto &a = actual.items(), &b = expected.items();
    out.elements += a.size() == b.size() ? 0 : 1;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) take_difference(a[i], b[i], out);
  } else if (is_float(expected.elem())) {
    out.error = std::max(out.error, calibration::float_error(actual, expected));
  } else if (expected.elem() == ElementType::String) {
    for (size_t i = 0; i < expected.string_data().size(); ++i)
      out.elements += actual.string_data()[i] == expected.string_data()[i] ? 0 : 1;
  } else {
    for (int64_t i = 0; i < expected.elements(); ++i)
      out.elements += actual.as_int(i) == expected.as_int(i) ? 0 : 1;
  }
}

bool any_float_output(const ir::Graph& graph) {
  return std::ranges::any_of(graph.outputs(),
                             [&](ir::ValueId id) { return is_float(graph.value(id).type.elem); });
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

// --accuracy asks for a measurement, whatever it costs.
bool always(const CompileOptions& options) {
  return options.probe == CompileOptions::Probe::Always ||
         (chooses(options) && options.probe != CompileOptions::Probe::Never);
}

interp::Options room_of(const CompileOptions& options) {
  return always(options) ? interp::Options{} : interp::Options{kRoom};
}

// Samples that the budget has room for, or why there are none. `kept`: those of the calibration data.
size_t samples_within(const PlacedModel& m, const CompileOptions& options, size_t kept,
                      std::string& why_not) {
  const ir::Graph& graph = m.model.graph;
  if (all_regions(graph, m.partition).empty()) return why_not = "nothing runs on an accelerator", 0;
  if (!m.backend->runs_here()) return why_not = "nothing for " + m.machine().name + " runs here", 0;
  if (options.probe == CompileOptions::Probe::Never) return why_not = "--no-probe", 0;
  if (Status room = interp::check_memory(graph, room_of(options)); !room.ok())
    return why_not = "not probed: a run " + room.error().message, 0;
  const std::optional<int64_t> cost = run_cost(m.model.graph, m.partition);
  const int64_t drawn = cost && *cost <= kMoreBudget / kMoreSamples ? kMoreSamples : kSamples;
  const int64_t wanted = kept > 0 ? static_cast<int64_t>(kept) : drawn;
  const int64_t budget = kept > 0 ? kDataBudget : kProbeBudget;
  if (always(options)) return static_cast<size_t>(wanted);
  if (!cost) {
    why_not = "not probed: how often a Loop runs depends on data, --probe runs it anyway";
    return 0;
  }
  const int64_t most = budget / std::max<int64_t>(1, *cost);
  if (most == 0) {
    int64_t macs = 0;
    for (ir::NodeId id : graph.topological_order())
      macs = saturating_add(macs, ops::macs(graph, graph.node(id)));
    why_not = fmt::format(
        "not probed: {} multiply-accumulates, with everything else as much work as {}, exceed the budget of "
        "{}; "
        "--probe runs it anyway",
        macs, *cost, budget);
  }
  return static_cast<size_t>(std::min(most, wanted));
}

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

std::string how_inputs_were_made(size_t samples, bool kept, const calibration::Calibration* data,
                                 bool ranged) {
  const std::string of =
      data != nullptr ? counted(static_cast<size_t>(data->samples), "sample") + " of calibration data" : "";
  if (kept)
    return fmt::format("fp16 against float32 on {}, those that roundings move most of {}",
                       counted(samples, "sample"), of);
  return fmt::format("fp16 against float32 on {} of seeded inputs{}{}", counted(samples, "sample"),
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
  const size_t samples = samples_within(m, options, kept, out.accuracy_.reason);
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
  out.accuracy_.reason = how_inputs_were_made(samples, kept > 0, data, ranged);
  if (options.quantized != nullptr && !options.quantized->inputs.empty()) {
    out.take_samples(*options.quantized, samples);
  } else {
    for (size_t k = out.inputs_.size(); k < samples; ++k)
      out.inputs_.push_back(
          calibration::draw_inputs(graph, static_cast<uint32_t>(k + 1), for_sample(k, distributions, named),
                                   k % 2 == 0 ? calibration::Texture::Noise : calibration::Texture::Smooth));
  }
  if (!any_float_output(graph)) out.compared_ = region_outputs(m.partition);
  out.distributions_ = distributions, out.named_ = named;
  out.prepare_search(m, options);
  out.shares_ = !m.rewritten;
  if (like != nullptr && out.has_reference_of(*like)) {
    out.reference_ = like->reference_;
    return out;
  }
  out.reference_ = std::async(launch_for(options.jobs), [graph, inputs = out.inputs_, kept = out.compared_,
                                                         room = room_of(options)] {
                     return reference(graph, inputs, kept, room);
                   }).share();
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

Result<Probe::Reference> Probe::reference(const ir::Graph& graph,
                                          const std::vector<std::vector<Tensor>>& inputs,
                                          const std::vector<ir::ValueId>& kept, const interp::Options& room) {
  Reference out;
  const std::set<ir::ValueId> wanted(kept.begin(), kept.end());
  for (const std::vector<Tensor>& sample : inputs) {
    Reference::Sample& s = out.samples.emplace_back();
    const auto look = [&](ir::ValueId id, Tensor& tensor) {
      if (wanted.contains(id)) s.of_regions.emplace(id, tensor);
      double& most = out.magnitudes[id];
      most = std::max(most, calibration::magnitude(tensor));
    };
    MRVLC_ASSIGN(s.outputs, interp::run_visited(graph, sample, look, false, room));
  }
  return out;
}

Accuracy Probe::finish(const CodedModel& m) {
  if (!reference_.valid()) {
    find_beyond(nullptr);
    choose_worst();
    return std::move(accuracy_);
  }
  const Result<Reference>& expected = reference_.get();
  Status status = expected.ok() ? compare(m, *expected) : Status(expected.error());
  if (status.ok()) {
    accuracy_.samples = inputs_.size();
  } else {
    const Diag& d = status.error();
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
    accuracy_.worst_value = std::ranges::max_element(accuracy_.outputs, {}, &Accuracy::Output::error)->name;
  }
}

Status Probe::compare(const CodedModel& m, const Reference& expected) {
  const ir::Graph& graph = m.model.graph;
  for (ir::ValueId id : compared_.empty() ? graph.outputs() : compared_)
    accuracy_.outputs.push_back({graph.value(id).name, 0, 0});
  MRVLC_ASSIGN(DeviceRun device, DeviceRun::create(m, graph));
  for (size_t k = 0; k < inputs_.size(); ++k) {
    MRVLC_ASSIGN(const DeviceRun::Results actual, device.run(inputs_[k]));
    size_t at = 0;
    if (compared_.empty()) {
      const std::vector<Tensor>& wanted = k < expected_.size() ? expected_[k] : expected.samples[k].outputs;
      for (size_t i = 0; i < actual.outputs.size(); ++i)
        take_difference(actual.outputs[i], wanted[i], accuracy_.outputs[at++]);
      continue;
    }
    for (const std::vector<Tensor>& region : actual.of_regions)
      for (const Tensor& value : region) {
        take_difference(value, expected.samples[k].of_regions.at(compared_[at]), accuracy_.outputs[at]);
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

// `compile --accuracy`: what the outputs are most sensitive to, for what it costs, is kept more exactly
// first; then it is tried, and more follows where the prediction was too good.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "accuracy/choice.h"
#include "accuracy/probe.h"
#include "accuracy/roundings.h"
#include "compile_hooks.h"

namespace mrvlc::driver {
namespace {

// The prediction is a root of squares, which errors exceed now and then.
constexpr double kMargin = 0.5;
constexpr size_t kMostRuns = 8;
// Of an overflow, to be added and compared.
constexpr double kInfinite = 1e100;

// A compile that was measured.
struct Trial {
  double error = 0;
  double cycles = 0;  // of all regions
};

// Compiles as far as the probe, with what the first one is about.
class Trials {
 public:
  explicit Trials(const CompileOptions& options) : options_(options) {
    options_.accuracy.reset();
    options_.objective = CompileOptions::Objective::Speed;
    options_.fail_on_fallback = options_.fail_on_accuracy = false;
    options_.probe = CompileOptions::Probe::Always;
    options_.timing.clear();
    options_.depfile.clear();
  }

  // nullopt: it cannot be compiled so, or not probed.
  std::optional<Trial> measure(const AccuracyChoice& choice) {
    std::optional<Trial> out;
    CompileHooks hooks;
    hooks.choice = choice;
    hooks.placed = [&](ir::Graph& graph, partition::Partition& partition) -> Status {
      if (!graph_) graph_ = graph, partition_ = partition;
      return {};
    };
    hooks.probed = [&](const CompiledModel& m, const Probe& probe) {
      if (m.accuracy.known() || !m.accuracy.on_accelerator) out = {m.accuracy.expected_error(), cycles_of(m)};
      if (!machine_) take(m, probe);
      return false;
    };
    Diagnostics said;  // again by the last compile
    compile(options_, said, hooks);
    return out;
  }

  const ir::Graph& graph() const { return *graph_; }
  // With their sensitivities; nullopt: the interpreter does not get there.
  std::optional<RegionRoundings> roundings() const {
    RegionRoundings out(*graph_, *partition_, *machine_, layer_cycles_);
    std::vector<ir::ValueId> floats;
    for (ir::ValueId v : compared_.empty() ? graph_->outputs() : compared_)
      if (is_float(graph_->value(v).type.elem)) floats.push_back(v);
    if (!out.measure(*graph_, samples_, floats, options_.jobs).ok()) return std::nullopt;
    return out;
  }

 private:
  static double cycles_of(const CompiledModel& m) {
    uint64_t all = 0;
    for (const sim::Report& r : m.runs) all += r.total_cycles();
    return static_cast<double>(all);
  }

  void take(const CompiledModel& m, const Probe& probe) {
    machine_ = m.machine;
    samples_ = probe.inputs();
    compared_ = probe.compared();
    for (const accel::CompiledRegion& r : m.regions)
      for (const accel::LayerReport& l : r.layers)
        layer_cycles_.push_back(static_cast<double>(l.bound_cycles));
  }

  CompileOptions options_;
  std::optional<ir::Graph> graph_;  // of the first compile, before code generation
  std::optional<partition::Partition> partition_;
  std::optional<target::Machine> machine_;
  std::vector<double> layer_cycles_;
  std::vector<std::vector<Tensor>> samples_;
  std::vector<ir::ValueId> compared_;
};

// Which roundings are avoided, and how; what that is predicted to come to.
class Plan {
 public:
  // `plain`: what the probe measured. Roundings that go together make more than independent ones would.
  Plan(const ir::Graph& graph, RegionRoundings found, double plain)
      : graph_(graph), found_(std::move(found)) {
    moved_.assign(found_.layers.size(), false);
    paired_.assign(found_.roundings.size(), false);
    const double first = predicted();
    if (std::isfinite(plain) && first > 0) scale_ = std::max(1.0, plain / first);
  }

  double predicted() const {
    double sum = 0;
    for (size_t i = 0; i < paired_.size(); ++i) sum += remains(i) ? square(i) : 0;
    return std::sqrt(sum);
  }

  // One more; false: there is none that would help, or that costs no more than `room` cycles of the
  // accelerator.
  bool step(AccuracyChoice& choice, bool host, double& room) {
    size_t best = paired_.size();
    double most = 0;
    bool pair = true;
    for (size_t i = 0; i < paired_.size(); ++i) {
      if (!remains(i)) continue;
      const RegionRounding& r = found_.roundings[i];
      const bool fits = !r.pairs.empty() && r.pair_cycles <= room;
      const double paired = fits ? square(i) / (1 + r.pair_cycles) : 0, moved = host ? worth_moving(i) : 0;
      if (std::max(paired, moved) > most) most = std::max(paired, moved), best = i, pair = paired >= moved;
    }
    if (best == paired_.size()) return false;
    if (pair) {
      paired_[best] = true;
      room -= found_.roundings[best].pair_cycles;
      for (const auto& [value, precision] : found_.roundings[best].pairs)
        choice.precisions[value] = precision;
    } else {
      for (size_t layer : found_.roundings[best].layers) move(layer, choice);
    }
    choice.predicted = predicted();
    return true;
  }

  void move_all(AccuracyChoice& choice) {
    for (size_t i = 0; i < found_.layers.size(); ++i) move(i, choice);
    choice.predicted = 0;
  }

  // Of the layers that moved, an estimate.
  double host_cycles() const {
    double all = 0;
    for (size_t i = 0; i < moved_.size(); ++i) all += moved_[i] ? found_.layers[i].host_cycles : 0;
    return all;
  }

  // Only the host is left as a way.
  void without_pairs(AccuracyChoice& choice) {
    choice.precisions.clear();
    paired_.assign(paired_.size(), false);
    for (RegionRounding& r : found_.roundings) r.pairs.clear();
  }

 private:
  double square(size_t i) const {
    const double error = std::min(kInfinite, scale_ * found_.roundings[i].error);
    return error * error;
  }

  bool remains(size_t i) const {
    return !paired_[i] &&
           std::ranges::any_of(found_.roundings[i].layers, [&](size_t l) { return !moved_[l]; });
  }

  void move(size_t layer, AccuracyChoice& choice) {
    moved_[layer] = true;
    for (ir::NodeId n : found_.layers[layer].nodes)
      for (ir::SourceId s : graph_.lineage(n).sources) choice.on_cpu.insert(graph_.sources()[s.index()].id);
  }

  // Less error for each cycle, if all layers of the rounding were on the CPU.
  double worth_moving(size_t i) const {
    double cycles = 1;
    for (size_t l : found_.roundings[i].layers) cycles += moved_[l] ? 0 : found_.layers[l].host_cycles;
    return square(i) / cycles;
  }

  const ir::Graph& graph_;
  RegionRoundings found_;
  std::vector<bool> moved_;   // by layer
  std::vector<bool> paired_;  // by rounding
  double scale_ = 1;
};

// The cheapest way to the accuracy that is asked for.
std::optional<AccuracyChoice> meet(double asked, Trials& trials) {
  AccuracyChoice choice;
  choice.asked = asked;
  const std::optional<Trial> plain = trials.measure(choice);
  if (!plain) return std::nullopt;
  choice.runs = 1;
  if (plain->error <= asked) return choice;
  auto found = trials.roundings();
  if (!found) return std::nullopt;
  Plan plan(trials.graph(), std::move(*found), plain->error);
  double target = kMargin * asked, room = kInfinite;
  while (choice.runs < kMostRuns) {
    bool any = false;
    while ((!any || plan.predicted() > target) && plan.step(choice, true, room)) any = true;
    if (!any) break;
    const std::optional<Trial> trial = trials.measure(choice);
    ++choice.runs;
    if (trial && trial->error <= asked) return choice;
    if (!trial && choice.precisions.empty()) return std::nullopt;
    if (!trial) plan.without_pairs(choice);
    target *= trial && std::isfinite(trial->error) ? std::min(kMargin, asked / trial->error) : kMargin;
  }
  plan.move_all(choice);
  if (!trials.measure(choice)) return std::nullopt;  // --accel keeps a layer
  return choice;
}

// The best accuracy within so many times the cycles, all on the accelerator.
std::optional<AccuracyChoice> best_within(double slowdown, Trials& trials) {
  AccuracyChoice best;
  const std::optional<Trial> plain = trials.measure(best);
  if (!plain) return std::nullopt;
  best.runs = 1;
  auto found = trials.roundings();
  if (!found) return std::nullopt;
  double least = plain->error, share = 1;
  while (best.runs < kMostRuns) {
    Plan plan(trials.graph(), *found, plain->error);
    AccuracyChoice choice;
    double room = share * (slowdown - 1) * plain->cycles;
    while (plan.step(choice, false, room)) continue;
    if (choice.precisions.empty()) break;
    const std::optional<Trial> trial = trials.measure(choice);
    const size_t runs = best.runs + 1;
    const bool fits = trial && trial->cycles <= slowdown * plain->cycles;
    if (fits && trial->error < least) best = choice, least = trial->error;
    best.runs = runs;
    const double used = trial ? trial->cycles / plain->cycles - 1 : 2 * slowdown;
    if (fits && used > 0.8 * (slowdown - 1)) break;
    const double next =
        share * (used > 0 ? std::clamp((slowdown - 1) / used, 0.3, 2.0) * (fits ? 1 : 0.95) : 2);
    if (fits && next <= share) break;
    share = next;
  }
  return best;
}

// Predictions halve from row to row.
constexpr size_t kMostRows = 8;

}  // namespace

std::vector<FrontierPoint> accuracy_frontier(const CompileOptions& options) {
  Trials trials(options);
  AccuracyChoice choice;
  const std::optional<Trial> plain = trials.measure(choice);
  auto found = plain ? trials.roundings() : std::nullopt;
  if (!found) return {};
  std::vector<FrontierPoint> out = {{plain->error, plain->error, plain->cycles, 0}};
  Plan plan(trials.graph(), std::move(*found), plain->error);
  double room = kInfinite, target = plan.predicted() / 2;
  while (out.size() < kMostRows) {
    bool any = false;
    while (plan.predicted() > target && plan.step(choice, true, room)) any = true;
    const std::optional<Trial> trial = any ? trials.measure(choice) : std::nullopt;
    if (!trial) break;
    out.push_back({choice.predicted, trial->error, trial->cycles, plan.host_cycles()});
    target = plan.predicted() / 2;
  }
  return out;
}

std::optional<AccuracyChoice> choose_for_accuracy(const CompileOptions& options) {
  Trials trials(options);
  if (options.objective == CompileOptions::Objective::Accuracy) return best_within(options.slowdown, trials);
  return meet(*options.accuracy, trials);
}

void apply_choice(const AccuracyChoice& choice, const ir::Graph& graph, partition::Partition& partition) {
  for (partition::Region& region : partition.regions) {
    const partition::PrecisionChoice can(graph, region);
    for (ir::ValueId v : can.values()) {
      const auto wanted = choice.precisions.find(v);
      if (wanted != choice.precisions.end() && !can.obstacle(v, wanted->second))
        can.set(region.precisions, v, wanted->second);
    }
  }
  for (partition::NodeDecision& d : partition.decisions) {
    const auto& sources = graph.lineage(d.node).sources;
    const bool named = std::ranges::any_of(
        sources, [&](ir::SourceId s) { return choice.on_cpu.contains(graph.sources()[s.index()].id); });
    if (named && !d.accelerator)
      d.reason = fmt::format("It is kept on the CPU for --accuracy {:g}: there nothing is rounded to fp16.",
                             choice.asked);
  }
}

}  // namespace mrvlc::driver

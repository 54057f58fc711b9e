// `compile --accuracy`: what the outputs are most sensitive to, for what it costs, leaves fp16 first; then it
// is tried, and more follows where the prediction was too good.
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

class Search {
 public:
  explicit Search(const CompileOptions& options) : options_(options) {
    choice_.asked = *options.accuracy;
    options_.accuracy.reset();
    options_.fail_on_fallback = options_.fail_on_accuracy = false;
    options_.probe = CompileOptions::Probe::Always;
    options_.timing.clear();
    options_.depfile.clear();
  }

  std::optional<AccuracyChoice> run() {
    const std::optional<double> plain = measure();
    if (!plain) return std::nullopt;
    if (*plain <= choice_.asked) return choice_;
    if (!find_roundings()) return std::nullopt;
    // Roundings that go together make more than independent ones would.
    const double first = predicted();
    if (std::isfinite(*plain) && first > 0) scale_ = std::max(1.0, *plain / first);
    double target = kMargin * choice_.asked;
    while (choice_.runs < kMostRuns) {
      if (!extend(target)) break;
      const std::optional<double> error = measure();
      if (!error) return std::nullopt;
      if (*error <= choice_.asked) return choice_;
      target *= std::min(kMargin, std::isfinite(*error) ? choice_.asked / *error : kMargin);
    }
    for (size_t i = 0; i < found_->layers.size(); ++i) move(i);
    choice_.predicted = 0;
    return choice_;
  }

 private:
  // The probe's error of a compile with the choice as it is.
  std::optional<double> measure() {
    std::optional<double> error;
    CompileHooks hooks;
    hooks.choice = choice_;
    hooks.placed = [&](ir::Graph& graph, partition::Partition& partition) -> Status {
      if (!graph_) graph_ = graph, partition_ = partition;
      return {};
    };
    hooks.probed = [&](const CompiledModel& m, const Probe& probe) {
      const bool nothing_left = !m.accuracy.on_accelerator;
      if (m.accuracy.known() || nothing_left) error = m.accuracy.expected_error();
      if (samples_.empty()) samples_ = probe.inputs(), compared_ = probe.compared(), machine_ = m.machine;
      return false;
    };
    Diagnostics said;  // again by the last compile
    compile(options_, said, hooks);
    if (error) ++choice_.runs;
    return error;
  }

  bool find_roundings() {
    found_.emplace(*graph_, *partition_, *machine_);
    const std::vector<ir::ValueId>& compared = compared_.empty() ? graph_->outputs() : compared_;
    std::vector<ir::ValueId> floats;
    for (ir::ValueId v : compared)
      if (is_float(graph_->value(v).type.elem)) floats.push_back(v);
    moved_.assign(found_->layers.size(), false);
    return found_->measure(*graph_, samples_, floats, options_.jobs).ok();
  }

  double square(const RegionRounding& r) const {
    const double error = std::min(kInfinite, scale_ * r.error);
    return error * error;
  }

  bool remains(const RegionRounding& r) const {
    return std::ranges::any_of(r.layers, [&](size_t i) { return !moved_[i]; });
  }

  double predicted() const {
    double sum = 0;
    for (const RegionRounding& r : found_->roundings) sum += remains(r) ? square(r) : 0;
    return std::sqrt(sum);
  }

  void move(size_t layer) {
    moved_[layer] = true;
    for (ir::NodeId n : found_->layers[layer].nodes)
      for (ir::SourceId s : graph_->lineage(n).sources)
        choice_.on_cpu.insert(graph_->sources()[s.index()].id);
  }

  // Less error for each cycle, if all layers of the rounding were on the CPU.
  double worth(const RegionRounding& r) {
    double cycles = 1, gain = 0;
    std::vector<size_t> added;
    for (size_t i : r.layers) {
      if (moved_[i]) continue;
      added.push_back(i);
      cycles += found_->layers[i].host_cycles;
      moved_[i] = true;
    }
    for (const RegionRounding& other : found_->roundings) {
      const bool goes = !remains(other) && std::ranges::any_of(other.layers, [&](size_t i) {
        return std::ranges::find(added, i) != added.end();
      });
      gain += goes ? square(other) : 0;
    }
    for (size_t i : added) moved_[i] = false;
    return gain / cycles;
  }

  // Steps until the prediction is no more than `target`; false: there is none left.
  bool extend(double target) {
    bool any = false;
    for (;;) {
      choice_.predicted = predicted();
      if (any && choice_.predicted <= target) return true;
      const RegionRounding* best = nullptr;
      double most = 0;
      for (const RegionRounding& r : found_->roundings) {
        const double w = remains(r) ? worth(r) : 0;
        if (w > most) most = w, best = &r;
      }
      if (best == nullptr) return any;
      for (size_t i : best->layers) move(i);
      any = true;
    }
  }

  CompileOptions options_;
  AccuracyChoice choice_;
  std::optional<ir::Graph> graph_;  // of the first compile, before code generation
  std::optional<partition::Partition> partition_;
  std::optional<target::Machine> machine_;
  std::vector<std::vector<Tensor>> samples_;
  std::vector<ir::ValueId> compared_;
  std::optional<RegionRoundings> found_;
  std::vector<bool> moved_;  // by layer
  double scale_ = 1;
};

}  // namespace

std::optional<AccuracyChoice> choose_for_accuracy(const CompileOptions& options) {
  return Search(options).run();
}

void explain_choice(const AccuracyChoice& choice, const ir::Graph& graph, partition::Partition& partition) {
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

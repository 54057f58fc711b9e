// What leaves fp16 is made to fit.
#include "explore/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "accuracy/pinned_sources.h"
#include "mrvlc/support/glob.h"

namespace mrvlc::driver {
namespace {

using partition::Precision;

// The largest that was seen comes to lie here: data that nobody has seen may be 16 times that.
constexpr double kLargest = 4096;
// What is harder to have is taken where it is worth something.
constexpr double kBetter = 0.5;

// No more than what is proved of the value needs: with that it fits whatever the inputs are.
Precision kept_as(Precision::Kind kind, double magnitude, const range::Interval& proved) {
  double shift = std::ceil(std::log2(magnitude / kLargest));
  if (proved.bounded())
    shift = std::min(shift, std::max(1.0, std::ceil(std::log2(proved.max_abs() / range::kFp16Most))));
  return {kind, static_cast<int32_t>(std::min<double>(shift, partition::kMostShift))};
}

bool makes_or_reads(const ir::Graph& graph, const partition::Layer& layer, ir::ValueId value, bool makes) {
  return std::ranges::any_of(layer.nodes, [&](ir::NodeId n) {
    const auto& values = makes ? graph.node(n).outputs : graph.node(n).inputs;
    return std::ranges::find(values, value) != values.end();
  });
}

}  // namespace

// Those that a user wants so stay as they are.
std::vector<Accuracy::Beyond> Fitting::lost(const ProbedModel& m) const {
  std::vector<Accuracy::Beyond> out;
  for (const Accuracy::Beyond& b : m.accuracy.beyond) {
    const bool named = std::ranges::any_of(options_.precisions, [&](const auto& p) {
      return glob_match(p.first, b.value) || glob_match(p.first, printable(b.value, 1u << 20));
    });
    if (!b.wide && !named) out.push_back(b);
  }
  return out;
}

bool Fitting::stays(const ProbedModel& m) {
  if (last_) return true;
  const std::vector<Accuracy::Beyond> beyond = lost(m);
  const Outcome now{beyond.size(), m.accuracy.known() ? m.accuracy.expected_error() : 0};
  if (!best_) find_choices(m, beyond);
  const bool best = !best_ || better(now);
  if (best) best_ = now, best_choice_ = choice_;
  if (now.lost == 0 && now.error <= options_.accuracy_warning) return true;
  // The CPU is for what cannot be kept.
  const bool holds = best_->lost == 0 && std::isfinite(best_->error);
  if (holds) std::erase_if(left_, [](const AccuracyChoice& c) { return c.precisions.empty(); });
  if (left_.empty()) {
    last_ = true;
    choice_ = best_choice_;
    return best;
  }
  choice_ = std::move(left_.back());
  left_.pop_back();
  return false;
}

bool Fitting::better(const Outcome& now) const {
  return now.lost < best_->lost || (now.lost == best_->lost && now.error < kBetter * best_->error);
}

void Fitting::find_choices(const ProbedModel& m, const std::vector<Accuracy::Beyond>& beyond) {
  for (const How how : {How::Cpu, How::Pairs, How::Scaled}) {
    AccuracyChoice choice;
    for (const Accuracy::Beyond& b : beyond) fit(m, b, how, choice);
    const bool same = !left_.empty() && choice.precisions == left_.back().precisions &&
                      choice.on_cpu == left_.back().on_cpu;
    if (!same && !(choice.precisions.empty() && choice.on_cpu.empty())) left_.push_back(std::move(choice));
  }
}

Fitting::Way Fitting::look(const ProbedModel& m, ir::ValueId value, const Precision& precision) const {
  Way way;
  const ir::Graph& graph = m.model.graph;
  const std::set<ir::SourceId> held = pinned_sources(graph, options_);
  for (const bool makes : {true, false}) {
    for (const partition::Region& region : m.partition.regions) {
      const partition::PrecisionChoice can(graph, region);
      if (std::ranges::find(can.values(), value) == can.values().end()) continue;
      if (!way.obstacle) way.obstacle = can.obstacle(value, precision);
      for (const partition::Layer& layer : region.layers) {
        if (!makes_or_reads(graph, layer, value, makes)) continue;
        way.cpu.insert(layer.nodes.begin(), layer.nodes.end());
        way.held = way.held || any_pinned(graph, layer.nodes, held);
      }
    }
    if (!way.cpu.empty()) break;
  }
  return way;
}

void Fitting::fit(const ProbedModel& m, const Accuracy::Beyond& b, How how, AccuracyChoice& choice) const {
  const ir::Graph& graph = m.model.graph;
  const Precision precision = kept_as(how == How::Scaled ? Precision::Kind::Half : Precision::Kind::Pair,
                                      b.magnitude, m.known.proved(graph, b.id));
  const Way way = look(m, b.id, precision);
  const std::string name = printable(b.value);
  if (how != How::Cpu && !way.obstacle) {
    choice.precisions[b.id] = precision;
    choice.kept.push_back({name, b.magnitude, partition::to_text(precision)});
    return;
  }
  if (way.held || way.cpu.empty()) return;
  for (ir::NodeId n : way.cpu) {
    for (ir::SourceId s : graph.lineage(n).sources) {
      const std::string& id = graph.sources()[s.index()].id;
      choice.on_cpu.insert(id);
      choice.reasons[id] =
          fmt::format("'{}' reaches {:.6g}, beyond the range of fp16 (65504){}.", name, b.magnitude,
                      way.obstacle ? ", and cannot be kept otherwise: " + *way.obstacle
                                   : ", and is not near enough as " + partition::to_text(precision));
    }
  }
}

std::optional<AccuracyChoice> fitting_choice(Session& session, const Fork& fork,
                                             const CompileOptions& options) {
  Fitting fitting(options);
  for (;;) {
    Said said;
    auto placed = fork.place(session, options, fitting.choice(), said);
    const auto made = placed ? probe_model(session, *std::move(placed), nullptr, said) : std::nullopt;
    if (!made || fitting.stays(made->model)) return fitting.choice();
  }
}

}  // namespace mrvlc::driver

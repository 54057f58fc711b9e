// Floats with more and more pairs, the CPU, and, where there are samples, integers in all layers or in those
// that an accuracy allows.
#include "explore/compile_frontier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "accuracy/quantized_model.h"
#include "explore/choose.h"
#include "explore/precision.h"
#include "mrvlc/support/diag/accuracy.h"

namespace mrvlc::driver {
namespace {

// Networks with some layers in integers: each is asked for this share of the error of the one before.
constexpr size_t kMostMixed = 3;
constexpr double kShare = 0.3;

struct Candidate {
  FrontierRow row;
  FrontierChoice how;
};

size_t pairs_of(const AccuracyChoice& choice) {
  using Kind = partition::Precision::Kind;
  return static_cast<size_t>(
      std::ranges::count_if(choice.precisions, [](const auto& p) { return p.second.kind == Kind::Pair; }));
}

std::string counted(size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string precision_text(const FrontierRow& r, size_t layers) {
  const bool all = r.layers_in_integers == layers;
  std::string out = r.layers_in_integers == 0 ? "fp16" : all ? "int8" : "int8 and floats";
  if (r.layers_in_integers > 0 && !all)
    out += fmt::format(", {} of {} in integers", r.layers_in_integers, counted(layers, "layer"));
  if (r.pairs > 0) out += fmt::format(", {} as pairs", counted(r.pairs, "value"));
  if (r.nodes_on_cpu > 0) out += fmt::format(", {} moved to the CPU", counted(r.nodes_on_cpu, "node"));
  return out;
}

class Explorer {
 public:
  Explorer(Session& session, const OpenedModel& opened, Said& said)
      : session_(session), opened_(opened), said_(said) {}

  std::optional<ExploredFrontier> run() {
    if (!add_floats() || !add_integers()) return std::nullopt;
    if (all_.size() < 2) {
      said_.diagnostics.add(make_diag<DiagCode::MRV0910>());
      return std::nullopt;
    }
    return kept();
  }

 private:
  void add(const Trial& trial, const CompileOptions& options, const std::optional<AccuracyChoice>& choice) {
    Candidate c{{}, {options, choice}};
    c.row.error = std::isfinite(trial.error) ? trial.error : kInfiniteError;
    c.row.cycles = trial.cycles, c.row.seconds = trial.seconds;
    size_t layers = 0;
    if (options.quantized != nullptr) {
      const quantize::Report& report = options.quantized->report;
      layers = report.layers.size();
      c.row.layers_in_integers =
          static_cast<size_t>(std::ranges::count_if(report.layers, &quantize::LayerReport::integers));
      // Without an accelerator nothing is probed.
      if (!opened_.has_accelerator) c.row.error = report.error;
    }
    if (choice) c.row.pairs = pairs_of(*choice), c.row.nodes_on_cpu = choice->on_cpu.size();
    c.row.precision =
        opened_.has_accelerator || c.row.layers_in_integers > 0 ? precision_text(c.row, layers) : "float32";
    all_.push_back(std::move(c));
  }

  // False: the compile itself fails.
  bool add_floats() {
    const std::optional<Fork> fork = Fork::open(session_, opened_, said_);
    if (!fork) return false;
    if (!opened_.has_accelerator) {
      unasked_ = 0;
      return add_plain(opened_.options);
    }
    for (const FrontierPoint& p : accuracy_frontier(session_, *fork, true)) {
      if (!unasked_ || !p.choice.kept.empty()) unasked_ = all_.size();
      add(p.measured, opened_.options, p.choice);
    }
    return true;
  }

  // As the options say, as far as times and errors. What it says is said when it is compiled.
  bool add_plain(const CompileOptions& options) {
    const CompileOptions trial = for_measuring(options, CompileOptions::Probe::Always);
    Said tried;
    auto placed = placed_model(session_, trial, {}, tried);
    auto probed = placed ? probe_model(session_, *std::move(placed), nullptr, tried) : std::nullopt;
    if (probed) {
      add(trial_of(probed->model), options, std::nullopt);
      return true;
    }
    said_.add(tried);
    return false;
  }

  bool add_integers() {
    if (opened_.options.data.empty()) return true;
    const double floats = unasked_ ? all_.front().row.error : 0;
    if (!add_quantized("int8", std::nullopt)) return false;
    for (size_t i = 0; i < kMostMixed; ++i) {
      const double asked = kShare * all_.back().row.error;
      if (asked >= kShare * kInfiniteError || asked <= 2 * floats) break;
      const size_t before = all_.size();
      if (!add_quantized("auto", asked)) return false;
      if (all_.size() == before) break;
    }
    return true;
  }

  // False: an error. Where the quantiser leaves all layers in floats, nothing is added.
  bool add_quantized(const char* precision, std::optional<double> accuracy) {
    CompileOptions options = opened_.options;
    options.precision = precision;
    options.accuracy = accuracy;
    Diagnostics told;
    if (!quantize_for(options, opened_.has_accelerator, told)) {
      for (const Diag& d : told.list()) said_.diagnostics.add(d);
      return false;
    }
    options.accuracy.reset();  // what was asked of the quantiser
    return options.quantized->bytes.empty() || add_plain(options);
  }

  // Those that none beats: by time, each with a smaller error than all faster ones.
  ExploredFrontier kept() {
    std::vector<size_t> order(all_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {},
                             [&](size_t i) { return std::pair(all_[i].row.seconds, all_[i].row.error); });
    ExploredFrontier out;
    out.frontier.tried = all_.size();
    out.frontier.on_data = !opened_.options.data.empty();
    std::optional<double> least;
    for (const size_t i : order) {
      Candidate& c = all_[i];
      if (least && !(c.row.error < *least)) continue;
      least = c.row.error;
      c.row.pick = out.choices.size() + 1;
      out.frontier.rows.push_back(c.row);
      if (i == unasked_) out.unasked = out.choices.size();
      out.choices.push_back(std::move(c.how));
    }
    return out;
  }

  Session& session_;
  const OpenedModel& opened_;
  Said& said_;
  std::vector<Candidate> all_;     // in the order of trials
  std::optional<size_t> unasked_;  // of these: what is compiled without --frontier, where it was measured
};

}  // namespace

std::optional<ExploredFrontier> explore_frontier(Session& session, const OpenedModel& opened, Said& said) {
  return Explorer(session, opened, said).run();
}

}  // namespace mrvlc::driver

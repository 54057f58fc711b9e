// The order of work: plan, reference outputs, attempts by several methods, of which the one is kept that is
// nearest to floats on samples that none was made of, accuracy, report.
#include "mrvlc/quantize/quantize.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "attempt.h"
#include "equalise.h"
#include "held_out.h"
#include "mixer.h"
#include "mrvlc/support/diag/accuracy.h"

namespace mrvlc::quantize {
namespace {

class Quantizer {
 public:
  Quantizer(Graph& graph, const std::vector<Sample>& samples, const Options& options)
      : g_(graph),
        s_(divided(samples, options.validation)),
        o_(options),
        is_float_(graph.node_slots(), false) {}

  Result<Report> run() {
    for (NodeId id : g_.topological_order())
      if (o_.keep_float && o_.keep_float(g_.node(id))) keep(id, "the user keeps it in floats");
    all_ = make_plan(g_, is_float_);
    if (all_.layers.empty()) return make_diag<DiagCode::MRV0912>();
    MRVLC_TRY(expect());
    MRVLC_ASSIGN(Attempt attempt, best_attempt(is_float_));
    if (o_.accuracy) {
      MRVLC_ASSIGN(attempt.judgement, judge(attempt.graph, s_.all(), s_.expected_all(), o_));
      MRVLC_TRY(meet_accuracy(attempt));
      MRVLC_TRY(judge_by_held(attempt));
    }
    MRVLC_TRY(meet_metric(attempt));
    MRVLC_ASSIGN(Report out, report(attempt));
    g_ = std::move(attempt.graph);
    return out;
  }

 private:
  void keep(NodeId id, std::string_view why) {
    is_float_[id.index()] = true;
    why_[id] = why;
  }

  Status expect() {
    const size_t all = s_.used.size() + s_.held.size();
    for (auto [samples, expected] :
         {std::pair(&s_.used, &s_.expected_used), std::pair(&s_.held, &s_.expected_held)}) {
      for (const Sample& sample : *samples) {
        if (o_.progress) o_.progress("reference", s_.expected_used.size() + expected->size() + 1, all);
        MRVLC_ASSIGN(auto outputs, interp::run(g_, sample));
        expected->push_back(std::move(outputs));
      }
    }
    return {};
  }

  // By the method that is nearest to floats on what is held back. What is learned from few samples can be
  // worse on others than what is simple; the simplest, all ranges and the nearest integers, is among them.
  Result<Attempt> best_attempt(const std::vector<bool>& is_float) {
    MRVLC_ASSIGN(Attempt best, attempt(is_float, false));
    std::optional<Attempt> plain;
    if (o_.equalise) {
      MRVLC_ASSIGN(Attempt equalised, attempt(is_float, true));
      if (!equalised.equalised.empty() && is_nearer(equalised, best)) {
        plain = std::move(best);
        best = std::move(equalised);
      }
    }
    if (s_.held.empty()) return best;
    Options o = o_;
    o.progress = nullptr;
    const auto improve = [&](const Attempt& of, const Options& options,
                             std::vector<ChosenRange> ranges) -> Status {
      if (o_.progress) o_.progress("validation", 1, 1);
      MRVLC_ASSIGN(Attempt other, again(of, options, std::move(ranges)));
      if (!is_nearer(other, best)) return {};
      best = std::move(other);
      o = options;
      return {};
    };
    const auto simpler = [&](bool Options::*method) -> Status {
      if (!(o.*method)) return {};
      Options without = o;
      without.*method = false;
      return improve(Attempt(best), without, best.ranges);
    };
    MRVLC_TRY(simpler(&Options::learn_rounding));
    MRVLC_TRY(simpler(&Options::correct_bias));
    if (o_.ranges != RangeMethod::Best) return best;
    for (RangeMethod method :
         {RangeMethod::MinMax, RangeMethod::Percentile, RangeMethod::Mse, RangeMethod::Entropy}) {
      MRVLC_ASSIGN(auto ranges, ranges_by(method, best));
      MRVLC_TRY(improve(Attempt(best), o, std::move(ranges)));
    }
    Options simplest = o_;
    simplest.progress = nullptr;
    simplest.learn_rounding = simplest.correct_bias = false;
    const Attempt& from = plain ? *plain : best;
    MRVLC_ASSIGN(auto ranges, ranges_by(RangeMethod::MinMax, from));
    MRVLC_TRY(improve(Attempt(from), simplest, std::move(ranges)));
    return best;
  }

  static bool is_nearer(const Attempt& a, const Attempt& b) {
    return a.judgement.mean_square < b.judgement.mean_square;
  }

  // One method for all tensors.
  Result<std::vector<ChosenRange>> ranges_by(RangeMethod method, const Attempt& a) const {
    Options o = o_;
    o.progress = nullptr;
    o.ranges = method;
    return choose_ranges(a.floats, a.plan, s_.used, s_.expected_used, o);
  }

  // The same network with other ranges, or weights rounded in another way.
  Result<Attempt> again(const Attempt& from, const Options& options, std::vector<ChosenRange> ranges) const {
    Attempt a = from;
    a.graph = a.floats;
    a.ranges = std::move(ranges);
    MRVLC_ASSIGN(a.layers, round_layers(a.graph, a.plan, a.affines(), s_.used, options));
    insert(a, options);
    MRVLC_ASSIGN(a.judgement, judge(a.graph, s_.judged(), s_.expected_judged(), options));
    return a;
  }

  Result<Attempt> attempt(std::vector<bool> is_float, bool equalises) {
    Attempt a;
    a.graph = g_;
    a.became = add_biases(a.graph, make_plan(a.graph, is_float));
    is_float.resize(a.graph.node_slots(), false);
    a.plan = make_plan(a.graph, is_float);
    a.is_float = std::move(is_float);
    if (equalises) {
      MRVLC_ASSIGN(a.equalised, equalise(a.graph, a.plan, s_.used, o_.progress));
      if (a.equalised.empty()) return a;
    }
    a.floats = a.graph;
    MRVLC_ASSIGN(a.ranges, choose_ranges(a.graph, a.plan, s_.used, s_.expected_used, o_));
    MRVLC_ASSIGN(a.layers, round_layers(a.graph, a.plan, a.affines(), s_.used, o_));
    insert(a, o_);
    MRVLC_ASSIGN(a.judgement, judge(a.graph, s_.judged(), s_.expected_judged(), o_));
    return a;
  }

  // As many layers in integers as the outputs allow.
  Status meet_accuracy(Attempt& a) {
    if (a.judgement.error <= *o_.accuracy && !o_.times) return {};
    Mixer mixer(a, s_, o_);
    MRVLC_ASSIGN(std::optional<Attempt> found, mixer.meet(*o_.accuracy));
    note_choice(mixer, a, found ? &*found : nullptr);
    if (found) {
      a = *std::move(found);
    } else if (o_.may_be_none) {
      a = mixer.floats();
    } else {
      return make_diag<DiagCode::MRV0913>(*o_.accuracy, a.judgement.error);
    }
    return {};
  }

  // What was looked at, and why layers of `all` stay in floats; `found`: null where all do.
  void note_choice(const Mixer& mixer, const Attempt& all, const Attempt* found) {
    choice_ = mixer.report();
    for (size_t i = 0; i < all.plan.layers.size(); ++i) {
      const NodeId id = of_model(all, all.plan.layers[i].node);
      sensitivity_[id] = mixer.errors()[i];
      saves_[id] = mixer.saved()[i];
      if (found == nullptr || !found->has(all.plan.layers[i].node)) why_[id] = mixer.why_float(i);
    }
  }

  Result<double> metric_of(const Graph& network) const {
    MRVLC_ASSIGN(const auto outputs, run_all(network, s_.judged(), o_));
    return o_.metric->measure(outputs, s_.numbers);
  }

  // As many layers in integers as the metric allows. It is no sum of errors of layers, so errors are asked
  // for, less and less, until it holds; then one between the last two.
  Status meet_metric(Attempt& a) {
    if (!o_.metric) return {};
    MRVLC_ASSIGN(const double floats, o_.metric->measure(s_.expected_judged(), s_.numbers));
    MRVLC_ASSIGN(const double integers, metric_of(a.graph));
    metric_ = MetricReport{o_.metric->name, floats, integers, o_.metric->max_drop};
    // 0.95 - 0.05 is a little more than 0.9 in binary.
    const double slack = 1e-9 * (1 + std::abs(floats));
    const auto holds = [&](double value) {
      return !metric_->max_drop || value >= floats - *metric_->max_drop - slack;
    };
    if (holds(integers)) return {};
    MRVLC_ASSIGN(const Judgement all, judge(a.graph, s_.all(), s_.expected_all(), o_));
    Mixer mixer(a, s_, o_);
    std::optional<Attempt> best;
    const auto try_error = [&](double asked) -> Result<bool> {
      MRVLC_ASSIGN(std::optional<Attempt> found, mixer.meet(asked));
      if (!found) return false;
      MRVLC_ASSIGN(const double value, metric_of(found->graph));
      if (!holds(value)) return false;
      best = std::move(found), metric_->of_integers = value;
      return true;
    };
    MRVLC_TRY(search_error(all.error, try_error));
    if (!best) return make_diag<DiagCode::MRV0951>(*metric_->max_drop, metric_->name, floats, integers);
    note_choice(mixer, a, &*best);
    a = *std::move(best);
    return judge_by_held(a);
  }

  static Status search_error(double error, const std::function<Result<bool>(double)>& holds) {
    constexpr size_t kHalvings = 7;
    double asked = error;
    for (size_t i = 0; i < kHalvings; ++i) {
      asked /= 2;
      MRVLC_ASSIGN(const bool held, holds(asked));
      if (!held) continue;
      MRVLC_TRY(holds(asked * std::sqrt(2.0)));
      return {};
    }
    return {};
  }

  // The largest error stays that of all samples, which it was asked for.
  Status judge_by_held(Attempt& a) const {
    MRVLC_ASSIGN(const Judgement held, judge(a.graph, s_.judged(), s_.expected_judged(), o_));
    for (size_t k = 0; k < held.outputs.size(); ++k) {
      a.judgement.outputs[k].sqnr_db = held.outputs[k].sqnr_db;
      a.judgement.outputs[k].same_top1 = held.outputs[k].same_top1;
    }
    return {};
  }

  // The layer of the model that is this one in the attempt.
  static NodeId of_model(const Attempt& a, NodeId here) {
    for (const auto& [before, now] : a.became)
      if (now == here) return before;
    return here;
  }

  Result<Report> report(const Attempt& a) const {
    Report out;
    out.samples = static_cast<int64_t>(s_.used.size());
    out.validation = static_cast<int64_t>(s_.held.size());
    if (!s_.held.empty() && o_.validation.empty()) out.held = s_.numbers;
    out.outputs = a.judgement.outputs;
    out.error = a.judgement.error;
    out.choice = choice_;
    out.metric = metric_;
    for (size_t i = 0; i < a.ranges.size(); ++i) {
      const ChosenRange& r = a.ranges[i];
      out.tensors.push_back({a.floats.value(a.plan.groups[i][0]).name, r.method, r.seen_min, r.seen_max,
                             r.affine.scale, r.affine.zero});
    }
    MRVLC_ASSIGN(const std::vector<double> ratios, ratios_of(a));
    for (NodeId id : g_.topological_order())
      if (is_layer(g_, g_.node(id))) add_layer(a, id, ratios, out);
    return out;
  }

  // By layer of the plan, in dB.
  Result<std::vector<double>> ratios_of(const Attempt& a) const {
    constexpr size_t kSamples = 16;
    std::vector<ir::ValueId> results;
    for (const Layer& layer : a.plan.layers) results.push_back(layer.result);
    const std::vector<Sample>& judged = s_.judged();
    const size_t n = std::min(judged.size(), kSamples);
    return sqnr_of(a.graph, a.floats, results, {judged.begin(), judged.begin() + static_cast<long>(n)});
  }

  void add_layer(const Attempt& a, NodeId id, const std::vector<double>& ratios, Report& out) const {
    const ir::Node& n = g_.node(id);
    LayerReport layer;
    layer.node = n.name.empty() ? g_.value(n.outputs[0]).name : n.name;
    layer.op = n.op->name;
    layer.weights = g_.constant(n.inputs[1])->elements();
    out.float_weight_bytes += layer.weights * byte_size(ElementType::F32);
    const auto now = a.became.find(id);
    const NodeId here = now == a.became.end() ? id : now->second;
    const auto at = std::ranges::find(a.plan.layers, here, &Layer::node);
    layer.integers = at != a.plan.layers.end();
    if (const auto s = sensitivity_.find(id); s != sensitivity_.end())
      layer.sensitivity = s->second, layer.saves = saves_.at(id);
    if (layer.integers) {
      const auto i = static_cast<size_t>(at - a.plan.layers.begin());
      layer.learned = a.layers[i].learned;
      layer.sqnr_db = ratios[i];
      if (const auto e = a.equalised.find(here); e != a.equalised.end()) layer.equalised = e->second;
    } else if (const auto why = why_.find(id); why != why_.end()) {
      layer.why_float = why->second;
    }
    out.weight_bytes += layer.integers ? layer.weights * bit_size(o_.weights) / 8
                                       : layer.weights * byte_size(ElementType::F32);
    out.layers.push_back(std::move(layer));
  }

  Graph& g_;
  Samples s_;
  const Options& o_;
  std::vector<bool> is_float_;  // by node
  std::map<NodeId, std::string> why_;
  std::map<NodeId, double> sensitivity_, saves_;
  std::optional<ChoiceReport> choice_;
  std::optional<MetricReport> metric_;
  Plan all_;  // of the model as it is
};

}  // namespace

Result<Report> quantize(Graph& graph, const std::vector<std::vector<Tensor>>& samples,
                        const Options& options) {
  return Quantizer(graph, samples, options).run();
}

}  // namespace mrvlc::quantize

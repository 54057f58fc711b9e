// The order of work: plan, reference outputs, attempts with and without equalised channels, accuracy, report.
#include "mrvlc/quantize/quantize.h"

#include <algorithm>
#include <map>

#include "attempt.h"
#include "equalise.h"
#include "mixer.h"
#include "mrvlc/support/diag/accuracy.h"

namespace mrvlc::quantize {
namespace {

class Quantizer {
 public:
  Quantizer(Graph& graph, const std::vector<Sample>& samples, const Options& options)
      : g_(graph), samples_(samples), o_(options), is_float_(graph.node_slots(), false) {}

  Result<Report> run() {
    for (NodeId id : g_.topological_order())
      if (o_.keep_float && o_.keep_float(g_.node(id))) keep(id, "the user keeps it in floats");
    all_ = make_plan(g_, is_float_);
    if (all_.layers.empty()) return make_diag<DiagCode::MRV0912>();
    MRVLC_TRY(expect());
    MRVLC_ASSIGN(Attempt attempt, best_attempt(is_float_));
    if (o_.accuracy) MRVLC_TRY(meet_accuracy(attempt));
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
    for (size_t i = 0; i < samples_.size(); ++i) {
      if (o_.progress) o_.progress("reference", i + 1, samples_.size());
      MRVLC_ASSIGN(auto outputs, interp::run(g_, samples_[i]));
      expected_.push_back(std::move(outputs));
    }
    return {};
  }

  // With and without equalised channels, what is nearer to floats.
  Result<Attempt> best_attempt(const std::vector<bool>& is_float) {
    MRVLC_ASSIGN(Attempt plain, attempt(is_float, false));
    if (!o_.equalise) return plain;
    MRVLC_ASSIGN(Attempt equalised, attempt(is_float, true));
    if (equalised.equalised.empty()) return plain;
    return equalised.judgement.mean_square < plain.judgement.mean_square ? std::move(equalised)
                                                                         : std::move(plain);
  }

  Result<Attempt> attempt(std::vector<bool> is_float, bool equalises) {
    Attempt a;
    a.graph = g_;
    a.became = add_biases(a.graph, make_plan(a.graph, is_float));
    is_float.resize(a.graph.node_slots(), false);
    a.plan = make_plan(a.graph, is_float);
    a.is_float = std::move(is_float);
    if (equalises) {
      MRVLC_ASSIGN(a.equalised, equalise(a.graph, a.plan, samples_, o_.progress));
      if (a.equalised.empty()) return a;
    }
    a.floats = a.graph;
    MRVLC_ASSIGN(a.ranges, choose_ranges(a.graph, a.plan, samples_, expected_, o_));
    MRVLC_ASSIGN(a.layers, round_layers(a.graph, a.plan, a.affines(), samples_, o_));
    insert(a, o_);
    MRVLC_ASSIGN(a.judgement, judge(a.graph, samples_, expected_, o_));
    return a;
  }

  // As many layers in integers as the outputs allow.
  Status meet_accuracy(Attempt& a) {
    if (a.judgement.error <= *o_.accuracy && !o_.times) return {};
    Mixer mixer(a, samples_, expected_, o_);
    MRVLC_ASSIGN(std::optional<Attempt> found, mixer.meet(*o_.accuracy));
    choice_ = mixer.report();
    for (size_t i = 0; i < a.plan.layers.size(); ++i) {
      const NodeId id = of_model(a, a.plan.layers[i].node);
      sensitivity_[id] = mixer.errors()[i];
      saves_[id] = mixer.saved()[i];
      if (!found || !found->has(a.plan.layers[i].node)) why_[id] = mixer.why_float(i);
    }
    if (found) {
      a = *std::move(found);
    } else if (o_.may_be_none) {
      a = mixer.floats();
    } else {
      return make_diag<DiagCode::MRV0913>(*o_.accuracy, a.judgement.error);
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
    out.samples = static_cast<int64_t>(samples_.size());
    out.outputs = a.judgement.outputs;
    out.error = a.judgement.error;
    out.choice = choice_;
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
    const size_t n = std::min(samples_.size(), kSamples);
    return sqnr_of(a.graph, a.floats, results, {samples_.begin(), samples_.begin() + static_cast<long>(n)});
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
  const std::vector<Sample>& samples_;
  const Options& o_;
  std::vector<bool> is_float_;  // by node
  std::map<NodeId, std::string> why_;
  std::map<NodeId, double> sensitivity_, saves_;
  std::optional<ChoiceReport> choice_;
  Plan all_;                                   // of the model as it is
  std::vector<std::vector<Tensor>> expected_;  // outputs by sample
};

}  // namespace

Result<Report> quantize(Graph& graph, const std::vector<std::vector<Tensor>>& samples,
                        const Options& options) {
  return Quantizer(graph, samples, options).run();
}

}  // namespace mrvlc::quantize

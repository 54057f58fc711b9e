#include "mrvlc/quantize/quantize.h"

#include <algorithm>
#include <map>

#include "choose_ranges.h"
#include "equalise.h"
#include "insert.h"
#include "judge.h"
#include "layers_in_order.h"
#include "mrvlc/calibration/sensitivity.h"
#include "mrvlc/support/diag/accuracy.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::quantize {
namespace {

// A network of integers, and what was decided for it.
struct Attempt {
  Graph graph, floats;  // floats: the same, equalised, before it became integers
  Plan plan;
  std::vector<ChosenRange> ranges;     // by group
  std::vector<RoundedLayer> layers;    // of the plan
  std::map<NodeId, NodeId> became;     // layers of the model that are other nodes here
  std::map<NodeId, double> equalised;  // layers here
  Judgement judgement;
};

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
    if (equalises) {
      MRVLC_ASSIGN(a.equalised, equalise(a.graph, a.plan, samples_, o_.progress));
      if (a.equalised.empty()) return a;
    }
    a.floats = a.graph;
    MRVLC_ASSIGN(a.ranges, choose_ranges(a.graph, a.plan, samples_, expected_, o_));
    MRVLC_TRY(become_integers(a));
    MRVLC_ASSIGN(a.judgement, judge(a.graph, samples_, expected_, o_));
    return a;
  }

  Status become_integers(Attempt& a) {
    std::vector<Affine> affines;
    for (const ChosenRange& r : a.ranges) affines.push_back(r.affine);
    MRVLC_ASSIGN(a.layers, round_layers(a.graph, a.plan, affines, samples_, o_));
    insert_activations(a.graph, a.plan, affines);
    for (size_t i = 0; i < a.plan.layers.size(); ++i) {
      const Affine& data = affines[a.plan.group_of[a.plan.layers[i].data.index()]];
      insert_weights(a.graph, a.plan.layers[i], a.layers[i].weights, o_.weights, data);
    }
    return {};
  }

  // The fewest of the most sensitive layers in floats with which the outputs are near enough.
  Status meet_accuracy(Attempt& a) {
    if (a.judgement.error <= *o_.accuracy) return {};
    MRVLC_ASSIGN(const std::vector<NodeId> order, by_sensitivity(a));
    size_t fails = 0, meets = order.size();
    std::optional<Attempt> found;
    while (meets - fails > 1) {
      const size_t n = (fails + meets) / 2;
      MRVLC_ASSIGN(Attempt next, best_attempt(without(order, n)));
      if (next.judgement.error <= *o_.accuracy) {
        meets = n;
        found = std::move(next);
      } else {
        fails = n;
      }
    }
    if (!found) return make_diag<DiagCode::MRV0913>(*o_.accuracy, a.judgement.error);
    for (size_t i = 0; i < meets; ++i)
      keep(order[i], "the outputs were not within --accuracy with it in integers");
    a = *std::move(found);
    return {};
  }

  std::vector<bool> without(const std::vector<NodeId>& order, size_t n) const {
    std::vector<bool> out = is_float_;
    for (size_t i = 0; i < n; ++i) out[order[i].index()] = true;
    return out;
  }

  // Layers of the model, those first with which alone in integers outputs move most.
  Result<std::vector<NodeId>> by_sensitivity(const Attempt& a) {
    MRVLC_ASSIGN(const std::vector<double> errors, sensitivities_of(a));
    std::vector<std::pair<double, NodeId>> sorted;
    for (size_t i = 0; i < all_.layers.size(); ++i) {
      sorted.emplace_back(-errors[i], all_.layers[i].node);
      sensitivity_[all_.layers[i].node] = errors[i];
    }
    std::ranges::stable_sort(sorted, {}, [](const auto& p) { return p.first; });
    std::vector<NodeId> out;
    for (const auto& [error, node] : sorted) out.push_back(node);
    return out;
  }

  // By layer: of as many of the samples as the budget allows, at least one.
  Result<std::vector<double>> sensitivities_of(const Attempt& a) {
    std::vector<calibration::Rounding> roundings;
    int64_t cost = 1;
    for (size_t i = 0; i < a.plan.layers.size(); ++i) {
      roundings.push_back(rounding_of(a, i));
      cost = saturating_add(
          cost, calibration::measuring_cost(a.floats, roundings.back(),
                                            [&](const ir::Node& n) { return o_.cost(a.floats, n); }));
    }
    const size_t n = std::clamp<size_t>(static_cast<size_t>(o_.budget / cost), 1, samples_.size());
    const std::vector<Sample> first(samples_.begin(), samples_.begin() + static_cast<long>(n));
    std::vector<ir::ValueId> floats;
    for (ir::ValueId v : a.floats.outputs())
      if (is_float(a.floats.value(v).type.elem)) floats.push_back(v);
    calibration::SensitivityOptions limits;
    limits.jobs = o_.jobs;
    return calibration::sensitivities(a.floats, first, roundings, floats, limits);
  }

  // What it reads, its weights and its bias.
  static calibration::Rounding rounding_of(const Attempt& a, size_t i) {
    const Layer& layer = a.plan.layers[i];
    const ir::Node& n = a.floats.node(layer.node);
    const IntegerWeights& integers = a.layers[i].weights;
    const ProductShape shape = product_shape(a.floats, n);
    const Shape& as = a.floats.value(n.inputs[1]).type.shape;
    const Affine data = a.ranges[a.plan.group_of[layer.data.index()]].affine;
    return {{layer.data},
            {layer.node},
            [=, &integers, of = layer.data, inputs = n.inputs](ir::ValueId v, Tensor& t) {
              if (v == of) {
                round_to(data, t);
              } else if (v == inputs[1]) {
                t = weight_tensor(real_weights(integers), shape, as);
              } else if (inputs.size() > 2 && v == inputs[2]) {
                for (int64_t c = 0; c < shape.channels(); ++c)
                  t.set_double(c, t.as_double(c) + integers.bias[c]);
              }
            }};
  }

  Result<Report> report(const Attempt& a) const {
    Report out;
    out.samples = static_cast<int64_t>(samples_.size());
    out.outputs = a.judgement.outputs;
    out.error = a.judgement.error;
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
    if (const auto s = sensitivity_.find(id); s != sensitivity_.end()) layer.sensitivity = s->second;
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
  std::map<NodeId, double> sensitivity_;
  Plan all_;                                   // of the model as it is
  std::vector<std::vector<Tensor>> expected_;  // outputs by sample
};

}  // namespace

Result<Report> quantize(Graph& graph, const std::vector<std::vector<Tensor>>& samples,
                        const Options& options) {
  return Quantizer(graph, samples, options).run();
}

}  // namespace mrvlc::quantize

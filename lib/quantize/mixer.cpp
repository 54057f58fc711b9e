// Errors and savings of layers measured; choices searched, tried as a whole, and savings learned from them.
#include "mixer.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "mrvlc/calibration/sensitivity.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/saturating.h"
#include "search.h"

namespace mrvlc::quantize {
namespace {

// Measurements of a search: more where they cost little, of as many samples as go into the budget.
constexpr int64_t kFewRuns = 24, kMostRuns = 120;
constexpr int64_t kLeastSamples = 4, kMostMeasured = 16;
// Runs of the network that a measurement takes: two to round weights by, one to judge.
constexpr int64_t kRunsOfSample = 3;
// Searches: an error on all samples that is more than asked makes the next one ask for less; times of what
// was chosen make the next one know better.
constexpr size_t kTighter = 4, kRounds = 6;
// Measurements of all searches together, in those of one.
constexpr size_t kSearches = 2;
constexpr double kMargin = 0.95;

// What layer `i` reads, its weights and its bias, as they are in integers.
calibration::Rounding rounding_of(const Attempt& a, const std::vector<RoundedLayer>& layers, size_t i) {
  const Layer& layer = a.plan.layers[i];
  const Node& n = a.floats.node(layer.node);
  const IntegerWeights& integers = layers[i].weights;
  const ProductShape shape = product_shape(a.floats, n);
  const Shape& as = a.floats.value(n.inputs[1]).type.shape;
  const Affine data = a.ranges[a.plan.group_of[layer.data.index()]].affine;
  return {
      {layer.data}, {layer.node}, [=, &integers, of = layer.data, inputs = n.inputs](ValueId v, Tensor& t) {
        if (v == of) {
          round_to(data, t);
        } else if (v == inputs[1]) {
          t = weight_tensor(real_weights(integers), shape, as);
        } else if (inputs.size() > 2 && v == inputs[2]) {
          for (int64_t c = 0; c < shape.channels(); ++c) t.set_double(c, t.as_double(c) + integers.bias[c]);
        }
      }};
}

}  // namespace

Result<std::optional<Attempt>> Mixer::meet(double asked) {
  report_.asked = asked;
  report_.error_of_integers = all_.judgement.error;
  if (errors_.empty()) MRVLC_TRY(look());
  std::optional<Attempt> best;
  std::set<Set> tried;
  if (floats_times_) {
    report_.time = floats_times_->all;
    const double together = *report_.time_of_integers;
    if (all_.judgement.error <= asked && together < *report_.time) best = all_, report_.time = together;
  }
  for (size_t round = 0; round < kRounds; ++round) {
    MRVLC_ASSIGN(std::optional<Found> found, near_enough(asked));
    if (!found || !tried.insert(found->integers).second) break;
    if (!o_.times) return std::optional(std::move(found->attempt));
    MRVLC_ASSIGN(const Times times, times_of(found->attempt.graph));
    learn(found->integers, found->attempt, times);
    if (times.all >= *report_.time) continue;
    report_.time = times.all;
    best = std::move(found->attempt);
  }
  return best;
}

// What there is to be known before a choice.
Status Mixer::look() {
  MRVLC_ASSIGN(floats_, with(Set(all_.plan.layers.size(), false), nullptr));
  report_.error_of_floats = floats_.judgement.error;
  choose_samples();
  MRVLC_ASSIGN(errors_, measure_errors());
  beside_.assign(errors_.size(), 0);
  before_.resize(errors_.size());
  if (o_.times) return look_at_times();
  saved_ = multiply_accumulates();
  return {};
}

// In floats, in integers, and between others in floats.
Status Mixer::look_at_times() {
  find_before();
  find_owners();
  MRVLC_ASSIGN(floats_times_, times_of(floats_.graph));
  MRVLC_ASSIGN(const Times integers, times_of(all_.graph));
  report_.time_of_floats = floats_times_->all;
  report_.time_of_integers = integers.all;
  floats_time_ = by_layer(floats_.graph, *floats_times_);
  const std::vector<double> together = by_layer(all_.graph, integers);
  MRVLC_ASSIGN(const std::vector<double> by_itself, alone(together));
  saved_ = floats_time_;
  for (size_t i = 0; i < saved_.size(); ++i) {
    saved_[i] -= by_itself[i];
    beside_[i] = std::max(0.0, by_itself[i] - together[i]);
  }
  return {};
}

// The layers that make what each layer reads, with nothing but passed-on values in between.
void Mixer::find_before() {
  const Graph& g = all_.floats;
  std::map<NodeId, size_t> layers;
  for (size_t i = 0; i < all_.plan.layers.size(); ++i) layers[all_.plan.layers[i].node] = i;
  for (size_t i = 0; i < all_.plan.layers.size(); ++i) {
    std::set<ValueId> seen;
    std::vector<ValueId> open = {all_.plan.layers[i].data};
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      if (!v.valid() || !g.value(v).producer.valid() || !seen.insert(v).second) continue;
      const NodeId by = g.value(v).producer;
      if (const auto at = layers.find(by); at != layers.end()) {
        before_[i].push_back(at->second);
      } else {
        open.insert(open.end(), g.node(by).inputs.begin(), g.node(by).inputs.end());
      }
    }
    std::ranges::sort(before_[i]);
  }
}

// Every other layer at a time, by how many are in front of it at most: what each takes when what it reads
// comes from floats.
Result<std::vector<double>> Mixer::alone(const std::vector<double>& together) {
  std::vector<size_t> depth(before_.size(), 0);
  for (size_t i = 0; i < before_.size(); ++i)
    for (size_t k : before_[i]) depth[i] = std::max(depth[i], depth[k] + 1);
  std::vector<double> out = together;
  for (const size_t parity : {size_t{0}, size_t{1}}) {
    Set set(before_.size(), false);
    for (size_t i = 0; i < set.size(); ++i) set[i] = depth[i] % 2 == parity;
    MRVLC_ASSIGN(const Attempt m, without_judgement(set, nullptr));
    MRVLC_ASSIGN(const Times times, times_of(m.graph));
    const std::vector<double> now = by_layer(m.graph, times);
    for (size_t i = 0; i < set.size(); ++i)
      if (set[i] && !before_[i].empty()) out[i] = now[i];
  }
  return out;
}

// Evenly spread; the more a run costs, the fewer. Weights are rounded by others, where there are any: on the
// samples that they were rounded by errors are too small.
void Mixer::choose_samples() {
  const int64_t each = saturating_mul(kRunsOfSample, run_cost(floats_.graph, o_));
  const std::vector<Sample>& judged = s_.judged();
  const auto most = static_cast<int64_t>(judged.size());
  const int64_t least = std::min(kLeastSamples, most);
  const int64_t some = s_.held.empty() ? most / 2 : most;
  const int64_t n =
      std::clamp<int64_t>(o_.budget / each / kFewRuns, least, std::clamp(some, least, kMostMeasured));
  runs_ = static_cast<size_t>(std::clamp<int64_t>(o_.budget / each / n, kFewRuns, kMostRuns));
  report_.samples = static_cast<size_t>(n);
  for (size_t i = 0; i < report_.samples; ++i) {
    const size_t s = i * judged.size() / report_.samples;
    first_.push_back(judged[s]);
    first_expected_.push_back(s_.expected_judged()[s]);
    const size_t at = i * s_.used.size() / report_.samples;
    const size_t next = (i + 1) * s_.used.size() / report_.samples;
    learn_.push_back(s_.used[at + (next - at) / 2]);
  }
}

// By layer: of as many of the samples as the budget allows, at least one.
Result<std::vector<double>> Mixer::measure_errors() const {
  MRVLC_ASSIGN(const std::vector<RoundedLayer> layers,
               round_layers(all_.floats, all_.plan, all_.affines(), learn_, o_, InFront::Floats));
  std::vector<calibration::Rounding> roundings;
  int64_t cost = 1;
  for (size_t i = 0; i < all_.plan.layers.size(); ++i) {
    roundings.push_back(rounding_of(all_, layers, i));
    cost = saturating_add(
        cost, calibration::measuring_cost(all_.floats, roundings.back(),
                                          [&](const Node& n) { return o_.cost(all_.floats, n); }));
  }
  const auto n = std::clamp<size_t>(static_cast<size_t>(o_.budget / cost), 1, first_.size());
  const std::vector<Sample> some(first_.begin(), first_.begin() + static_cast<long>(n));
  calibration::SensitivityOptions limits;
  limits.jobs = o_.jobs;
  return calibration::sensitivities(all_.floats, some, roundings, calibration::float_outputs(all_.floats),
                                    limits);
}

Result<Times> Mixer::times_of(const Graph& graph) const {
  if (o_.progress) o_.progress("time", 1, 1);
  return o_.times(graph);
}

// What lies between layers belongs to the first one behind it, at the end of the network to the one in front.
void Mixer::find_owners() {
  const Graph& g = all_.floats;
  const size_t none = all_.plan.layers.size();
  owners_.assign(g.node_slots(), none);
  for (size_t i = 0; i < none; ++i) owners_[all_.plan.layers[i].node.index()] = i;
  const std::vector<NodeId> order = g.topological_order();
  for (auto id = order.rbegin(); id != order.rend(); ++id)
    for (ValueId v : g.node(*id).outputs)
      for (NodeId user : v.valid() ? g.value(v).users : std::vector<NodeId>())
        if (size_t& own = owners_[id->index()]; own == none || !is_layer(g, g.node(*id)))
          own = std::min(own, owners_[user.index()]);
  for (NodeId id : order)
    for (ValueId v : g.node(id).inputs)
      if (size_t& own = owners_[id.index()]; own == none && v.valid() && g.value(v).producer.valid())
        own = owners_[g.value(v).producer.index()];
}

// The layer that a part is of; what makes integers in front of one belongs to it.
size_t Mixer::owner(const Graph& graph, const Times::Part& part) const {
  const auto layer_of = [&](NodeId id) {
    const auto at = std::ranges::find(all_.plan.layers, id, &Layer::node);
    return static_cast<size_t>(at - all_.plan.layers.begin());
  };
  const size_t none = all_.plan.layers.size();
  for (NodeId id : part.nodes)
    if (const size_t at = layer_of(id); at != none) return at;
  for (NodeId id : part.nodes) {
    if (!graph.node(id).is(Op::QuantizeLinear)) continue;
    for (NodeId back : graph.value(graph.node(id).outputs[0]).users)
      for (NodeId reader : graph.value(graph.node(back).outputs[0]).users)
        if (const size_t at = layer_of(reader); at != none) return at;
  }
  for (NodeId id : part.nodes)
    if (id.index() < owners_.size() && owners_[id.index()] != none) return owners_[id.index()];
  return none;
}

std::vector<double> Mixer::by_layer(const Graph& graph, const Times& times) const {
  std::vector<double> out(all_.plan.layers.size() + 1, 0);
  for (const Times::Part& part : times.parts) out[owner(graph, part)] += part.time;
  out.pop_back();
  return out;
}

std::vector<double> Mixer::multiply_accumulates() const {
  std::vector<double> out;
  for (const Layer& layer : all_.plan.layers)
    out.push_back(static_cast<double>(o_.cost(all_.floats, all_.floats.node(layer.node))));
  return out;
}

// Without a word of progress: each is one of many.
Options Mixer::quiet() const {
  Options out = o_;
  out.progress = nullptr;
  return out;
}

Result<Attempt> Mixer::without_judgement(const Set& integers, const std::vector<Sample>* rounded_by) const {
  Attempt m;
  m.graph = m.floats = all_.floats;
  m.became = all_.became;
  m.equalised = all_.equalised;
  m.is_float = all_.is_float;
  for (size_t i = 0; i < integers.size(); ++i)
    if (!integers[i]) m.is_float[all_.plan.layers[i].node.index()] = true;
  m.plan = make_plan(m.graph, m.is_float);
  for (const std::vector<ValueId>& group : m.plan.groups)
    m.ranges.push_back(all_.ranges[all_.plan.group_of[group[0].index()]]);
  if (rounded_by != nullptr) {
    MRVLC_ASSIGN(m.layers, round_layers(m.graph, m.plan, m.affines(), *rounded_by, quiet()));
  } else {
    for (const Layer& layer : m.plan.layers) {
      const auto at = std::ranges::find(all_.plan.layers, layer.node, &Layer::node);
      m.layers.push_back(all_.layers[static_cast<size_t>(at - all_.plan.layers.begin())]);
    }
  }
  insert(m, o_);
  return m;
}

Result<Attempt> Mixer::with(const Set& integers, const std::vector<Sample>* rounded_by) const {
  MRVLC_ASSIGN(Attempt m, without_judgement(integers, rounded_by));
  MRVLC_ASSIGN(m.judgement, judge(m.graph, s_.all(), s_.expected_all(), o_));
  return m;
}

Result<double> Mixer::error_on_first(const Set& integers) {
  const auto known = measured_.find(integers);
  if (known != measured_.end()) return known->second;
  if (measured_.size() >= kSearches * runs_) return HUGE_VAL;  // what is not measured is not near enough
  if (o_.progress) o_.progress("choice", measured_.size() + 1, kSearches * runs_);
  MRVLC_ASSIGN(const Attempt m, without_judgement(integers, &learn_));
  MRVLC_ASSIGN(const Judgement judgement, judge(m.graph, first_, first_expected_, o_));
  return measured_[integers] = judgement.error;
}

// Weights as they are, or rounded once more.
Result<Attempt> Mixer::nearest(const Set& integers) const {
  MRVLC_ASSIGN(Attempt same, with(integers, nullptr));
  MRVLC_ASSIGN(Attempt again, with(integers, &s_.used));
  return again.judgement.error < same.judgement.error ? std::move(again) : std::move(same);
}

// A choice that is near enough on all samples.
Result<std::optional<Mixer::Found>> Mixer::near_enough(double asked) {
  Choosing choosing{errors_, saved_, before_, beside_, floats_.judgement.error, asked, runs_};
  for (size_t n = 0; n < kTighter; ++n) {
    MRVLC_ASSIGN(const Chosen chosen,
                 choose_integers(choosing, [&](const Set& integers) { return error_on_first(integers); }));
    report_.runs = measured_.size();
    if (std::ranges::find(chosen.integers, true) == chosen.integers.end()) break;
    MRVLC_ASSIGN(Attempt found, nearest(chosen.integers));
    if (found.judgement.error <= asked) return std::optional(Found{chosen.integers, std::move(found)});
    choosing.asked *= kMargin * std::min(1.0, asked / found.judgement.error);
  }
  return std::optional<Found>();
}

// What the chosen layers really save where they are.
void Mixer::learn(const Set& integers, const Attempt& mixed, const Times& times) {
  const std::vector<double> now = by_layer(mixed.graph, times);
  for (size_t i = 0; i < saved_.size(); ++i) {
    if (!integers[i]) continue;
    const bool follows =
        !before_[i].empty() && std::ranges::all_of(before_[i], [&](size_t k) { return integers[k]; });
    const double saves = floats_time_[i] - now[i];
    if (follows) {
      beside_[i] = saves - saved_[i];
    } else {
      beside_[i] += saved_[i] - saves;
      saved_[i] = saves;
    }
  }
}

std::vector<double> Mixer::saved() const {
  std::vector<double> out;
  for (size_t i = 0; i < saved_.size(); ++i) out.push_back(saves(i));
  return out;
}

std::string Mixer::why_float(size_t layer) const {
  return saves(layer) > 0 ? "the outputs were not within --accuracy with it in integers"
                          : "it would save no time in integers";
}

}  // namespace mrvlc::quantize

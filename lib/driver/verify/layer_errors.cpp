// What of a layer's error is its own: its nodes are evaluated in float32 on the operands that it really had.
#include "verify/layer_errors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "model/as_in_model.h"
#include "mrvlc/calibration/error.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/interp/visit.h"
#include "mrvlc/ops/random.h"
#include "mrvlc/ops/work.h"
#include "verify/condition.h"
#include "verify/fp16_ideal.h"

namespace mrvlc::driver {
namespace {

using Values = LayeredModel::Values;
using State = LayerError::State;

// Of the arithmetic of a region that has the roundings of fp16 and no others.
constexpr double kUnits = 0x1p-10;  // and, where that says less, two units of fp16: tables of functions
// Of C against the interpreter, beside what roundings move: as of outputs of the host.
constexpr double kHost = 1e-4;

// Results of the unit on these operands; nullopt where one is missing, or an operator does not take them.
std::optional<Values> evaluate(const ir::Graph& graph, const LayerUnit& unit, const Values& operands,
                               const interp::Visit& visit) {
  Values made;
  for (ir::NodeId id : unit.nodes) {
    const ir::Node& node = graph.node(id);
    std::vector<Tensor> copies(node.inputs.size());
    std::vector<const Tensor*> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ir::ValueId v = node.inputs[i];
      if (!v.valid()) {
        inputs.push_back(nullptr);
        continue;
      }
      const auto own = std::as_const(made).find(v), given = operands.find(v);
      if (const Tensor* constant = graph.constant(v)) {
        copies[i] = *constant;
      } else if (own != made.cend()) {
        copies[i] = own->second;
      } else if (given != operands.end()) {
        copies[i] = given->second;
      } else {
        return std::nullopt;
      }
      if (visit && own == made.cend()) visit(v, copies[i]);
      inputs.push_back(&copies[i]);
    }
    auto results = interp::evaluate(graph, node, inputs);
    if (!results.ok()) return std::nullopt;
    for (size_t i = 0; i < results->size() && i < node.outputs.size(); ++i) {
      if (visit) visit(node.outputs[i], (*results)[i]);
      made[node.outputs[i]] = std::move((*results)[i]);
    }
  }
  return made;
}

struct Distance {
  double error = 0;
  int64_t elements = 0;  // of types other than floats
};

Distance distance(const Tensor& actual, const Tensor& expected) {
  if (!(actual.type() == expected.type())) return {INFINITY, 1};
  if (is_float(expected.elem())) return {calibration::float_error(actual, expected), 0};
  Distance out;
  if (expected.elem() == ElementType::String) {
    for (size_t i = 0; i < expected.string_data().size(); ++i)
      out.elements += actual.string_data()[i] == expected.string_data()[i] ? 0 : 1;
    return out;
  }
  for (int64_t i = 0; i < expected.elements(); ++i)
    out.elements += actual.as_int(i) == expected.as_int(i) ? 0 : 1;
  return out;
}

bool draws(const ir::Graph& graph, const LayerUnit& unit) {
  return std::ranges::any_of(unit.nodes, [&](ir::NodeId n) { return ops::is_random(graph.node(n)); });
}

std::string operators_of(const ir::Graph& graph, const LayerUnit& unit) {
  std::string out;
  for (ir::NodeId n : unit.nodes) out += (out.empty() ? "" : " + ") + idmap::label(graph, n);
  return out;
}

LayerError named(const ir::Graph& graph, const LayerUnit& unit) {
  LayerError out;
  out.place = unit.region ? fmt::format("region {}", *unit.region) : "cpu";
  out.operators = operators_of(graph, unit);
  if (!unit.outputs.empty()) out.value = graph.value(unit.outputs[0]).name;
  if (const ir::Source* s = source_of(graph, unit.nodes.front()))
    out.node = s->name.empty() ? s->id : s->name, out.type = s->op_type;
  return out;
}

// How far correct results on these operands may be from exact ones, when `runs` roundings were otherwise.
class Moved {
 public:
  Moved(const ir::Graph& graph, const LayerUnit& unit, const Values& operands, const Values& exact,
        const Limits& limits)
      : graph_(graph), unit_(unit), operands_(operands), exact_(exact), limits_(limits) {}

  bool next() {
    if (run_ == kNudgedRuns) return false;
    Nudger nudger(graph_, run_++);
    const auto nudge = [&](ir::ValueId id, Tensor& tensor) { nudger(id, tensor); };
    const auto moved = evaluate(graph_, unit_, operands_, nudge);
    if (!moved) return true;
    for (ir::ValueId v : unit_.outputs)
      movements_[v].add(moved->at(v), exact_.at(v), nudger.factor(), limits_);
    return true;
  }
  const Allowance& of(ir::ValueId v) { return movements_[v].allowance(); }

 private:
  const ir::Graph& graph_;
  const LayerUnit& unit_;
  const Values &operands_, &exact_;
  const Limits& limits_;
  std::map<ir::ValueId, Movement> movements_;
  uint64_t run_ = 0;
};

}  // namespace

LayerJudge::LayerJudge(const LayeredModel& model, const Limits& limits, bool given)
    : model_(model), limits_(limits), on_cpu_(limits) {
  if (!given) on_cpu_.wide = kHost, on_cpu_.narrow = Limits{}.narrow;
  for (const LayerUnit& unit : model.units()) layers_.push_back(named(model.graph(), unit));
}

// By rounding weights, which a layer's own error has in it.
double LayerJudge::lost_by_weights(const LayerUnit& unit, const Values& actual, const Values& exact) const {
  const ir::Graph* half = model_.rounded();
  if (half == nullptr) return 0;
  const auto rounded = evaluate(*half, unit, actual, nullptr);
  double lost = 0;
  for (ir::ValueId v : unit.outputs)
    if (rounded) lost = std::max(lost, distance(rounded->at(v), exact.at(v)).error);
  return lost;
}

// As outputs of the host are judged: by the limits, and by what other roundings of the operands move. What
// lies in bodies is judged as a whole: beyond the limits of outputs nothing says whether fp16 loses as much.
void LayerJudge::judge_on_cpu(const LayerUnit& unit, const Values& actual, const Values& exact,
                              LayerError& out) const {
  Limits limits = unit.regions_in_bodies ? limits_ : on_cpu_;
  const double lost = lost_by_weights(unit, actual, exact);
  limits.wide += lost;
  limits.narrow += lost;
  Moved moved(model_.graph(), unit, actual, exact, limits);
  for (bool more = true; more;) {
    out.elements = 0;
    out.state = State::Ok;
    double most = -1;
    for (ir::ValueId v : unit.outputs) {
      const Difference d = compare(actual.at(v), exact.at(v), limits, moved.of(v));
      if (!d.same()) out.state = unit.regions_in_bodies ? State::Unknown : State::Wrong;
      if (!is_float(exact.at(v).elem())) {
        out.elements += d.elements;
      } else if (const double share = d.error / std::max(d.limit, 1e-30); share > most) {
        most = share;
        out.own = d.error;
        out.limit = d.limit;
      }
    }
    more = out.state == State::Wrong && moved.next();
  }
}

// `own`: where it is small enough anyway, nothing more is asked.
double LayerJudge::limit_in_fp16(const LayerUnit& unit, const Values& actual, const Values& exact, double own,
                                 bool& overflows) const {
  const ir::Graph& graph = model_.graph();
  double reach = 0;
  bool product = false;
  for (ir::ValueId v : unit.outputs) reach = std::max(reach, calibration::magnitude(exact.at(v)));
  for (ir::NodeId n : unit.nodes) product = product || ops::macs(graph, graph.node(n)) > 0;
  const double floor = kUnits * (product ? reach / (1 + reach) : 1);
  if (own <= floor) return floor;
  double ideal = 0;
  for (uint64_t run = 0; run < kRoundedRuns; ++run) {
    Rounder rounder(run);
    const auto rounded =
        evaluate(graph, unit, actual, [&](ir::ValueId id, Tensor& tensor) { rounder(graph, id, tensor); });
    if (!rounded) return floor;
    for (ir::ValueId v : unit.outputs) ideal = std::max(ideal, distance(rounded->at(v), exact.at(v)).error);
  }
  overflows = std::isinf(ideal);
  return std::max(floor, kIdealFactor * ideal);
}

void LayerJudge::judge(const LayerUnit& unit, const Values& actual, const Values& reference,
                       LayerError& out) const {
  const ir::Graph& graph = model_.graph();
  out.state = State::Unknown;
  double worst = -1;
  for (ir::ValueId v : unit.outputs) {
    if (!actual.contains(v) || !reference.contains(v)) return;
    const Distance d = distance(actual.at(v), reference.at(v));
    if (d.error > worst) worst = d.error, out.value = graph.value(v).name;
    out.error = std::max(out.error, d.error);
  }
  if (draws(graph, unit)) return;
  const std::optional<Values> exact = evaluate(graph, unit, actual, nullptr);
  if (!exact) return;
  for (ir::ValueId v : unit.outputs)
    out.inherited = std::max(out.inherited, distance(exact->at(v), reference.at(v)).error);
  unit.region ? judge_in_fp16(unit, actual, *exact, out) : judge_on_cpu(unit, actual, *exact, out);
}

void LayerJudge::judge_in_fp16(const LayerUnit& unit, const Values& actual, const Values& exact,
                               LayerError& out) const {
  for (ir::ValueId v : unit.outputs) {
    const Distance own = distance(actual.at(v), exact.at(v));
    out.own = std::max(out.own, own.error);
    if (is_integer(exact.at(v).elem()) && own.elements > 0)
      out.elements += compare(actual.at(v), exact.at(v), limits_).elements;
    else
      out.elements += own.elements;
  }
  bool overflows = false;
  out.limit = limit_in_fp16(unit, actual, exact, out.own, overflows);
  const bool loses = out.own > limits_.wide;
  out.state = out.elements > 0                   ? State::Wrong
              : overflows && std::isinf(out.own) ? State::Fp16
              : out.own > out.limit              ? State::Wrong
              : loses                            ? State::Fp16
                                                 : State::Ok;
}

void LayerJudge::add(const std::string& set, const Values& actual, const Values& reference) {
  sets_.push_back(set);
  const auto severity = [](State s) { return s == State::Wrong ? 2 : s == State::Fp16 ? 1 : 0; };
  for (size_t i = 0; i < layers_.size(); ++i) {
    LayerError now = named(model_.graph(), model_.units()[i]);
    now.set = set;
    judge(model_.units()[i], actual, reference, now);
    LayerError& kept = layers_[i];
    const double error = std::max(kept.error, now.error), inherited = std::max(kept.inherited, now.inherited);
    const bool worse = severity(now.state) != severity(kept.state)
                           ? severity(now.state) > severity(kept.state)
                           : now.own > kept.own;
    if (kept.set.empty() || worse) kept = std::move(now);
    kept.error = error;
    kept.inherited = inherited;
  }
}

LayerErrors LayerJudge::result(std::string reference) {
  LayerErrors out{std::move(reference), std::move(sets_), std::move(layers_), std::nullopt, {}};
  for (State wanted : {State::Wrong, State::Fp16}) {
    const auto bad = std::ranges::find(out.layers, wanted, &LayerError::state);
    if (bad == out.layers.end()) continue;
    out.first_bad = static_cast<size_t>(bad - out.layers.begin());
    break;
  }
  return out;
}

}  // namespace mrvlc::driver

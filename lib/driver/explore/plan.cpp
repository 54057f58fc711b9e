// Steps of --accuracy in the order of what they buy for their time.
#include "explore/plan.h"

#include <algorithm>
#include <cmath>

namespace mrvlc::driver {
namespace {

// What is learnt of a layer is that of all that overlaps with it.
constexpr double kLeastFactor = 0.2, kMostFactor = 5;

double of_layer(const Trial& trial, const RegionLayer& layer) {
  double cycles = 0;
  for (ir::NodeId n : layer.nodes)
    if (const auto at = trial.layers.find(n); at != trial.layers.end()) cycles += at->second;
  return cycles;
}

}  // namespace

Plan::Plan(const ir::Graph& graph, RegionRoundings found, double plain)
    : graph_(&graph), found_(std::move(found)) {
  paired_.assign(found_.roundings.size(), false);
  moved_ = paired_;
  on_cpu_.assign(found_.layers.size(), false);
  factor_.assign(found_.layers.size(), 1);
  const double first = predicted();
  if (std::isfinite(plain) && first > 0) scale_ = std::max(1.0, plain / first);
}

double Plan::predicted() const {
  return std::sqrt(sum());
}

double Plan::sum() const {
  double sum = 0;
  for (size_t i = 0; i < paired_.size(); ++i) sum += remains(i) ? square(i) : 0;
  return sum;
}

double Plan::square(size_t i) const {
  const double error = std::min(kUnbounded, scale_ * found_.roundings[i].error);
  return error * error;
}

bool Plan::remains(size_t i) const {
  return !paired_[i] &&
         std::ranges::any_of(found_.roundings[i].layers, [&](size_t l) { return !on_cpu_[l]; });
}

double Plan::pair_cost(size_t i) const {
  double cost = 0;
  for (const auto& [layer, cycles] : found_.roundings[i].pair_cycles) cost += cycles * factor_[layer];
  return cost;
}

double Plan::move_cost(size_t i) const {
  double cost = 0;
  for (size_t l : found_.roundings[i].layers) cost += on_cpu_[l] ? 0 : found_.layers[l].host_cycles;
  return cost;
}

bool Plan::may_move(size_t i) const {
  return std::ranges::none_of(found_.roundings[i].layers, [&](size_t l) { return found_.layers[l].held; });
}

void Plan::move(size_t i, bool there) {
  moved_[i] = there;
  on_cpu_.assign(on_cpu_.size(), false);
  for (size_t k = 0; k < moved_.size(); ++k)
    if (moved_[k])
      for (size_t l : found_.roundings[k].layers) on_cpu_[l] = true;
}

bool Plan::step(bool host, double& room) {
  size_t best = paired_.size();
  double most = 0;
  bool pair = true;
  for (size_t i = 0; i < paired_.size(); ++i) {
    if (!remains(i)) continue;
    const double cost = pair_cost(i);
    const bool fits = !found_.roundings[i].pairs.empty() && cost <= room;
    const double paired = fits ? square(i) / (1 + cost) : 0;
    const double moved = host && may_move(i) ? square(i) / (1 + move_cost(i)) : 0;
    if (std::max(paired, moved) > most) most = std::max(paired, moved), best = i, pair = paired >= moved;
  }
  if (best == paired_.size()) return false;
  if (pair) {
    paired_[best] = true;
    room -= pair_cost(best);
  } else {
    move(best, true);
  }
  return true;
}

void Plan::move_all() {
  for (size_t l = 0; l < on_cpu_.size(); ++l) on_cpu_[l] = !found_.layers[l].held;
}

void Plan::without_pairs() {
  paired_.assign(paired_.size(), false);
  for (RegionRounding& r : found_.roundings) r.pairs.clear();
}

AccuracyChoice Plan::choice() const {
  AccuracyChoice out;
  out.predicted = predicted();
  for (size_t i = 0; i < paired_.size(); ++i)
    if (paired_[i]) out.precisions.insert(found_.roundings[i].pairs.begin(), found_.roundings[i].pairs.end());
  for (size_t l = 0; l < on_cpu_.size(); ++l)
    if (on_cpu_[l])
      for (ir::NodeId n : found_.layers[l].nodes)
        for (ir::SourceId s : graph_->lineage(n).sources) out.on_cpu.insert(graph_->sources()[s.index()].id);
  return out;
}

double Plan::host_cycles() const {
  double all = 0;
  for (size_t l = 0; l < on_cpu_.size(); ++l) all += on_cpu_[l] ? found_.layers[l].host_cycles : 0;
  return all;
}

void Plan::learn(const Trial& plain, const Trial& with) {
  std::vector<double> expected(factor_.size(), 0);
  double all_expected = 0, all_taken = 0;
  for (size_t i = 0; i < paired_.size(); ++i)
    if (paired_[i])
      for (const auto& [layer, cycles] : found_.roundings[i].pair_cycles)
        expected[layer] += on_cpu_[layer] ? 0 : cycles;
  std::vector<double> taken(factor_.size(), 0);
  for (size_t l = 0; l < factor_.size(); ++l) {
    if (expected[l] <= 0) continue;
    taken[l] = of_layer(with, found_.layers[l]) - of_layer(plain, found_.layers[l]);
    all_expected += expected[l], all_taken += taken[l];
  }
  if (all_expected <= 0) return;
  const auto bounded = [](double f) { return std::clamp(f, kLeastFactor, kMostFactor); };
  for (size_t l = 0; l < factor_.size(); ++l)
    factor_[l] = bounded(expected[l] > 0 ? taken[l] / expected[l] : all_taken / all_expected);
}

Plan Plan::without_steps() const {
  Plan out = *this;
  out.paired_.assign(paired_.size(), false);
  out.moved_ = out.paired_;
  out.on_cpu_.assign(on_cpu_.size(), false);
  return out;
}

Plan Plan::within(double room) const {
  Plan out = without_steps();
  while (out.step(false, room)) continue;
  return out;
}

Plan Plan::cheapest(double prediction) const {
  Plan out = without_steps();
  double room = kUnbounded;
  while (out.predicted() > prediction && out.step(true, room)) continue;
  out.give_back(prediction);
  return out;
}

std::vector<size_t> Plan::pairs_by_price() const {
  std::vector<size_t> out;
  for (size_t i = 0; i < paired_.size(); ++i)
    if (paired_[i]) out.push_back(i);
  const auto price = [&](size_t i) { return (1 + pair_cost(i)) / std::max(square(i), 1e-30); };
  std::ranges::stable_sort(out, std::ranges::greater(), price);
  return out;
}

std::vector<size_t> Plan::further_pairs(double room) const {
  std::vector<size_t> out;
  for (size_t i = 0; i < paired_.size(); ++i)
    if (remains(i) && !found_.roundings[i].pairs.empty() && pair_cost(i) <= room) out.push_back(i);
  const auto worth = [&](size_t i) { return square(i) / (1 + pair_cost(i)); };
  std::ranges::stable_sort(out, std::ranges::greater(), worth);
  return out;
}

Plan Plan::with_pair(size_t i, bool paired) const {
  Plan out = *this;
  out.paired_[i] = paired;
  return out;
}

// The steps in order of what they buy end with one that buys more than is left to be bought: others may do
// without.
void Plan::give_back(double prediction) {
  for (;;) {
    const double now = sum();
    size_t best = paired_.size();
    double most = 0;
    for (size_t i = 0; i < paired_.size(); ++i) {
      if (!paired_[i] && !moved_[i]) continue;
      Plan without = *this;
      double saved = 0;
      if (paired_[i]) {
        without.paired_[i] = false, saved = pair_cost(i);
      } else {
        without.move(i, false), saved = without.move_cost(i);
      }
      const double then = without.sum();
      if (then > prediction * prediction) continue;
      const double worth = (1 + saved) / (then - now + 1e-6 * prediction * prediction);
      if (worth > most) most = worth, best = i;
    }
    if (best == paired_.size()) return;
    if (paired_[best]) {
      paired_[best] = false;
    } else {
      move(best, false);
    }
  }
}

}  // namespace mrvlc::driver

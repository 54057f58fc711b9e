// Which roundings are avoided, and how; what that is predicted to come to, and to cost.
#pragma once
#include "explore/trials.h"

namespace mrvlc::driver {

// An error that is infinite, to be added and compared; room without an end.
inline constexpr double kUnbounded = 1e100;

class Plan {
 public:
  // `plain`: the error without a step. Roundings that go together make more than independent ones would.
  Plan(const ir::Graph& graph, RegionRoundings found, double plain);

  double predicted() const;
  // One more; false: there is none that would help, or that costs no more than `room` cycles of the
  // accelerator.
  bool step(bool host, double& room);
  void move_all();  // but what is held
  // Only the host is left as a way.
  void without_pairs();
  AccuracyChoice choice() const;

  // Of the layers that moved, an estimate.
  double host_cycles() const;
  // What pairs really took, by layer: costs are estimated by that from now on.
  void learn(const Trial& plain, const Trial& with);
  // Another plan, the cheapest that is known to have this prediction.
  Plan cheapest(double prediction) const;
  // The best one of pairs alone that is known to cost no more cycles.
  Plan within(double room) const;
  // Its pairs, the dearest for what it buys first.
  std::vector<size_t> pairs_by_price() const;
  // Pairs that it does not have and that are known to cost no more, those first that buy most for it.
  std::vector<size_t> further_pairs(double room) const;
  // The same plan with this pair, or without it.
  Plan with_pair(size_t i, bool paired) const;
  void take_costs(const Plan& other) { factor_ = other.factor_; }
  bool same_steps(const Plan& other) const { return paired_ == other.paired_ && on_cpu_ == other.on_cpu_; }

 private:
  double sum() const;
  double square(size_t i) const;
  bool remains(size_t i) const;
  double pair_cost(size_t i) const;
  double move_cost(size_t i) const;  // of layers that are not on the CPU yet
  bool may_move(size_t i) const;
  void move(size_t i, bool there);
  void give_back(double prediction);
  Plan without_steps() const;

  const ir::Graph* graph_;
  RegionRoundings found_;
  std::vector<bool> paired_, moved_;  // by rounding: it is a pair; all layers that make or read it are moved
  std::vector<bool> on_cpu_;          // by layer
  std::vector<double> factor_;        // by layer: what pairs cost in it, as a multiple of the estimate
  double scale_ = 1;
};

}  // namespace mrvlc::driver

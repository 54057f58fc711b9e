// How well conditioned a result is: how far it moves when each value on its way is rounded a little
// otherwise. C that sums in another order than the reference is no further off than some times that.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "mrvlc/driver/compare.h"
#include "mrvlc/ir/graph.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

// Moves floats by units in the last place of their type, up or down by lot, in place; what few digits hold
// (counts, 0.5, masks) is computed exactly by everyone and stays. Of constants those that products and
// roundings to integers take: others may be shapes and axes. For interp::Visit.
class Nudger {
 public:
  Nudger(const ir::Graph& graph, uint64_t run);
  void operator()(ir::ValueId id, Tensor& tensor);

  // By how much `moved` counts: values were moved by one unit in the first runs, by many in later ones, which
  // find roundings and comparisons nearby that fall otherwise.
  double factor() const;

 private:
  const ir::Graph& graph_;
  std::vector<bool> constants_;  // by value: to be moved
  uint64_t run_, state_;
};
inline constexpr uint64_t kNudgedRuns = 12;

// What one result has moved by in the runs so far.
class Movement {
 public:
  // `factor`: of Nudger; `limits`: beyond them a movement is a jump.
  void add(const Tensor& moved, const Tensor& still, double factor, const Limits& limits);
  const Allowance& allowance() const { return allowance_; }

 private:
  Allowance allowance_;
};

// The outputs of a graph by the interpreter, again and again, as long as somebody asks for more.
class Condition {
 public:
  // Holds what it gets by reference. `still`: what the interpreter gives for the inputs.
  Condition(const ir::Graph& graph, const std::vector<Tensor>& inputs, std::vector<Tensor> still,
            const Limits& limits);
  // One more run; false: there are no more, or they would tell nothing (of random numbers).
  bool next();
  const Allowance& allowance(size_t output) const { return movements_[output].allowance(); }
  // The first node whose result of 16 bits overflows in the interpreter, which stores each: "node 'scale'
  // (Mul)". C that keeps it in a register is right, too. Empty: none does.
  const std::string& overflow() const { return overflow_; }

 private:
  const ir::Graph& graph_;
  const std::vector<Tensor>& inputs_;
  std::vector<Tensor> still_;
  Limits limits_;
  std::vector<Movement> movements_;
  std::string overflow_;
  uint64_t run_ = 0;
};

}  // namespace mrvlc::driver

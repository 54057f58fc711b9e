// Values that leave fp16, as a probe or data show: they are kept as v * 2^-k, or as pairs, or what makes them
// moves to the CPU.
#pragma once
#include "stages/fork.h"

namespace mrvlc::driver {

// Says after each compile's probe whether that compile is the one, and what the next one is to try. Compiles
// are alike but for choice().
class Fitting {
 public:
  explicit Fitting(const CompileOptions& options) : options_(options) {}
  // Of the compile with choice(). False: another one is due.
  bool stays(const ProbedModel& m);
  // nullopt: nothing leaves fp16, or nothing helps.
  const std::optional<AccuracyChoice>& choice() const { return choice_; }

 private:
  enum class How : uint8_t { Scaled, Pairs, Cpu };
  // In this order, the smaller the better.
  struct Outcome {
    size_t lost = 0;  // values that leave fp16
    double error = 0;
  };
  // How one value is kept, for as many regions as have it.
  struct Way {
    std::optional<std::string> obstacle;
    std::set<ir::NodeId> cpu;  // of the layer that makes it, or of those that read it
    bool held = false;
  };

  std::vector<Accuracy::Beyond> lost(const ProbedModel& m) const;
  Way look(const ProbedModel& m, ir::ValueId value, const partition::Precision& precision) const;
  void find_choices(const ProbedModel& m, const std::vector<Accuracy::Beyond>& beyond);
  bool better(const Outcome& now) const;
  void fit(const ProbedModel& m, const Accuracy::Beyond& b, How how, AccuracyChoice& choice) const;

  const CompileOptions& options_;
  std::optional<AccuracyChoice> choice_, best_choice_;
  std::optional<Outcome> best_;       // of those so far
  std::vector<AccuracyChoice> left_;  // to be tried, the last one first
  bool last_ = false;
};

// What compiles from here come to with these options.
std::optional<AccuracyChoice> fitting_choice(Session& session, const Fork& fork,
                                             const CompileOptions& options);

}  // namespace mrvlc::driver

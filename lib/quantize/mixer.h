// A network some layers of which are integers, and all others floats: as much time saved as an accuracy
// allows.
#pragma once
#include "attempt.h"
#include "held_out.h"

namespace mrvlc::quantize {

class Mixer {
 public:
  // `all`: every layer in integers.
  Mixer(const Attempt& all, const Samples& samples, const Options& options)
      : all_(all), s_(samples), o_(options) {}

  // nullopt: no choice is near enough, or none saves anything. May be asked again for another error.
  Result<std::optional<Attempt>> meet(double asked);
  Attempt floats() const { return floats_; }

  // By layer of the plan of `all`.
  const std::vector<double>& errors() const { return errors_; }
  std::vector<double> saved() const;  // beside others in integers
  std::string why_float(size_t layer) const;
  const ChoiceReport& report() const { return report_; }

 private:
  using Set = std::vector<bool>;  // of layers of the plan

  Status look();
  Status look_at_times();
  void find_before();
  void find_owners();
  Result<std::vector<double>> alone(const std::vector<double>& in_floats);
  Result<std::vector<double>> measure_errors() const;
  Result<Times> times_of(const Graph& graph) const;
  std::vector<double> by_layer(const Graph& graph, const Times& times) const;
  size_t owner(const Graph& graph, const Times::Part& part) const;
  std::vector<double> multiply_accumulates() const;

  // These layers in integers, with the numbers of `all`; or, with samples, their weights rounded once more
  // for what is in front of them now.
  Result<Attempt> with(const Set& integers, const std::vector<Sample>* rounded_by) const;
  Result<Attempt> without_judgement(const Set& integers, const std::vector<Sample>* rounded_by) const;
  Result<Attempt> nearest(const Set& integers) const;
  struct Found {
    Set integers;
    Attempt attempt;
  };
  Result<std::optional<Found>> near_enough(double asked);
  Options quiet() const;
  Result<double> error_on_first(const Set& integers);
  void choose_samples();
  void learn(const Set& integers, const Attempt& mixed, const Times& times);
  double saves(size_t layer) const { return saved_[layer] + beside_[layer]; }

  const Attempt& all_;
  const Samples& s_;
  const Options& o_;
  Attempt floats_;
  std::vector<Sample> first_,
      learn_;  // that choices are measured on, and that weights are rounded by for that
  std::vector<std::vector<Tensor>> first_expected_;
  size_t runs_ = 0;                                            // measurements that the budget allows
  std::vector<double> errors_, saved_, beside_, floats_time_;  // as in Choosing
  std::vector<std::vector<size_t>> before_;
  std::vector<size_t> owners_;  // by node of the network in floats: the layer that its time is put down to
  std::map<Set, double> measured_;  // errors on the first
  std::optional<Times> floats_times_;
  ChoiceReport report_;
};

}  // namespace mrvlc::quantize

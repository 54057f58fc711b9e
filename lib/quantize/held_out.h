// Samples that scales and weights are made of, and those that what comes of it is judged by.
#pragma once
#include "observe.h"

namespace mrvlc::quantize {

struct Samples {
  std::vector<Sample> used, held;  // held: none where there are too few
  std::vector<std::vector<Tensor>> expected_used, expected_held;
  // Of those that are judged: their numbers among the samples given, or in the validation set.
  std::vector<size_t> numbers;

  // What is judged by.
  const std::vector<Sample>& judged() const { return held.empty() ? used : held; }
  const std::vector<std::vector<Tensor>>& expected_judged() const {
    return held.empty() ? expected_used : expected_held;
  }
  // Both: an accuracy that is asked for is one of every sample that there is.
  std::vector<Sample> all() const { return joined(used, held); }
  std::vector<std::vector<Tensor>> expected_all() const { return joined(expected_used, expected_held); }

 private:
  static std::vector<std::vector<Tensor>> joined(std::vector<std::vector<Tensor>> a,
                                                 const std::vector<std::vector<Tensor>>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
};

// Every fourth is held back, evenly spread; none of fewer than 8, nor with `validation`, which is held then.
Samples divided(const std::vector<Sample>& samples, const std::vector<Sample>& validation);

}  // namespace mrvlc::quantize

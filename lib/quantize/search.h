// Which layers become integers, by what they save and the error that they make: numbers alone.
#pragma once
#include <functional>
#include <vector>

#include "mrvlc/support/result.h"

namespace mrvlc::quantize {

struct Choosing {
  std::vector<double> errors;  // by layer: of the outputs with it alone in integers
  std::vector<double> saved;   // by layer, between layers in floats
  // By layer: the ones that make what it reads, and what it saves beyond `saved` where all of them are
  // integers; empty: there are none.
  std::vector<std::vector<size_t>> before;
  std::vector<double> beside;
  double floor = 0;  // the error with none in integers
  double asked = 0;
  size_t runs = 0;  // measurements at most

  double saved_by(const std::vector<bool>& integers) const;
};

// The error with these layers in integers.
using MeasureChoice = std::function<Result<double>(const std::vector<bool>& integers)>;

struct Chosen {
  std::vector<bool>
      integers;  // by layer; none: no choice that was measured is near enough, and saves anything
  double error = 0;
  size_t runs = 0;
};

// Roundings are nearly independent, so squares of errors add up: layers are taken, alone or with those in
// front of them, in the order of the square that a saving costs, as far as the prediction goes. How far
// predictions are from measurements is found by bisection; then layers that were left out are tried one by
// one, those that save most first, and in the place of one that makes a larger error and saves less.
Result<Chosen> choose_integers(const Choosing& choosing, const MeasureChoice& measure);

}  // namespace mrvlc::quantize

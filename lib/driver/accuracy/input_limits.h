// How large and how small a model's inputs may be: for which magnitudes its outputs were seen to be accurate.
// The program checks its inputs against that (chost::InputLimit) and reports what nobody tried.
#pragma once
#include <functional>

#include "model/compiled_model.h"
#include "mrvlc/calibration/draw.h"
#include "mrvlc/interp/interp.h"

namespace mrvlc::driver {

// The largest exponent of 0 ... most, as far as `runs` calls of good(exponent) can tell: all that were tried
// up to it are good, 0 is known to be.
int largest_good(int most, int runs, const std::function<bool(int)>& good);

// How small inputs may be: the last of the factors 1/10, 1/100, ... 1/10000 before the first that is not
// good, in at most `runs` calls of good(factor); 0: all are, or there was no run. `zero`: good(0), unless no
// run was left for it.
struct Smallest {
  double factor = 0;
  bool zero = true;
};
Smallest smallest_good(int runs, const std::function<bool(double)>& good);

// Of ranges that were stated, by position in graph.inputs(); a little wider, for who computes inputs.
std::vector<chost::InputLimit> stated_limits(const ir::Graph& graph,
                                             const calibration::Distributions& stated);
// Whether a program can check it: floats of 16 and 32 bits.
bool can_be_checked(const TensorType& type);

struct LimitSearch {
  // The graph with all constants, that of the probe; and what its inputs were: the magnitudes that they
  // reached, by position in graph.inputs(), and ones that are `factor` times as large.
  const ir::Graph& graph;
  std::map<size_t, double> reached;
  std::function<std::vector<std::vector<Tensor>>(double factor)> inputs;
  int runs = 0;              // with larger inputs, at most
  int small_runs = 0;        // with smaller ones
  double accuracy = 0;       // the largest error of outputs that is accurate
  bool both_at_once = true;  // float32 and the device, on two threads

  // By position in graph.inputs(). Nothing beyond the range of fp16 is tried. Errors: of the simulator.
  Result<std::vector<chost::InputLimit>> find(const CodedModel& m) const;
};

}  // namespace mrvlc::driver

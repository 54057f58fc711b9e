// How far an ideal machine gets that stores every float32 value as fp16 and computes exactly between: the
// reference interpreter with roundings. A real one fuses layers, so it rounds less often, not better.
#pragma once
#include <string>
#include <vector>

#include "mrvlc/ir/graph.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

// A machine is as near as could be asked within this many times the error of its roundings alone.
inline constexpr double kIdealFactor = 4;

// Rounds float32 values to fp16, in place: to the nearest in run 0, in others by lot to either side. What
// fp16 holds stays.
class Rounder {
 public:
  explicit Rounder(uint64_t run) : state_(run) {}
  void operator()(const ir::Graph& graph, ir::ValueId id, Tensor& tensor);

 private:
  float rounded(float v);
  bool lot();

  uint64_t state_;
};
inline constexpr uint64_t kRoundedRuns = 3;

struct Fp16Error {
  double error = 0;      // of floats, max |a-b| / (1+|b|); infinite where it leaves the range of fp16
  int64_t elements = 0;  // of all other types, that come out otherwise
  std::string overflow;  // "node 'scale' (Mul) reaches 1.2e+05"; empty: nothing that leads to the output does
};

// By output, against what float32 gives. Roundings go to the nearest, and by lot to either side: what falls
// otherwise in one of these runs counts.
Result<std::vector<Fp16Error>> fp16_errors(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                                           const std::vector<Tensor>& expected);

}  // namespace mrvlc::driver

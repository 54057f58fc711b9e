// Weights of the host's products as numbers of 16 bits (IEEE 754, binary16): half the memory, and half the
// stream of bytes that matrix-vector products are bound by. What is computed stays float32.
#pragma once
#include <string>
#include <vector>

#include "mrvlc/partition/region.h"

namespace mrvlc::chost {

// Weights of one layer or more.
struct HalfWeights {
  std::string node, op;  // the first that reads them
  int64_t elements = 0;  // none of them are counted twice
  int64_t zeros = 0;     // that were none before
  double error = 0;      // the largest by rounding, over the largest magnitude of all
  double most = 0;       // that magnitude; infinite if one is no finite number
  bool kept = false;     // as floats: beyond kMostHalf, or no number
};
inline constexpr double kMostHalf = 65504;

// Rounds, to nearest even, the constant weights that the host packs or reads as they are: of Gemm, MatMul (a
// matrix on the right), Conv and ConvTranspose in one and two dimensions that are not depthwise, of LSTM, GRU
// and RNN; not biases. `graph` and its bodies as far as the CPU computes them; all of `parts`. A constant
// that others read as well stays as it is for these. In order of program.
std::vector<HalfWeights> round_weights(ir::Graph& graph, const partition::Partition& placed,
                                       std::vector<ir::Graph>& parts);

}  // namespace mrvlc::chost

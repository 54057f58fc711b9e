// 3x3 convolutions of stride 1 by Winograd's algorithm (kernels/winograd.c, decision 0043).
#pragma once
#include <optional>
#include <span>

#include "conv/plan.h"
#include "function.h"

namespace mrvlc::chost {

// How a convolution is computed in tiles of n x n results.
struct Winograd {
  int64_t n = 4;
  double error = 0;            // estimated, see winograd_error()
  std::vector<float> weights;  // transformed, as K_winograd_shape has them
};

// The weights' transforms G w G', [m][channels][(n + 2)^2].
std::vector<double> transform_weights(int64_t n, std::span<const float> weights);

// The largest of any output channel: the error's standard deviation, over a tile, over that of the result,
// when inputs are independent and of one magnitude and roundings independent (docs/accuracy.md).
double winograd_error(int64_t n, int64_t channels, std::span<const double> transformed,
                      std::span<const float> weights);

// Whether what the algorithm is expected to save in the whole program is worth its text and scratch memory.
bool winograd_pays(Program& program);

// Whether a convolution is computed so if its errors and the room for weights allow.
bool expects_winograd(Program& program, const ConvPlan& plan, const Window2& w);

// Nothing where another kernel is expected to be faster, the error would be too large, the algorithm does not
// pay in this program, or the options ask for sums as they are defined. `weights`: [m][channels][3][3].
std::optional<Winograd> choose_winograd(Program& program, const ConvPlan& plan, const Window2& w,
                                        std::span<const float> weights);

// `cut`: what Function::cut() said.
void emit_winograd(Function& f, const ConvPlan& plan, const Window2& w, const Epilogue& e,
                   const Winograd& choice, bool cut);

}  // namespace mrvlc::chost

// 3x3 convolutions of stride 1 by Winograd's algorithm (kernels/winograd.c, decision 0043).
#pragma once
#include <span>

#include "conv/plan.h"
#include "function.h"

namespace mrvlc::chost {

// How a convolution is computed in tiles of n x n results.
struct Winograd {
  int64_t n = 4;
  double error = 0;                 // estimated, see winograd_error()
  std::vector<double> transformed;  // weights, see transform_weights()
};

// The weights' transforms G w G', [m][channels][(n + 2)^2].
std::vector<double> transform_weights(int64_t n, std::span<const float> weights);

// The largest of any output channel: the error's standard deviation, over a tile, over that of the result,
// when inputs are independent and of one magnitude and roundings independent (docs/accuracy.md).
double winograd_error(int64_t n, int64_t channels, std::span<const double> transformed,
                      std::span<const float> weights);
// The most of it that is exact enough.
inline constexpr double kMostWinogradError = 0x1p-18;

// Whether the algorithm computes such convolutions, with weights that its transforms neither make overflow
// nor spread over others, as what is no number would be.
bool suits_winograd(const ConvSizes& sizes, std::span<const float> weights);
// `weights`: [m][channels][3][3].
Winograd make_winograd(const ConvSizes& sizes, int64_t n, std::span<const float> weights);

// Whether the options do. Its weights are no numbers of 16 bits, and take several times the memory of those
// that they replace.
bool allows_winograd(const Options& options);
// Whether what the algorithm is expected to save in the whole program is worth its text and scratch memory.
bool winograd_pays(Program& program);
// Whether a convolution is expected to be computed so if its errors and the room for weights allow.
bool expects_winograd(Program& program, const ConvSizes& sizes);
// What transformed weights may take of a program's memory beyond the weights themselves, as far as it is not
// taken: layers have it in order of work.
int64_t& winograd_room(Program& program);
// Tiles of a block.
int64_t winograd_tiles_at_once(const ConvSizes& sizes, int64_t n, Blocks blocks);

// `cut`: what Function::cut() said.
void emit_winograd(Function& f, const ConvPlan& plan, const ConvSizes& sizes, const Epilogue& e,
                   const Winograd& choice, Blocks blocks, bool cut);

}  // namespace mrvlc::chost

// How a layer is cut: tiles of accumulators, and chunks of what is summed.
#pragma once
#include <cstdint>
#include <vector>

#include "layer.h"
#include "machine.h"

namespace vta {

// Of a term: planes of 16 input channels and rows of the kernel that are on chip at a time.
struct Chunk {
  uint32_t planes = 1, kernel_rows = 1;
};

struct Tiling {
  uint32_t blocks = 1, rows = 1, cols = 1;  // of the result, blocks of 16 channels
  std::vector<Chunk> chunks;                // of each term
  uint32_t scratch = 0;                     // accumulators that rounding needs beside the tile
  bool weights_stay = false;                // the outer loop is over blocks of outputs, not over pixels
  double cycles = 0, instructions = 0;      // estimates
  uint32_t pixels() const { return rows * cols; }
  uint32_t sums() const { return blocks * pixels(); }
};

// The planes of 16 input channels that a block of outputs is computed from.
struct Planes {
  uint32_t first = 0, count = 0;
};
Planes planes_of(const Term& term, uint32_t block);
uint32_t most_planes(const Term& term);

uint32_t bias_steps(const Layer& layer);

// Rows of the input, within it, under rows [begin, end) of the result for rows [k0, k1) of the kernel. No
// rows: end is 0.
struct Span {
  uint32_t begin = 0, end = 0;
  uint32_t size() const { return end - begin; }
};
Span input_rows(const Term& term, uint32_t begin, uint32_t end, uint32_t k0, uint32_t k1);
Span input_cols(const Term& term, uint32_t begin, uint32_t end, uint32_t k0, uint32_t k1);
// The rows of [begin, end) of the result whose input for row k of the kernel exists.
Span valid_rows(const Term& term, uint32_t begin, uint32_t end, uint32_t k);
Span valid_cols(const Term& term, uint32_t begin, uint32_t end, uint32_t k);

// The fastest that fits. Throws Refusal where none does.
Tiling choose_tiling(const Layer& layer, const Board& board);

}  // namespace vta

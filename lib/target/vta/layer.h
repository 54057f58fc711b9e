// Layers of a region as sums of products with their requantisation: what the planner and the code generator
// take.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "mrvl/plugin.h"

namespace vta {

// A value of int8 as [n][blocks of 16 channels][h][w][16]. `last`: channels are the last dimension of the
// port, and all in front of them is w.
struct Tensor {
  uint32_t value = 0;  // index in the region
  uint32_t n = 1, c = 1, h = 1, w = 1;
  bool last = false;
  uint32_t blocks() const { return (c + 15) / 16; }
  uint64_t elements() const { return uint64_t{n} * blocks() * h * w; }
};

struct Window {
  int64_t kh = 1, kw = 1, sh = 1, sw = 1, ph = 0, pw = 0, dh = 1, dw = 1;
};

// int8 [outputs][inside][kh][kw], `columns`: [inside][outputs]. Without data each output is `factor` times
// the input channel of its number, at each tap.
struct Weights {
  const int8_t* data = nullptr;
  int8_t factor = 1;
  uint32_t outputs = 0, inside = 0, group = 1;
  bool columns = false;
};

struct AluStep {
  enum Kind { kBias, kRequantize, kShiftLeft } kind = kRequantize;
  uint32_t shift = 0;
  int32_t low = -128, high = 127;
  std::vector<int32_t> sums;  // of kBias: one for each output
};

// Products that are added to the accumulators, and what is done with these then.
struct Term {
  Tensor input;
  Window window;
  Weights weights;
  std::vector<AluStep> after;
};

struct Layer {
  uint32_t index = 0,
           node = 0;    // in the region: the layer, and the node that its instructions are said to be of
  bool maxima = false;  // the maximum of each window of terms[0] instead of sums
  std::vector<Term> terms;
  Tensor output;
};

struct Refusal {
  std::string condition, actual, limit, reason;
};

// Throws Refusal.
Layer read_layer(const mrvl_plugin_region& region, uint32_t index);

}  // namespace vta

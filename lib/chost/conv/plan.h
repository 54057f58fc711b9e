// What the kernels of convolutions share: windows of two dimensions, taps, and rows of weights in panels.
#pragma once
#include <string>
#include <vector>

#include "mrvlc/ops/params.h"

namespace mrvlc::chost {

// Parameters as two spatial dimensions; a 1-D window gets a height of 1.
struct Window2 {
  int64_t in[2], kernel[2], stride[2], dilation[2], pad[2], out[2];
};
Window2 window2(const ops::WindowParams& p);
// The same bytes, with one column as one row: rows are what kernels do at once.
Window2 wide_window(const ops::WindowParams& p);

// Panels of 6 and 4 rows that cover m rows with the least waste, then the fewest panels.
struct Panels {
  int64_t six = 0, four = 0;
  int64_t rows() const { return 6 * six + 4 * four; }
};
Panels choose_panels(int64_t m);

// One tap: input row = output row * stride + dy, input column = output column * stride + dx.
struct Tap {
  int64_t dy = 0, dx = 0, kernel_index = -1;  // -1: a tap of zeros that reads nothing
};

// What a K_conv_shape is made from.
struct ConvPlan {
  std::string batch;  // C text
  int64_t groups = 1, channels = 1, m = 1;
  int64_t in[2] = {1, 1}, out[2] = {1, 1}, stride[2] = {1, 1};
  std::vector<Tap> taps;
  bool direct = false;
};
// integer/conv.cpp: whether the kernels for bytes take a product whose shapes are known.
bool fits_integer_conv(const ir::Graph& graph, const ir::Node& node);
bool fits_integer_matrix(const ir::Graph& graph, const ir::Node& node);

ConvPlan conv_plan(const std::string& batch, const ops::ConvParams& p, const Window2& w);

}  // namespace mrvlc::chost

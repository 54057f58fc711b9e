// What the kernels of convolutions share: windows of two dimensions, taps, and rows of weights in panels.
#pragma once
#include <string>
#include <vector>

#include "mrvlc/partition/host_conv.h"

namespace mrvlc::chost {

using partition::choose_panels;
using partition::ConvSizes;
using partition::Panels;
using partition::wide_window;
using partition::Window2;
using partition::window2;

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

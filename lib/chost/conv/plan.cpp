#include "conv/plan.h"

#include <utility>

#include "mrvlc/support/checked.h"

namespace mrvlc::chost {

Window2 window2(const ops::WindowParams& p) {
  Window2 w{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {1, 1}};
  size_t lead = 2 - p.input.size();
  for (size_t i = 0; i < p.input.size(); ++i) {
    w.in[lead + i] = p.input[i];
    w.kernel[lead + i] = p.kernel[i];
    w.stride[lead + i] = p.strides[i];
    w.dilation[lead + i] = p.dilations[i];
    w.pad[lead + i] = p.pads_begin[i];
    w.out[lead + i] = p.output[i];
  }
  return w;
}

Window2 wide_window(const ops::WindowParams& p) {
  Window2 w = window2(p);
  if (w.in[1] != 1 || w.kernel[1] != 1 || w.out[1] != 1 || w.pad[1] != 0) return w;
  for (auto* sizes : {w.in, w.kernel, w.stride, w.dilation, w.pad, w.out}) std::swap(sizes[0], sizes[1]);
  return w;
}

Panels choose_panels(int64_t m) {
  Panels best{ceil_div(m, 6), 0};
  for (int64_t four = 1; four <= 5; ++four) {
    Panels p{m > 4 * four ? ceil_div(m - 4 * four, 6) : 0, four};
    if (p.rows() < best.rows()) best = p;
  }
  return best;
}

ConvPlan conv_plan(const std::string& batch, const ops::ConvParams& p, const Window2& w) {
  ConvPlan plan;
  plan.batch = batch;
  plan.groups = p.group;
  plan.channels = p.in_channels / p.group;
  plan.m = p.out_channels / p.group;
  for (size_t d = 0; d < 2; ++d) {
    plan.in[d] = w.in[d];
    plan.out[d] = w.out[d];
    plan.stride[d] = w.stride[d];
  }
  for (int64_t r = 0; r < w.kernel[0]; ++r) {
    for (int64_t s = 0; s < w.kernel[1]; ++s) {
      plan.taps.push_back({r * w.dilation[0] - w.pad[0], s * w.dilation[1] - w.pad[1], r * w.kernel[1] + s});
    }
  }
  plan.direct = plan.taps.size() == 1 && w.stride[0] == 1 && w.stride[1] == 1 && w.pad[0] == 0 &&
                w.pad[1] == 0 && w.in[0] == w.out[0] && w.in[1] == w.out[1];
  return plan;
}

}  // namespace mrvlc::chost

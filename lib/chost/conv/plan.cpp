// Taps of a window as offsets from its output; whether the image can be read as it lies (1x1, unpadded).
#include "conv/plan.h"

namespace mrvlc::chost {

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

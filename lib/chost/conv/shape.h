// K_conv's shape, taps and panels of weights in C.
#pragma once
#include "conv/blocks.h"
#include "conv/variants.h"
#include "function.h"

namespace mrvlc::chost {

// weight(group, row in group, channel, kernel index); panel[k][rows], k = channel * taps + tap.
template <class Weight>
std::vector<float> pack_panels(const ConvPlan& plan, Weight weight) {
  Panels panels = choose_panels(plan.m);
  std::vector<float> packed;
  packed.reserve(static_cast<size_t>(plan.groups * panels.rows() * plan.channels) * plan.taps.size());
  for (int64_t g = 0; g < plan.groups; ++g) {
    for (int64_t row = 0; row < panels.rows();) {
      int64_t height = row < 6 * panels.six ? 6 : 4;
      for (int64_t c = 0; c < plan.channels; ++c) {
        for (const Tap& tap : plan.taps) {
          for (int64_t r = row; r < row + height; ++r) {
            packed.push_back(r < plan.m && tap.kernel_index >= 0 ? weight(g, r, c, tap.kernel_index) : 0.0f);
          }
        }
      }
      row += height;
    }
  }
  return packed;
}

// Of panels of 16 bits, which are unpacked to scratch memory.
int64_t unpacked_bytes(Function& f, const ConvPlan& plan, Blocks blocks);
// C text: of panels of floats a null pointer.
std::string unpacked_scratch(Function& f, bool halves, int64_t bytes);
// Whether kernels of the program unpack panels, and their shapes have members for it.
bool unpacks_panels(Function& f);
// Declares the table of taps, and `p` of type K_conv_shape.
void declare_shape(Function& f, const ConvPlan& plan, Variant variant, std::string_view unpacked);

}  // namespace mrvlc::chost

// Windows and sums of whole layers.
#pragma once
#include "reference.h"

namespace mrvlc::prove {

struct ConvShape {
  int64_t batch = 1, in = 1, out = 1, groups = 1;
  Window w;
};

// Of Conv and the like: images of one or two dimensions, pads written out. Throws NotProved.
ConvShape conv_shape(const Node& n, const Shape& x, const Shape& w, const Shape& y);
// Sums of all images: (image, channel, pixel), as ONNX has them; weights in the order of ONNX.
std::vector<uint64_t> conv_sums(const Values& v, const Symbols& x, const ConvShape& c,
                                std::span<const uint64_t> w,
                                const std::function<uint64_t(uint64_t)>& of_input, bool ordered,
                                SumsMemo* memo = nullptr);
// Matrix products over the last two dimensions.
std::vector<Val> product_sums(const Values& v, const Symbols& a, const Symbols& b, const Shape& y,
                              bool ordered);

}  // namespace mrvlc::prove

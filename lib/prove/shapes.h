// Windows and sums of whole layers.
#pragma once
#include "reference.h"

namespace mrvlc::prove {

struct ConvShape {
  int64_t batch = 1, in = 1, out = 1, groups = 1;
  Window w;
};

inline int64_t at_or(const std::vector<int64_t>& v, size_t i, int64_t otherwise) {
  return i < v.size() ? v[i] : otherwise;
}

// Pads before the first row, column: as given, or by auto_pad. Throws NotProved.
std::vector<int64_t> pads_at_begin(const Node& n, const Shape& x, const Shape& kernel);
// Throws NotProved: images of other than one or two dimensions.
void check_conv_rank(const Shape& x, const Shape& w, const Shape& y);
// Sizes, strides and dilations of a node whose window begins at `first` (rows, columns).
ConvShape window_shape(const Node& n, const Shape& x, const Shape& w, const Shape& y,
                       const std::vector<int64_t>& first);
// Of Conv and the like: images of one or two dimensions. Throws NotProved.
ConvShape conv_shape(const Node& n, const Shape& x, const Shape& w, const Shape& y);
// Of ConvTranspose; its weights are (input channel, output channel of the group, taps). Throws NotProved.
ConvShape transposed_shape(const Node& n, const Shape& x, const Shape& w, const Shape& y);
// Taps with falling index: in the order of the position that they read.
std::vector<uint64_t> transposed_sums(const Values& v, const Symbols& x, const ConvShape& c,
                                      std::span<const uint64_t> w, bool ordered);
// A matrix, rows for columns. Throws NotProved.
Symbols transposed_matrix(const Symbols& s);
// Sums of all images: (image, channel, pixel), as ONNX has them; weights in the order of ONNX. Ordered ones
// are symbols.
std::vector<uint64_t> conv_sums(const Values& v, const Symbols& x, const ConvShape& c,
                                std::span<const uint64_t> w,
                                const std::function<uint64_t(uint64_t)>& of_input, bool ordered);
// In no order, for claim B; sums that are known already, but for a factor of each channel, are not made
// again.
std::vector<uint64_t> exact_sums(const Values& v, const Symbols& x, const ConvShape& c,
                                 std::vector<uint64_t> w, SumsMemo* memo);
// Matrix products over the last two dimensions.
std::vector<Val> product_sums(const Values& v, const Symbols& a, const Symbols& b, const Shape& y,
                              bool ordered);

}  // namespace mrvlc::prove

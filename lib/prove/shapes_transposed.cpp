// ConvTranspose: outputs of one residue of the position modulo the stride are an ordinary convolution.
#include <algorithm>
#include <numeric>

#include "shapes.h"

namespace mrvlc::prove {
namespace {

// Taps that reach the outputs first, first + stride, ...
struct Phase {
  int64_t first = 0, origin = 0, count = 0;
  std::vector<int64_t> taps;
};

// `pad` is what ONNX takes off at the begin.
std::vector<Phase> phases_of(int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad) {
  std::vector<Phase> all;
  for (int64_t first = 0; first < std::min(stride, out); ++first) {
    Phase p{first, 0, (out - first + stride - 1) / stride, {}};
    for (int64_t k = kernel; k-- > 0;)
      if ((first + pad - k * dilation) % stride == 0) p.taps.push_back(k);
    if (!p.taps.empty()) p.origin = (first + pad - p.taps[0] * dilation) / stride;
    all.push_back(std::move(p));
  }
  return all;
}

// Pads at the begin: as given, or from the shape that is asked for.
std::vector<int64_t> transposed_pads(const Node& n, const Shape& x, const Shape& w, const Shape& y) {
  const size_t d = x.size() - 2;
  std::vector<int64_t> pads = n.integers("pads");
  pads.resize(2 * d, 0);
  const std::string mode = n.text("auto_pad", "NOTSET");
  if (n.integers("output_shape").empty() && (mode == "NOTSET" || mode == "VALID")) {
    if (mode == "VALID") std::fill(pads.begin(), pads.end(), 0);
    pads.resize(d);
    return pads;
  }
  const auto strides = n.integers("strides"), dilations = n.integers("dilations"),
             more = n.integers("output_padding");
  std::vector<int64_t> begin;
  for (size_t i = 0; i < d; ++i) {
    const int64_t all = at_or(strides, i, 1) * (x[i + 2] - 1) + at_or(more, i, 0) +
                        (w[i + 2] - 1) * at_or(dilations, i, 1) + 1 - y[i + 2];
    const int64_t whole = std::max<int64_t>(0, all);
    begin.push_back(mode == "SAME_UPPER" ? whole / 2 : whole - whole / 2);
  }
  return begin;
}

}  // namespace

ConvShape transposed_shape(const Node& n, const Shape& x, const Shape& w, const Shape& y) {
  check_conv_rank(x, w, y);
  ConvShape c = window_shape(n, x, w, y, transposed_pads(n, x, w, y));
  if (c.groups < 1 || c.in % c.groups != 0 || c.out % c.groups != 0 || w[0] != c.in ||
      w[1] != c.out / c.groups || c.w.stride_h < 1 || c.w.stride_w < 1)
    throw NotProved{"a convolution whose shapes do not agree"};
  return c;
}

std::vector<uint64_t> transposed_sums(const Values& v, const Symbols& x, const ConvShape& c,
                                      std::span<const uint64_t> w, bool ordered) {
  const int64_t ic = c.in / c.groups, oc = c.out / c.groups, taps = c.w.kernel_h * c.w.kernel_w;
  std::vector<uint64_t> out(static_cast<size_t>(c.batch * c.out * c.w.out_h * c.w.out_w), 0);
  const auto rows = phases_of(c.w.out_h, c.w.kernel_h, c.w.stride_h, c.w.dilation_h, c.w.y0),
             columns = phases_of(c.w.out_w, c.w.kernel_w, c.w.stride_w, c.w.dilation_w, c.w.x0);
  for (const Phase& h : rows)
    for (const Phase& q : columns) {
      if (h.taps.empty() || q.taps.empty()) continue;
      ConvShape part = c;
      part.w.kernel_h = static_cast<int64_t>(h.taps.size());
      part.w.kernel_w = static_cast<int64_t>(q.taps.size());
      part.w.dilation_h = c.w.dilation_h / std::gcd(c.w.stride_h, c.w.dilation_h);
      part.w.dilation_w = c.w.dilation_w / std::gcd(c.w.stride_w, c.w.dilation_w);
      part.w.stride_h = part.w.stride_w = 1;
      part.w.y0 = h.origin;
      part.w.x0 = q.origin;
      part.w.out_h = h.count;
      part.w.out_w = q.count;
      // As weights of an ordinary convolution: (output channel, input channel of the group, tap).
      std::vector<uint64_t> weights;
      for (int64_t g = 0; g < c.groups; ++g)
        for (int64_t o = 0; o < oc; ++o)
          for (int64_t i = 0; i < ic; ++i)
            for (int64_t r : h.taps)
              for (int64_t s : q.taps)
                weights.push_back(
                    w[static_cast<size_t>(((g * ic + i) * oc + o) * taps + r * c.w.kernel_w + s)]);
      const std::vector<uint64_t> sums = conv_sums(v, x, part, weights, {}, ordered);
      const int64_t pixels = h.count * q.count;
      for (int64_t plane = 0; plane < c.batch * c.out; ++plane)
        for (int64_t p = 0; p < pixels; ++p) {
          const int64_t oy = h.first + p / q.count * c.w.stride_h, ox = q.first + p % q.count * c.w.stride_w;
          out[static_cast<size_t>((plane * c.w.out_h + oy) * c.w.out_w + ox)] =
              sums[static_cast<size_t>(plane * pixels + p)];
        }
    }
  return out;
}

Symbols transposed_matrix(const Symbols& s) {
  if (s.shape.size() != 2) throw NotProved{"a Gemm of other than matrices"};
  Symbols t{{s.shape[1], s.shape[0]}, {}};
  for (int64_t i = 0; i < s.shape[1]; ++i)
    for (int64_t k = 0; k < s.shape[0]; ++k) t.v.push_back(s.v[static_cast<size_t>(k * s.shape[1] + i)]);
  return t;
}

}  // namespace mrvlc::prove

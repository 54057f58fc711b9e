// Windows and sums of whole layers.
#include "shapes.h"

#include <algorithm>
#include <array>

namespace mrvlc::prove {
namespace {

// The image `b`, channels of group g, as (row, column, channel).
std::vector<uint64_t> image(const Values& v, const Symbols& x, const ConvShape& c, int64_t b, int64_t first,
                            int64_t count) {
  const int64_t pixels = c.w.in_h * c.w.in_w;
  std::vector<uint64_t> out(static_cast<size_t>(pixels * count));
  for (int64_t k = 0; k < count; ++k)
    for (int64_t p = 0; p < pixels; ++p)
      out[static_cast<size_t>(p * count + k)] =
          v.element(x.v[static_cast<size_t>((b * c.in + first + k) * pixels + p)]);
  return out;
}

}  // namespace

std::vector<int64_t> pads_at_begin(const Node& n, const Shape& x, const Shape& kernel) {
  const size_t d = x.size() - 2;
  const std::string mode = n.text("auto_pad", "NOTSET");
  std::vector<int64_t> pads = n.integers("pads");
  if (mode != "NOTSET") pads.clear();
  pads.resize(d, 0);
  if (mode == "NOTSET" || mode == "VALID") return pads;
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER") throw NotProved{"pads as " + mode};
  const auto strides = n.integers("strides"), dilations = n.integers("dilations");
  for (size_t i = 0; i < d; ++i) {
    const int64_t stride = at_or(strides, i, 1), in = x[i + 2], out = (in + stride - 1) / stride;
    const int64_t all = (out - 1) * stride + at_or(dilations, i, 1) * (kernel.at(i) - 1) + 1 - in;
    const int64_t whole = std::max<int64_t>(0, all);
    pads[i] = mode == "SAME_UPPER" ? whole / 2 : whole - whole / 2;
  }
  return pads;
}

void check_conv_rank(const Shape& x, const Shape& w, const Shape& y) {
  const size_t rank = x.size();
  if (rank < 3 || rank > 4 || w.size() != rank || y.size() != rank)
    throw NotProved{"a convolution of other than one or two dimensions"};
}

ConvShape window_shape(const Node& n, const Shape& x, const Shape& w, const Shape& y,
                       const std::vector<int64_t>& first) {
  const size_t rank = x.size();
  const size_t d = rank - 3;  // of the columns among the spatial dimensions
  const auto strides = n.integers("strides"), dilations = n.integers("dilations");
  ConvShape c;
  c.batch = x[0];
  c.in = x[1];
  c.out = y[1];
  c.groups = n.integer("group", 1);
  c.w.in_w = x[rank - 1];
  c.w.kernel_w = w[rank - 1];
  c.w.out_w = y[rank - 1];
  c.w.stride_w = at_or(strides, d, 1);
  c.w.dilation_w = at_or(dilations, d, 1);
  c.w.x0 = at_or(first, d, 0);
  if (rank == 4) {
    c.w.in_h = x[2];
    c.w.kernel_h = w[2];
    c.w.out_h = y[2];
    c.w.stride_h = at_or(strides, 0, 1);
    c.w.dilation_h = at_or(dilations, 0, 1);
    c.w.y0 = at_or(first, 0, 0);
  }
  return c;
}

ConvShape conv_shape(const Node& n, const Shape& x, const Shape& w, const Shape& y) {
  check_conv_rank(x, w, y);
  std::vector<int64_t> first = pads_at_begin(n, x, Shape(w.begin() + 2, w.end()));
  for (int64_t& at : first) at = -at;
  ConvShape c = window_shape(n, x, w, y, first);
  if (c.groups < 1 || c.in % c.groups != 0 || c.out % c.groups != 0 || w[0] != c.out ||
      w[1] != c.in / c.groups)
    throw NotProved{"a convolution whose shapes do not agree"};
  return c;
}

namespace {

// The factor of each output channel: weights that differ by it alone have the same sums but for it.
std::vector<uint64_t> channel_factors(const Field& f, const ConvShape& c, std::vector<uint64_t>& w) {
  std::vector<uint64_t> factors(static_cast<size_t>(c.out), 1);
  const size_t each = w.size() / factors.size();
  for (size_t k = 0; k < factors.size(); ++k) {
    const auto own = std::span(w).subspan(k * each, each);
    const auto first = std::find_if(own.begin(), own.end(), [](uint64_t e) { return e != 0; });
    if (first == own.end() || *first == 1) continue;
    factors[k] = *first;
    const uint64_t inverse = f.inverse(*first);
    for (uint64_t& e : own) e = f.mul(e, inverse);
  }
  return factors;
}

// Two hashes of a list: of each part a random combination.
class Fingerprint {
 public:
  explicit Fingerprint(const Field& f) : f_(f) {
    for (size_t i = 0; i < 2 * kPart; ++i) random_[i] = f.hash(8, i);
  }
  void add(const Values& v, std::span<const uint64_t> list) {
    mix(list.size(), list.size());
    for (size_t begin = 0; begin < list.size(); begin += kPart) {
      Wide first = 0, second = 0;
      for (size_t i = begin; i < std::min(begin + kPart, list.size()); ++i) {
        const uint64_t e = v.element(list[i]);
        first += static_cast<Wide>(e) * random_[i - begin];
        second += static_cast<Wide>(e) * random_[kPart + i - begin];
      }
      mix(f_.reduce(first), f_.reduce(second));
    }
  }
  std::pair<uint64_t, uint64_t> value() const { return {first_, second_}; }

 private:
  static constexpr size_t kPart = 62;
  void mix(uint64_t a, uint64_t b) {
    first_ = f_.hash(9, first_, a);
    second_ = f_.hash(10, second_, b);
  }

  const Field& f_;
  std::array<uint64_t, 2 * kPart> random_{};
  uint64_t first_ = 0, second_ = 0;
};

// Of all that sums are made of.
std::pair<uint64_t, uint64_t> sums_key(const Values& v, const Symbols& x, const ConvShape& c,
                                       std::span<const uint64_t> w) {
  const Window& k = c.w;
  const int64_t numbers[] = {k.in_h,     k.in_w,     k.y0,         k.x0,         k.kernel_h, k.kernel_w,
                             k.stride_h, k.stride_w, k.dilation_h, k.dilation_w, k.out_h,    k.out_w,
                             c.batch,    c.in,       c.out,        c.groups};
  std::vector<uint64_t> shape;
  for (int64_t n : numbers) shape.push_back(static_cast<uint64_t>(n) & kElement);
  Fingerprint all(v.field());
  all.add(v, shape);
  all.add(v, x.v);
  all.add(v, w);
  return all.value();
}

// Weights of a group as (tap, input channel) by output channel; those of ONNX are (output channel, input
// channel of the group, tap).
std::vector<uint64_t> group_rows(const ConvShape& c, std::span<const uint64_t> w, int64_t g, int64_t n) {
  const int64_t taps = c.w.kernel_h * c.w.kernel_w, ic = c.in / c.groups;
  std::vector<uint64_t> rows(static_cast<size_t>(taps * ic * n));
  for (int64_t k = 0; k < n; ++k)
    for (int64_t i = 0; i < ic; ++i)
      for (int64_t t = 0; t < taps; ++t)
        rows[static_cast<size_t>((t * ic + i) * n + k)] =
            w[static_cast<size_t>(((g * n + k) * ic + i) * taps + t)];
  return rows;
}

// Of one image; `channels` of a depthwise convolution is 0.
std::vector<uint64_t> ordered_of(const Field& f, const Window& w, int64_t channels, int64_t n,
                                 std::span<const uint64_t> rows, std::span<const uint64_t> x) {
  OrderedSums sums(f, w.out_h * w.out_w, n);
  if (channels == 0)
    sums.add_depthwise(w, rows, x);
  else
    sums.add(w, channels, rows, x);
  return sums.symbols();
}

}  // namespace

// Sums of all images: (image, channel, pixel), as ONNX has them.
std::vector<uint64_t> conv_sums(const Values& v, const Symbols& x, const ConvShape& c,
                                std::span<const uint64_t> w,
                                const std::function<uint64_t(uint64_t)>& of_input, bool ordered) {
  const Field& f = v.field();
  const int64_t taps = c.w.kernel_h * c.w.kernel_w, ic = c.in / c.groups, oc = c.out / c.groups,
                pixels = c.w.out_h * c.w.out_w;
  std::vector<uint64_t> out(static_cast<size_t>(c.batch * c.out * pixels));
  const bool depthwise = ic == 1 && oc == 1;
  const int64_t parts = depthwise ? 1 : c.groups, in = depthwise ? c.in : ic, n = depthwise ? c.out : oc;
  for (int64_t g = 0; g < parts; ++g) {
    const std::vector<uint64_t> rows = group_rows(c, w, g, n);
    std::optional<Weights> plain;
    if (!depthwise && !ordered) plain.emplace(f, taps, ic, n, rows);
    for (int64_t b = 0; b < c.batch; ++b) {
      std::vector<uint64_t> pixels_in = image(v, x, c, b, g * in, in);
      if (of_input)
        for (uint64_t& e : pixels_in) e = of_input(e);
      std::vector<uint64_t> acc(ordered ? 0 : static_cast<size_t>(pixels * n), 0);
      if (ordered)
        acc = ordered_of(f, c.w, depthwise ? 0 : ic, n, rows, pixels_in);
      else if (depthwise)
        add_depthwise(f, c.w, n, rows, pixels_in, acc);
      else
        plain->add_sums(c.w, pixels_in, acc);
      for (int64_t k = 0; k < n; ++k)
        for (int64_t p = 0; p < pixels; ++p)
          out[static_cast<size_t>((b * c.out + g * n + k) * pixels + p)] =
              acc[static_cast<size_t>(p * n + k)];
    }
  }
  return out;
}

// The model and its layers mostly have the same sums, but for factors of channels.
std::vector<uint64_t> exact_sums(const Values& v, const Symbols& x, const ConvShape& c,
                                 std::vector<uint64_t> w, SumsMemo* memo) {
  if (memo == nullptr || w.empty() || c.out < 1) return conv_sums(v, x, c, w, {}, false);
  const std::vector<uint64_t> factors = channel_factors(v.field(), c, w);
  const auto key = sums_key(v, x, c, w);
  auto known = memo->find(key);
  if (known == memo->end()) known = memo->emplace(key, conv_sums(v, x, c, w, {}, false)).first;
  std::vector<uint64_t> out = known->second;
  const size_t pixels = static_cast<size_t>(c.w.out_h * c.w.out_w);
  for (size_t i = 0; i < out.size(); ++i)
    if (const uint64_t k = factors[i / pixels % factors.size()]; k != 1) out[i] = v.field().mul(out[i], k);
  return out;
}

std::vector<Val> product_sums(const Values& v, const Symbols& a, const Symbols& b, const Shape& y,
                              bool ordered) {
  const int64_t rows = a.shape[a.shape.size() - 2], k = a.shape.back(), m = b.shape.back();
  if (y.size() < 2) throw NotProved{"a product with a vector"};
  const Shape outer(y.begin(), y.end() - 2);
  const auto of = [&](const Shape& s) { return broadcast_offsets(Shape(s.begin(), s.end() - 2), outer); };
  const std::vector<size_t> from_a = of(a.shape), from_b = of(b.shape);
  const auto size = static_cast<size_t>(rows * m);
  std::vector<Val> sums(from_a.size() * size, 0);
  Window window;
  window.in_h = window.out_h = rows;
  for (size_t i = 0; i < from_a.size(); ++i) {
    std::vector<uint64_t> w(static_cast<size_t>(k * m)), in(static_cast<size_t>(rows * k));
    for (size_t j = 0; j < w.size(); ++j) w[j] = v.element(b.v[from_b[i] * w.size() + j]);
    for (size_t j = 0; j < in.size(); ++j) in[j] = v.element(a.v[from_a[i] * in.size() + j]);
    const auto to = std::span(sums).subspan(i * size, size);
    if (ordered)
      std::ranges::copy(ordered_of(v.field(), window, k, m, w, in), to.begin());
    else
      Weights(v.field(), 1, k, m, w).add_sums(window, in, to);
  }
  return sums;
}

}  // namespace mrvlc::prove

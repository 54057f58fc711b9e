#include <algorithm>
#include <cmath>

#include "builder.h"

namespace mrvlc::accel_random {

ir::ValueId Builder::add(const std::string& op, std::vector<ir::ValueId> inputs, AttrList attrs,
                         size_t outputs) {
  return net.layer("", op, std::move(inputs), std::move(attrs), outputs);
}

ir::ValueId Builder::ints(const Ints& v) {
  std::vector<double> data(v.begin(), v.end());
  return net.values({static_cast<int64_t>(v.size())}, data, ElementType::I64);
}

bool Builder::spend(int64_t work) {
  if (work > left_) return false;
  left_ -= work;
  return true;
}

ir::ValueId random_input(Builder& b, int64_t rank) {
  int64_t most = b.dice.chance(8) ? 300000 : 60000;
  Shape s;
  int64_t batch = b.dice.chance(70) ? 1 : b.dice.pick(2, 4);
  if (rank == 4) {
    int64_t c = b.dice.size(1, 130), side = b.dice.size(1, 70),
            other = b.dice.chance(60) ? side : b.dice.size(1, 70);
    s = {batch, c, side, other};
  } else if (rank == 3) {
    s = {batch, b.dice.size(1, 130), b.dice.size(1, 130)};
  } else {
    for (int64_t d = 0; d < rank; ++d) s.push_back(b.dice.size(1, rank == 5 ? 20 : rank == 1 ? 200000 : 700));
  }
  while (element_count(s) > most) {
    auto largest = std::max_element(s.begin(), s.end());
    *largest = (*largest + 1) / 2;
  }
  return b.net.input(s);
}

namespace {

struct Geometry {
  Ints kernel, strides, dilations, pads;
  AttrList attrs() const {
    return {{"kernel_shape", kernel}, {"strides", strides}, {"dilations", dilations}, {"pads", pads}};
  }
  int64_t taps() const {
    int64_t n = 1;
    for (int64_t k : kernel) n *= k;
    return n;
  }
};

// Windows that fit the padded input; `pads_below`: pads stay smaller than the kernel.
Geometry geometry(Builder& b, const Shape& x, int64_t most, bool pads_below) {
  Geometry g;
  size_t n = x.size() - 2;
  bool same = b.dice.chance(60);
  for (size_t d = 0; d < n; ++d) {
    if (same && d > 0 && x[3] == x[2]) {
      for (Ints* v : {&g.kernel, &g.strides, &g.dilations}) v->push_back(v->front());
      continue;
    }
    g.kernel.push_back(b.dice.of({int64_t{1}, int64_t{3}, int64_t{3}, b.dice.pick(1, most)}));
    g.strides.push_back(b.dice.of({int64_t{1}, int64_t{1}, int64_t{2}, b.dice.pick(1, 4)}));
    g.dilations.push_back(b.dice.chance(80) ? 1 : b.dice.pick(2, 4));
  }
  g.pads.assign(2 * n, 0);
  for (size_t d = 0; d < n; ++d) {
    int64_t reach = (g.kernel[d] - 1) * g.dilations[d];
    int64_t high = pads_below ? g.kernel[d] - 1 : reach + 1;
    bool centred = b.dice.chance(50);
    g.pads[d] = centred ? std::min(high, reach / 2) : b.dice.pick(0, high);
    g.pads[d + n] = centred ? g.pads[d] : b.dice.pick(0, high);
    if (x[d + 2] + g.pads[d] + g.pads[d + n] > reach) continue;
    g.kernel[d] = g.dilations[d] = 1;
    g.pads[d] = g.pads[d + n] = 0;
  }
  return g;
}

int64_t outputs_of(const Shape& x, const Geometry& g) {
  int64_t n = x[0];
  for (size_t d = 0; d + 2 < x.size(); ++d) {
    int64_t span = x[d + 2] + g.pads[d] + g.pads[d + x.size() - 2] - (g.kernel[d] - 1) * g.dilations[d] - 1;
    n *= span / g.strides[d] + 1;
  }
  return n;
}

double bound_for(int64_t fan_in) {
  return 1.7 / std::sqrt(static_cast<double>(fan_in));
}

ir::ValueId convolved(Builder& b, ir::ValueId x, int64_t out, int64_t group, const Geometry& g) {
  int64_t in = b.dim(x, 1) / group;
  if (!b.spend(outputs_of(b.shape(x), g) * g.taps() * in * out)) return {};
  Shape w = {out, in};
  w.insert(w.end(), g.kernel.begin(), g.kernel.end());
  double bound = bound_for(in * g.taps());
  std::vector<ir::ValueId> inputs = {x, b.constant(w, -bound, bound)};
  if (b.dice.chance(75)) inputs.push_back(b.constant({out}, -0.5, 0.5));
  AttrList attrs = g.attrs();
  attrs.emplace_back("group", group);
  return b.add("Conv", inputs, attrs);
}

std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t d = 1; d <= n; ++d)
    if (n % d == 0) out.push_back(d);
  return out;
}

}  // namespace

ir::ValueId conv(Builder& b, ir::ValueId x) {
  Geometry g = geometry(b, b.shape(x), b.shape(x).size() == 3 ? 9 : 7, false);
  int64_t group = b.dice.chance(80) ? 1 : b.dice.of(divisors(b.dim(x, 1)));
  int64_t out = group * b.dice.size(1, std::max<int64_t>(2, 200 / group));
  return convolved(b, x, out, group, g);
}

ir::ValueId conv_to(Builder& b, ir::ValueId x, int64_t channels, int64_t kernel, int64_t stride,
                    int64_t group) {
  size_t n = b.shape(x).size() - 2;
  int64_t pad = kernel / 2;
  return convolved(b, x, channels, group, {Ints(n, kernel), Ints(n, stride), Ints(n, 1), Ints(2 * n, pad)});
}

ir::ValueId depthwise(Builder& b, ir::ValueId x) {
  int64_t c = b.dim(x, 1), multiplier = b.dice.chance(80) ? 1 : b.dice.pick(2, 4);
  if (c == 1) return {};
  return convolved(b, x, c * multiplier, c, geometry(b, b.shape(x), 7, false));
}

ir::ValueId conv_transpose(Builder& b, ir::ValueId x) {
  size_t n = b.shape(x).size() - 2;
  int64_t in = b.dim(x, 1), group = b.dice.chance(75) ? 1 : b.dice.of(divisors(in));
  int64_t out = b.dice.size(1, std::max<int64_t>(2, 70 / group));
  Geometry g;
  Ints extra;
  int64_t outputs = b.dim(x, 0);
  for (size_t d = 0; d < n; ++d) {
    int64_t k = b.dice.pick(1, 5), s = b.dice.pick(1, 3),
            dilation = b.dice.chance(80) ? 1 : b.dice.pick(2, 3);
    int64_t reach = (k - 1) * dilation, size = b.dim(x, d + 2);
    int64_t more = s > 1 ? b.dice.pick(0, s - 1) : 0, whole = (size - 1) * s + reach + 1 + more;
    int64_t pad = std::min(b.dice.pick(0, reach), (whole - 1) / 2);
    g.kernel.push_back(k);
    g.strides.push_back(s);
    g.dilations.push_back(dilation);
    g.pads.push_back(pad);
    extra.push_back(more);
    outputs *= whole - 2 * pad;
  }
  g.pads.insert(g.pads.end(), g.pads.begin(), g.pads.end());
  if (outputs > 200000 || !b.spend(outputs * g.taps() * in * out)) return {};
  Shape w = {in, out};
  w.insert(w.end(), g.kernel.begin(), g.kernel.end());
  double bound = bound_for(in / group * g.taps());
  AttrList attrs = g.attrs();
  attrs.emplace_back("group", group);
  attrs.emplace_back("output_padding", extra);
  std::vector<ir::ValueId> inputs = {x, b.constant(w, -bound, bound)};
  if (b.dice.chance(75)) inputs.push_back(b.constant({out * group}, -0.5, 0.5));
  return b.add("ConvTranspose", inputs, attrs);
}

ir::ValueId pool(Builder& b, ir::ValueId x) {
  Geometry g = geometry(b, b.shape(x), 5, true);
  if (!b.spend(outputs_of(b.shape(x), g) * g.taps() * b.dim(x, 1))) return {};
  AttrList attrs = g.attrs();
  attrs.emplace_back("ceil_mode", b.dice.pick(0, 1));
  bool max = b.dice.chance(50);
  if (!max) attrs.emplace_back("count_include_pad", b.dice.pick(0, 1));
  return b.add(max ? "MaxPool" : "AveragePool", {x}, attrs);
}

ir::ValueId global_pool(Builder& b, ir::ValueId x) {
  return b.add(b.dice.chance(75) ? "GlobalAveragePool" : "GlobalMaxPool", {x});
}

ir::ValueId resize(Builder& b, ir::ValueId x) {
  bool nearest = b.dice.chance(50);
  Shape out = b.shape(x);
  std::vector<double> scales = {1, 1};
  for (size_t d = 2; d < 4; ++d) {
    double s = b.dice.of({1.0, 2.0, 2.0, 3.0, 0.5, b.dice.real(0.3, 3)});
    if (static_cast<int64_t>(static_cast<double>(out[d]) * s) < 1) s = 1;
    scales.push_back(s);
    out[d] = static_cast<int64_t>(static_cast<double>(out[d]) * s) + 1;
  }
  if (element_count(out) > 150000 || !b.spend(4 * element_count(out))) return {};
  AttrList attrs = {{"mode", std::string(nearest ? "nearest" : "linear")}};
  attrs.emplace_back("coordinate_transformation_mode",
                     b.dice.of({std::string("half_pixel"), std::string("align_corners"),
                                std::string("asymmetric"), std::string("pytorch_half_pixel")}));
  if (nearest)
    attrs.emplace_back("nearest_mode",
                       b.dice.of({std::string("floor"), std::string("ceil"),
                                  std::string("round_prefer_floor"), std::string("round_prefer_ceil")}));
  return b.add("Resize", {x, {}, b.net.values({4}, scales)}, attrs);
}

ir::ValueId depth_space(Builder& b, ir::ValueId x) {
  const Shape& s = b.shape(x);
  Ints fits;
  bool to_space = b.dice.chance(50);
  for (int64_t block : {int64_t{2}, int64_t{3}, int64_t{4}})
    if (to_space ? s[1] % (block * block) == 0 : s[2] % block == 0 && s[3] % block == 0)
      fits.push_back(block);
  if (fits.empty()) return {};
  AttrList attrs = {{"blocksize", b.dice.of(fits)}};
  if (to_space) attrs.emplace_back("mode", b.dice.of({std::string("DCR"), std::string("CRD")}));
  return b.add(to_space ? "DepthToSpace" : "SpaceToDepth", {x}, attrs);
}

}  // namespace mrvlc::accel_random

// Resize: positions as exact fractions, then copies or lines between neighbours.
#include <algorithm>

#include "reference.h"

namespace mrvlc::prove {
namespace {

// The denominator is above 0.
struct Fraction {
  int64_t num = 0, den = 1;
  int64_t floor() const { return num >= 0 ? num / den : -((-num + den - 1) / den); }
  int64_t ceil() const { return -Fraction{-num, den}.floor(); }
};

struct Axis {
  int64_t in = 1, out = 1;
};

// Input position of output `o`, by the formulas of ONNX with a scale of out / in.
Fraction position(const std::string& mode, const Axis& a, int64_t o) {
  if (a.in == a.out) return {o, 1};
  if (mode == "asymmetric") return {o * a.in, a.out};
  if (mode == "tf_half_pixel_for_nn") return {(2 * o + 1) * a.in, 2 * a.out};
  if (mode == "align_corners") return a.out == 1 ? Fraction{} : Fraction{o * (a.in - 1), a.out - 1};
  if (mode == "pytorch_half_pixel" && a.out == 1) return {};
  if (mode == "half_pixel" || mode == "pytorch_half_pixel" || mode == "half_pixel_symmetric")
    return {(2 * o + 1) * a.in - a.out, 2 * a.out};
  throw NotProved{"Resize with " + mode + " has no reference yet"};
}

int64_t nearest(const std::string& mode, const Axis& a, const Fraction& x) {
  const auto at = [&](int64_t i) { return std::clamp<int64_t>(i, 0, a.in - 1); };
  if (mode == "round_prefer_floor") return at(Fraction{2 * x.num - x.den, 2 * x.den}.ceil());
  if (mode == "round_prefer_ceil") return at(Fraction{2 * x.num + x.den, 2 * x.den}.floor());
  if (mode == "floor") return at(x.floor());
  if (mode == "ceil") return at(x.ceil());
  throw NotProved{"Resize with " + mode + " has no reference yet"};
}

// Where the scale that is given is that of the sizes, rounded to fp32.
void check_scale(float scale, const Axis& a) {
  if (scale != static_cast<float>(static_cast<double>(a.out) / static_cast<double>(a.in)))
    throw NotProved{"Resize with a scale that is no ratio of its sizes has no reference yet"};
}

std::vector<size_t> resized_axes(const Node& n, size_t rank) {
  std::vector<size_t> out;
  for (int64_t a : n.integers("axes"))
    out.push_back(static_cast<size_t>(a < 0 ? a + static_cast<int64_t>(rank) : a));
  if (out.empty())
    for (size_t d = 0; d < rank; ++d) out.push_back(d);
  return out;
}

}  // namespace

// One dimension: `low`, `high` and the weight of the latter for each output.
Symbols Reference::along(const Symbols& x, size_t d, const std::vector<Tap>& taps) {
  Symbols s{x.shape, {}};
  s.shape[d] = static_cast<int64_t>(taps.size());
  s.v.resize(static_cast<size_t>(element_count(s.shape)));
  size_t inner = 1;
  for (size_t k = d + 1; k < x.shape.size(); ++k) inner *= static_cast<size_t>(x.shape[k]);
  const auto size = static_cast<size_t>(x.shape[d]);
  for (size_t i = 0; i < s.v.size(); ++i) {
    const size_t o = i / inner % taps.size(), slab = i / inner / taps.size() * size;
    const Tap& t = taps[o];
    const Val low = x.v.at((slab + static_cast<size_t>(t.low)) * inner + i % inner);
    const Val high = x.v.at((slab + static_cast<size_t>(t.high)) * inner + i % inner);
    s.v[i] = t.weight == 0 || t.low == t.high
                 ? low
                 : v_.fma(number(1 - t.weight), low, v_.mul(number(t.weight), high));
  }
  return s;
}

Symbols Reference::resized(const Node& n) {
  Symbols s = get(n.inputs.at(0));
  const Shape in = s.shape, &out = n.outputs.at(0).shape;
  const bool upsample = n.op == "Upsample";
  const std::string mode = n.text("mode", "nearest"),
                    coordinates =
                        upsample ? "asymmetric" : n.text("coordinate_transformation_mode", "half_pixel"),
                    rounding = upsample ? "floor" : n.text("nearest_mode", "round_prefer_floor");
  const bool linear = mode == "linear" || mode == "bilinear";
  if ((!linear && mode != "nearest") || in.size() != out.size() || n.integer("antialias", 0) != 0 ||
      n.text("keep_aspect_ratio_policy", "stretch") != "stretch" ||
      (n.integer("exclude_outside", 0) != 0 && linear))
    throw NotProved{"Resize with mode " + mode + " and these attributes has no reference yet"};
  const size_t given = upsample ? 1 : 2;
  std::vector<float> scales;
  if (n.inputs.size() > given && !n.inputs[given].empty()) scales = c_.numbers(n.inputs[given]);
  const std::vector<size_t> axes = resized_axes(n, in.size());
  for (size_t k = 0; k < axes.size() && !scales.empty(); ++k)
    check_scale(scales.at(k), {in.at(axes[k]), out.at(axes[k])});
  for (size_t d = 0; d < in.size(); ++d) {
    const Axis a{in[d], out[d]};
    if (a.in < 1 || a.in > (1 << 24) || a.out > (1 << 24)) throw NotProved{"Resize of nothing, or too much"};
    std::vector<Tap> taps;
    for (int64_t o = 0; o < a.out && a.in != a.out; ++o) {
      const Fraction x = position(coordinates, a, o);
      const int64_t low = linear ? x.floor() : nearest(rounding, a, x);
      const auto at = [&](int64_t i) { return std::clamp<int64_t>(i, 0, a.in - 1); };
      const double part = linear ? static_cast<double>(x.num - low * x.den) / static_cast<double>(x.den) : 0;
      // As the difference of two doubles.
      const auto weight = static_cast<float>(static_cast<double>(low) + part - static_cast<double>(low));
      taps.push_back({at(low), at(low + (linear ? 1 : 0)), weight});
    }
    if (a.in != a.out) s = along(s, d, taps);
  }
  s.shape = out;
  return s;
}

void Reference::resize(const Layer& l) {
  const Node& n = l.nodes.at(0);
  if (l.anchor != 0) throw NotProved{"a Resize that is not the first of its layer"};
  finish(l, n, resized(n));
}

}  // namespace mrvlc::prove

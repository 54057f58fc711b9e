// Pairs and shifts: a product reads halves, one sum after the other.
#include <algorithm>
#include <cmath>

#include "reference.h"
#include "shapes.h"

namespace mrvlc::prove {
namespace {

bool is_product(const Layer& l) {
  return l.kind == "conv" || l.kind == "conv_transpose" || l.kind == "fc" || l.kind == "matmul";
}

}  // namespace

Precision Reference::precision(const std::string& name) const {
  const auto asked = region_.precisions.find(name);
  return asked == region_.precisions.end() ? Precision() : asked->second;
}

// What a layer stores on the way to a value that is asked for, or behind an operand with a shift.
void Reference::note_asked() {
  for (const auto& [name, precision] : region_.precisions)
    if (!c_.is_constant(name)) asked_.insert(name);
  for (const Layer& l : region_.layers) {
    const Node& anchor = l.nodes[l.anchor];
    const bool shifted = is_product(l) && anchor.inputs.size() > 1 &&
                         (precision(anchor.inputs[0]).shift != 0 || precision(anchor.inputs[1]).shift != 0);
    const Node& last = l.nodes.back();
    if (last.outputs.empty() || (!shifted && !region_.precisions.contains(last.outputs[0].name))) continue;
    for (size_t k = 0; k + 1 < l.nodes.size(); ++k)
      if (l.nodes[k].op != "AveragePool")
        for (const ValueInfo& o : l.nodes[k].outputs) asked_.insert(o.name);
  }
}

// Which half of the left operand meets which of the right one, in the order of the sums.
std::vector<Reference::Term> Reference::terms(const std::string& left, const std::string& right) const {
  std::vector<Term> out{{false, false}};
  if (precision(left).pair) out.push_back({true, false});
  if (precision(right).pair) out.push_back({false, true});
  return out;
}

Val Reference::half_of(Val v, int32_t shift, bool low) {
  const Val factor = number(std::ldexp(1.0f, -shift)), high = v_.half(v_.fma(factor, v, number(0)));
  return low ? v_.half(v_.fma(factor, v, v_.neg(high))) : high;
}

// `x` as a product reads it: along dimension `d`, in each of its groups, its halves one term after the other.
Symbols Reference::halves(const std::string& name, const Symbols& x, size_t d, int64_t groups,
                          const std::vector<bool>& low) {
  const int32_t shift = precision(name).shift;
  if (low.size() == 1 && !is_asked(name)) return x;
  const int64_t part = x.shape.at(d) / groups, n = static_cast<int64_t>(low.size());
  Symbols s{x.shape, {}};
  s.shape[d] *= n;
  s.v.resize(x.v.size() * low.size());
  size_t inner = 1;
  for (size_t k = d + 1; k < x.shape.size(); ++k) inner *= static_cast<size_t>(x.shape[k]);
  const auto all = static_cast<size_t>(s.shape[d]), own = static_cast<size_t>(x.shape[d]);
  for (size_t i = 0; i < s.v.size(); ++i) {
    const auto c = static_cast<int64_t>(i / inner % all);
    const auto from = static_cast<size_t>(c / (part * n) * part + c % part);
    const Val v = x.v[(i / inner / all * own + from) * inner + i % inner];
    s.v[i] = half_of(v, shift, low[static_cast<size_t>(c / part % n)]);
  }
  return s;
}

Symbols Reference::left_halves(const std::string& name, const Symbols& x, size_t d, int64_t groups,
                               const std::vector<Term>& terms) {
  std::vector<bool> low;
  for (const Term& t : terms) low.push_back(t.left);
  return halves(name, x, d, groups, low);
}

Symbols Reference::right_halves(const std::string& name, const Symbols& w, const std::vector<Term>& terms) {
  std::vector<bool> low;
  for (const Term& t : terms) low.push_back(t.right);
  return halves(name, w, w.shape.size() - 2, 1, low);
}

// w" = h(p - w'), 0 where w' is not finite.
std::vector<float> Reference::remainders(std::span<const float> p, std::span<const float> high) {
  std::vector<float> low(p.size(), 0.0f);
  for (size_t i = 0; i < p.size(); ++i)
    if (std::isfinite(high[i])) low[i] = rounded_half(p[i] - high[i]);
  return low;
}

// Where weights with 2^shift fit, it is theirs; else the sums are multiplied.
Reference::Powers Reference::powers(int32_t shift, const Factors& f, const std::vector<float>& scale) {
  Powers out{scale, 0};
  if (shift == 0) return out;
  out.of_weights.resize(f.channels, 1.0f);
  for (float& s : out.of_weights) s *= std::ldexp(1.0f, shift);
  std::vector<float> scaled = f.p;
  for (size_t i = 0; i < scaled.size(); ++i) scaled[i] = scaled[i] * out.of_weights[f.channel_of[i]];
  if (!f.p.empty() && fits_half(scaled)) return out;
  return {scale, shift};
}

}  // namespace mrvlc::prove

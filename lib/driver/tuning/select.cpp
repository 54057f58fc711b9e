// Which variants are worth a measurement, and which one is taken.
#include "tuning/select.h"

#include <algorithm>

namespace mrvlc::driver {

using chost::Blocks;
using chost::Variant;

LayerKinds kinds_of(const std::vector<chost::LayerChoice>& choices) {
  LayerKinds out;
  for (const chost::LayerChoice& c : choices) {
    LayerKind& kind = out[c.layer];
    if (kind.count++ == 0) {
      kind.expected = c.expected;
      kind.legal = c.legal;
    }
    std::erase_if(kind.legal,
                  [&](const Variant& v) { return std::ranges::find(c.legal, v) == c.legal.end(); });
  }
  return out;
}

std::vector<Variant> kernels_to_measure(const LayerKind& kind) {
  std::vector<Variant> out = {kind.expected};
  for (const Variant v : kind.legal)
    if (v.blocks == Blocks::Usual && v != kind.expected) out.push_back(v);
  return out;
}

std::vector<Variant> blocks_to_measure(const LayerKind& kind, const TunedLayer& measured) {
  const auto best = chost::parse_variant(fastest(measured, 0));
  if (!best) return {kind.expected};
  // One of its other sizes may have been the best of an earlier call.
  std::vector<Variant> out = {{best->kernel, Blocks::Usual}};
  for (const Variant v : kind.legal)
    if (v.kernel == best->kernel && v.blocks != Blocks::Usual) out.push_back(v);
  return out;
}

std::string fastest(const TunedLayer& layer, double least) {
  const auto expected = layer.ns.find(layer.expected);
  if (expected == layer.ns.end()) return layer.expected;
  const auto best = std::ranges::min_element(layer.ns, {}, [](const auto& entry) { return entry.second; });
  return best->second < expected->second * (1 - least) ? best->first : layer.expected;
}

void note_time(TunedLayer& layer, Variant variant, double ns) {
  const auto [at, is_new] = layer.ns.try_emplace(chost::to_text(variant), ns);
  if (!is_new) at->second = std::min(at->second, ns);
}

}  // namespace mrvlc::driver

// --input-range against the inputs that it names, and elements drawn by the quantiles of a distribution.
#include "mrvlc/calibration/draw.h"

#include <algorithm>
#include <cmath>

#include "mrvlc/interp/input_sets.h"
#include "mrvlc/interp/random.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/glob.h"
#include "mrvlc/support/nearest.h"
#include "smooth.h"

namespace mrvlc::calibration {
namespace {

bool is_named(const std::string& name, std::string_view pattern) {
  return name == pattern || glob_match(pattern, name) || glob_match(pattern, printable(name, 1u << 20));
}

bool holds_numbers(const TensorType& type) {
  return type.wrapper == Wrapper::None && (is_float(type.elem) || is_integer(type.elem));
}

void set(Tensor& tensor, int64_t i, double value) {
  if (is_float(tensor.elem())) return tensor.set_double(i, value);
  tensor.set_int(i, static_cast<int64_t>(std::round(value)));
}

// Integers beyond 2^53 are not asked for by a range of doubles.
bool can_hold(ElementType elem, double value) {
  if (is_integer(elem) && std::abs(value) > 0x1p53) return false;
  Tensor one(TensorType{elem, {1}});
  set(one, 0, value);
  const double read = one.as_double(0);
  return is_float(elem) ? std::isfinite(read) : read == std::round(value);
}

std::vector<double> shares_of(Texture texture, const Shape& shape, uint32_t seed) {
  if (texture == Texture::Picture) return scene(shape, seed);
  if (texture == Texture::Spectrum) return spectrum(shape, seed);
  return texture == Texture::Sound ? sound(shape, seed) : smooth(shape, seed);
}

Diag refused(const InputRange& range, std::string_view why) {
  return make_diag<DiagCode::MRV0004>(
      fmt::format("--input-range {}={}:{}: {}", printable(range.pattern), range.least, range.most, why));
}

Status check(const InputRange& range, const ir::Value& input) {
  const std::string name = printable(input.name);
  if (!holds_numbers(input.type))
    return refused(range,
                   fmt::format("input '{}' is {}, which holds no numbers", name, to_string(input.type)));
  for (double end : {range.least, range.most}) {
    if (!can_hold(input.type.elem, end))
      return refused(range,
                     fmt::format("input '{}' is {}, which cannot hold {}", name, to_string(input.type), end));
  }
  return {};
}

}  // namespace

double Quantiles::at(double p) const {
  auto above =
      std::upper_bound(points.begin(), points.end(), p, [](double v, const auto& q) { return v < q.first; });
  if (above == points.begin()) return above->second;
  if (above == points.end()) return points.back().second;
  const auto& [p0, v0] = *(above - 1);
  const auto& [p1, v1] = *above;
  const double w = (p - p0) / (p1 - p0);
  return v0 * (1 - w) + v1 * w;  // ends far apart: their difference may not be finite
}

Quantiles uniform(double least, double most) {
  return {{{0, least}, {1, most}}};
}

Result<Distributions> distributions_of(const ir::Graph& graph, const std::vector<InputRange>& ranges) {
  Distributions out;
  for (const InputRange& range : ranges) {
    bool any = false;
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      const ir::Value& input = graph.value(graph.inputs()[i]);
      if (!is_named(input.name, range.pattern)) continue;
      MRVLC_TRY(check(range, input));
      out[i] = uniform(range.least, range.most);
      any = true;
    }
    if (any) continue;
    std::vector<std::string_view> names;
    for (ir::ValueId v : graph.inputs()) names.push_back(graph.value(v).name);
    return refused(range, "no input of the model has that name" + did_you_mean(range.pattern, names));
  }
  return out;
}

std::vector<Tensor> draw_inputs(const ir::Graph& graph, uint32_t seed, const Distributions& distributions,
                                Texture texture) {
  return draw_inputs(graph, seed, distributions, std::vector<Texture>(graph.inputs().size(), texture));
}

std::vector<Tensor> draw_inputs(const ir::Graph& graph, uint32_t seed, const Distributions& distributions,
                                const std::vector<Texture>& textures) {
  std::vector<Tensor> inputs = interp::make_inputs(graph, interp::InputKind::Uniform, seed);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor& input = inputs[i];
    const auto named = distributions.find(i);
    const bool has_one = named != distributions.end();
    // 2^32 over the golden ratio: seeds of neighbouring inputs lie far apart.
    const uint32_t own_seed = seed + 0x9e3779b9u * static_cast<uint32_t>(i + 1);
    const bool plain = input.type().wrapper == Wrapper::None && (has_one || is_float(input.elem()));
    if (textures[i] != Texture::Noise && plain && can_be_smooth(input.shape())) {
      const std::vector<double> shares = shares_of(textures[i], input.shape(), own_seed);
      for (int64_t k = 0; k < input.elements(); ++k) {
        const double share = shares[static_cast<size_t>(k)];
        set(input, k, has_one ? named->second.at(share) : share);
      }
    } else if (has_one) {
      interp::Mulberry32 random(own_seed);
      for (int64_t k = 0; k < input.elements(); ++k) set(input, k, named->second.at(random.uniform()));
    }
  }
  return inputs;
}

}  // namespace mrvlc::calibration

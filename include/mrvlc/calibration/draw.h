// Inputs drawn for a model whose data are not at hand: from ranges that the user names, or from the
// distribution that calibration data had.
#pragma once
#include <map>

#include "mrvlc/ir/graph.h"
#include "mrvlc/support/result.h"

namespace mrvlc::calibration {

// A distribution by its quantiles, linear between them. Probabilities rise strictly from 0 to 1, values do
// not fall.
struct Quantiles {
  std::vector<std::pair<double, double>> points;  // probability, value
  // p in [0, 1].
  double at(double p) const;
};
Quantiles uniform(double least, double most);

// By position in graph.inputs().
using Distributions = std::map<size_t, Quantiles>;

// --input-range NAME=LO:HI.
struct InputRange {
  std::string pattern;  // of names of inputs; * and ? allowed
  double least = 0, most = 1;
};
// Of an input that several name, the last holds. MRV0004: a pattern that no input has, an input that holds no
// numbers, or an end that its type cannot hold.
Result<Distributions> distributions_of(const ir::Graph& graph, const std::vector<InputRange>& ranges);

// What neighbouring elements of an input have to do with each other. Noise: nothing. Smooth: they are alike,
// as in pictures and sounds: means over windows then vary as much as elements do. Inputs without a long
// dimension, and integers without a distribution, are noise in both. Picture: things with edges, in front of
// each other, of all sizes. Sound: voices, noise and silence about the middle of the range. Spectrum: the
// same as logarithms of energies by band, or as cepstra, of which the first coefficients are the largest.
enum class Texture : uint8_t { Noise, Smooth, Picture, Sound, Spectrum };

// interp::make_inputs of kind Uniform, but for the elements of inputs that have a distribution, and smooth
// ones, which lie in [0, 1] where they have none: integers are rounded. Depends on the graph's inputs and the
// other arguments alone.
std::vector<Tensor> draw_inputs(const ir::Graph& graph, uint32_t seed, const Distributions& distributions,
                                Texture texture = Texture::Noise);
// A texture for each input.
std::vector<Tensor> draw_inputs(const ir::Graph& graph, uint32_t seed, const Distributions& distributions,
                                const std::vector<Texture>& textures);

}  // namespace mrvlc::calibration

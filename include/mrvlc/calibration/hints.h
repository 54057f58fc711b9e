// What inputs of a model are likely to be, as the layers that read them tell: for who must make inputs.
#pragma once
#include "mrvlc/calibration/draw.h"

namespace mrvlc::calibration {

struct InputHint {
  // Of its shape: two long dimensions and one of channels; one long dimension; anything else.
  enum class Form : uint8_t { Plain, Picture, Sound } form = Form::Plain;
  // Moments by as many bands, or coefficients, as spectrograms and cepstra are made with. Some pictures have
  // such a shape, too: both are tried then.
  bool spectrum = false;
  // Ranges that elements may have, the likeliest first; empty: nothing is known.
  std::vector<std::pair<double, double>> ranges;
  // Of integers: values that it is compared with, and one more that is none of these. Each takes another
  // branch, so each is to be tried.
  std::vector<int64_t> choices;
  // The graph output that is its next state.
  std::optional<size_t> next;
};

// By position in graph.inputs(), of the graph as it was imported: passes fold away what is read here.
std::vector<InputHint> input_hints(const ir::Graph& graph);

// For the sample `k`, what hints say of inputs that are not among `known`.
void add_likely(const std::vector<InputHint>& hints, size_t k, Distributions& known);
// How the inputs of sample `k` are textured.
std::vector<Texture> textures(const std::vector<InputHint>& hints, size_t k);
// Samples that have each choice of each input once; 1 where there are none.
size_t samples_of_choices(const std::vector<InputHint>& hints);

}  // namespace mrvlc::calibration

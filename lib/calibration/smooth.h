// Made inputs that look like pictures, sounds and other signals: neighbours are alike.
#pragma once
#include <cstdint>
#include <vector>

#include "mrvlc/interp/random.h"
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::calibration {

inline double between(double least, double most, interp::Mulberry32& random) {
  return least + (most - least) * random.uniform();
}

// Whether a tensor of the shape has a dimension that is long enough for neighbours along it to be alike.
bool can_be_smooth(const Shape& shape);

// Elements of [0, 1], both ends among them, in order. Sums of noise at ever finer scales, each with half the
// amplitude of the one before, which is how natural images fall off (amplitudes as 1 / frequency: Field 1987,
// "Relations between the statistics of natural images and the response properties of cortical cells", J. Opt.
// Soc. Am. A 4). Short dimensions are channels, which have most of it in common.
std::vector<double> smooth(const Shape& shape, uint32_t seed);

// The same with edges: rectangles in front of each other whose sides are as often short as long (areas fall
// off as those of "dead leaves"), each of one colour, with a little of smooth() over all.
std::vector<double> scene(const Shape& shape, uint32_t seed);
// About 0.5, which is silence: along the longest dimension voices (harmonics of a pitch), noise and silence,
// each for a while, and loudness that changes slowly. Voices leave most frequencies empty, noise leaves none.
std::vector<double> sound(const Shape& shape, uint32_t seed);

// In [0, 1], of two long dimensions, moments and bands: stretches of silence, noise and voices whose levels
// change smoothly over the bands, as logarithms of energies; with every other seed as their cosine transform,
// cepstra about 0.5 whose coefficients fall off. `shape` has two dimensions other than 1.
std::vector<double> spectrum(const Shape& shape, uint32_t seed);

}  // namespace mrvlc::calibration

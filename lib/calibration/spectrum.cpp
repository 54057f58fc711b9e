// Spectrograms and cepstra: levels of bands, moment by moment.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "smooth.h"

namespace mrvlc::calibration {
namespace {

// A stretch of one kind takes so many moments, short ones as often as long ones.
constexpr double kFewestMoments = 2, kMomentDoublings = 4;
// Levels of silence, and how far those of bands lie apart.
constexpr double kFloor = 0.02, kSpread = 0.6;
// Peaks of a voice over the bands, their widths in shares of the bands, and what single moments add.
constexpr size_t kPeaks = 4;
constexpr double kNarrow = 0.03, kWide = 0.2, kFlicker = 0.04;

// What a stretch has in each band: peaks on a slope.
std::vector<double> levels(size_t bands, interp::Mulberry32& random) {
  constexpr uint32_t kKinds = 4;
  const uint32_t kind = random.next() % kKinds;
  std::vector<double> out(bands, kFloor);
  if (kind == 0) return out;  // silence
  const double loud = between(0.2, 1, random), slope = between(-kSpread, kSpread / 2, random);
  for (size_t b = 0; b < bands; ++b)
    out[b] = loud * (0.6 + slope * static_cast<double>(b) / static_cast<double>(bands));
  if (kind == 1) return out;  // noise
  for (size_t p = 0; p < kPeaks; ++p) {
    const double at = random.uniform(), width = between(kNarrow, kWide, random),
                 high = between(0, 0.5, random);
    for (size_t b = 0; b < bands; ++b) {
      const double far = (static_cast<double>(b) / static_cast<double>(bands) - at) / width;
      out[b] += loud * high * std::exp(-far * far);
    }
  }
  return out;
}

// Orthonormal, of type II, as cepstra are made.
std::vector<double> cosines(const std::vector<double>& x) {
  const auto n = static_cast<double>(x.size());
  std::vector<double> out(x.size(), 0);
  for (size_t k = 0; k < x.size(); ++k) {
    for (size_t b = 0; b < x.size(); ++b)
      out[k] +=
          x[b] * std::cos(std::numbers::pi * static_cast<double>(k) * (static_cast<double>(b) + 0.5) / n);
    out[k] *= std::sqrt((k == 0 ? 1 : 2) / n);
  }
  return out;
}

using Moments = std::vector<std::vector<double>>;

// One stretch after the other; each begins at once and grows softer.
Moments moments_of(size_t count, size_t bands, interp::Mulberry32& random) {
  Moments out;
  while (out.size() < count) {
    const std::vector<double> of_stretch = levels(bands, random);
    const auto length = static_cast<size_t>(kFewestMoments * std::exp2(kMomentDoublings * random.uniform()));
    const double fade = between(0, 0.4, random) / static_cast<double>(length);
    for (size_t i = 0; i < length && out.size() < count; ++i) {
      std::vector<double>& moment = out.emplace_back(of_stretch);
      for (double& v : moment)
        v = std::clamp(v * (1 - fade * static_cast<double>(i)) + kFlicker * (random.uniform() - 0.5), 0.0,
                       1.0);
    }
  }
  return out;
}

// About the middle, the largest at an end of [0, 1].
void centre(Moments& moments) {
  double most = 1e-9;
  for (const auto& m : moments)
    for (const double v : m) most = std::max(most, std::abs(v));
  for (auto& m : moments)
    for (double& v : m) v = 0.5 + 0.5 * v / most;
}

}  // namespace

std::vector<double> spectrum(const Shape& shape, uint32_t seed) {
  interp::Mulberry32 random(seed ^ 0x165667b1u);
  const auto is_long = [](int64_t d) { return d != 1; };
  const auto first = std::ranges::find_if(shape, is_long);
  const auto count = static_cast<size_t>(*first), bands = static_cast<size_t>(element_count(shape)) / count;
  Moments moments = moments_of(count, bands, random);
  if (random.next() % 2 == 1) {
    for (std::vector<double>& m : moments) m = cosines(m);
    centre(moments);
  }
  std::vector<double> out;
  for (const std::vector<double>& m : moments) out.insert(out.end(), m.begin(), m.end());
  return out;
}

}  // namespace mrvlc::calibration

// Sounds: voices, noise and silence by turns, ever louder and softer.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "smooth.h"

namespace mrvlc::calibration {
namespace {

// A stretch of one kind is so long, short ones as often as long ones; of long sounds such a part, as making a
// voice takes as long for few samples as for many.
constexpr double kShortest = 64, kShortestPart = 1.0 / 256, kDoublings = 5;
// Powers of two from the loudest to the softest.
constexpr double kSofter = 10;
// Samples of a period of a voice; what it glides by until the end of a stretch.
constexpr double kShortestPeriod = 32, kLongestPeriod = 256, kGlide = 0.1;
constexpr int kHarmonics = 40;
// Harmonics fall off by a power of their number in this range.
constexpr double kLeastFall = 0.5, kMostFall = 2;
// Of a period, with the first point behind the last.
constexpr size_t kPoints = 1024;
using Period = std::array<double, kPoints + 1>;

// In [-1, 1].
Period period_of(double length, interp::Mulberry32& random) {
  const int most = std::min(kHarmonics, static_cast<int>(length / 2));
  const double fall = between(kLeastFall, kMostFall, random);
  Period out{};
  for (int h = 1; h <= most; ++h) {
    const double share = std::pow(h, -fall), phase = between(0, 2 * std::numbers::pi, random);
    const double step = 2 * std::numbers::pi * h / static_cast<double>(kPoints);
    for (size_t i = 0; i < kPoints; ++i) out[i] += share * std::sin(step * static_cast<double>(i) + phase);
  }
  double loudest = 1e-9;
  for (double v : out) loudest = std::max(loudest, std::abs(v));
  for (double& v : out) v /= loudest;
  out[kPoints] = out[0];
  return out;
}

// Harmonics of a pitch that glides.
void add_voice(std::span<double> to, interp::Mulberry32& random) {
  const double length = kShortestPeriod * std::pow(kLongestPeriod / kShortestPeriod, random.uniform());
  const Period period = period_of(length, random);
  const double glide = between(-kGlide, kGlide, random) / static_cast<double>(to.size());
  double turn = random.uniform();
  for (size_t i = 0; i < to.size(); ++i) {
    const double at = (turn - std::floor(turn)) * static_cast<double>(kPoints);
    const size_t low = std::min(static_cast<size_t>(at), kPoints - 1);
    const double w = at - static_cast<double>(low);
    to[i] = period[low] * (1 - w) + period[low + 1] * w;
    turn += (1 + glide * static_cast<double>(i)) / length;
  }
}

void fill_stretch(std::span<double> to, interp::Mulberry32& random) {
  constexpr uint32_t kKinds = 4;
  const uint32_t kind = random.next() % kKinds;
  if (kind == 0) return void(std::ranges::fill(to, 0.0));  // silence
  if (kind == 1) {
    for (double& v : to) v = 2 * random.uniform() - 1;
  } else {
    add_voice(to, random);
  }
  const double first = -kSofter * random.uniform(), last = -kSofter * random.uniform();
  for (size_t i = 0; i < to.size(); ++i) {
    const double w = static_cast<double>(i) / static_cast<double>(to.size());
    to[i] *= std::exp2(first * (1 - w) + last * w);
  }
}

}  // namespace

std::vector<double> sound(const Shape& shape, uint32_t seed) {
  interp::Mulberry32 random(seed ^ 0x27d4eb2fu);
  const auto along = static_cast<size_t>(std::ranges::max_element(shape) - shape.begin());
  size_t stride = 1;
  for (size_t d = along + 1; d < shape.size(); ++d) stride *= static_cast<size_t>(shape[d]);
  std::vector<double> wave(static_cast<size_t>(shape[along]));
  const double shortest = std::max(kShortest, kShortestPart * static_cast<double>(wave.size()));
  for (size_t at = 0; at < wave.size();) {
    const auto length = static_cast<size_t>(shortest * std::exp2(kDoublings * random.uniform()));
    const size_t n = std::min(length, wave.size() - at);
    fill_stretch(std::span(wave).subspan(at, n), random);
    at += n;
  }
  std::vector<double> out(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < out.size(); ++i) out[i] = 0.5 + 0.5 * wave[i / stride % wave.size()];
  return out;
}

}  // namespace mrvlc::calibration

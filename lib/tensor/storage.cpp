// Rounding to fp16 in vectors, what is lost by it, and weights rounded so that errors of a sum cancel.
#include "mrvlc/tensor/storage.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "mrvlc/tensor/float16.h"

namespace mrvlc {
namespace {

constexpr uint32_t kInfinity = 0x7f800000u, kLeastNormal = 0x38800000u;  // 2^-14

bool is_finite(float x) {
  return (std::bit_cast<uint32_t>(x) & kInfinity) != kInfinity;
}

// The nearest half, ties to even, as a float; infinity beyond 65504 and its like. Without branches, and all
// comparisons signed: this is the inner loop over every weight of a model, and compilers turn it into
// vectors.
inline float round_to_half(float x) {
  auto bits = std::bit_cast<uint32_t>(x);
  auto mag = static_cast<int32_t>(bits & 0x7fffffffu);
  // 13 bits go. Half of the last that stays is added, less one where that bit is 0: a tie then goes to even.
  int32_t normal = (mag + 0xfff + (mag >> 13 & 1)) & ~0x1fff;
  // Below 2^-14 halves are multiples of 2^-24, which is what a float next to 0.5 is.
  auto small = std::bit_cast<int32_t>(std::bit_cast<float>(mag) + 0.5f - 0.5f);
  int32_t rounded = mag < static_cast<int32_t>(kLeastNormal) ? small : normal;
  // 65520, half-way from the largest half to the next power of two.
  rounded = mag >= 0x477ff000 ? static_cast<int32_t>(kInfinity) : rounded;
  return std::bit_cast<float>(static_cast<uint32_t>(rounded) | (bits & 0x80000000u));
}

// The values of a tensor of any float type, without a copy where it holds floats.
class Floats {
 public:
  explicit Floats(const Tensor& t) {
    if (t.elem() == ElementType::F32) {
      values_ = t.data<float>();
      return;
    }
    own_.reserve(static_cast<size_t>(t.elements()));
    for (int64_t i = 0; i < t.elements(); ++i) own_.push_back(static_cast<float>(t.as_double(i)));
    values_ = own_;
  }
  std::span<const float> values() const { return values_; }

 private:
  std::vector<float> own_;
  std::span<const float> values_;
};

float factor_of(const ScaledWeights& w, int64_t channel) {
  return w.factors.empty() ? 1.0f : w.factors[static_cast<size_t>(channel)];
}

struct Sums {
  int32_t values = 0, over = 0, under = 0;
  float norm = 0, lost = 0;
};

// Of up to kPiece values: short enough for sums in fp32 that compilers turn into vectors. `unit` keeps
// squares within fp32.
constexpr size_t kPiece = 256, kLanes = 8;

void add(std::array<Sums, kLanes>& sums, size_t lane, float before, float p, float unit) {
  float rounded = round_to_half(p), size = std::fabs(p) * unit;
  Sums& s = sums[lane];
  int32_t value = (p != 0) & static_cast<int32_t>(is_finite(before));
  int32_t over = value & static_cast<int32_t>(!is_finite(rounded));
  bool small = std::fabs(p) < 0x1p-14f;
  float error = small ? (p - rounded) * unit : 0;
  s.values += value;
  s.over += over;
  s.under += static_cast<int32_t>(error != 0);
  s.norm += (value & (over ^ 1)) != 0 ? size * size : 0;
  s.lost += error * error;
}

// A power of two that brings `largest` near 1, so that squares of what counts are normal numbers.
float unit_for(float largest) {
  if (!(largest > 0) || !is_finite(largest)) return 1;
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::ldexp(1.0f, std::clamp(-exponent, -120, 120));
}

// Of finite values' products, as they are rounded. As integers, so that compilers turn the loop into vectors:
// those compare as the floats do, infinity and NaN above all.
template <class Factor>
float largest_of(std::span<const float> values, float alpha, Factor factor) {
  int32_t most = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    auto size = static_cast<int32_t>(std::bit_cast<uint32_t>(values[i] * alpha * factor(i)) & 0x7fffffffu);
    size = is_finite(values[i]) ? size : 0;
    most = size > most ? size : most;
  }
  return std::bit_cast<float>(most);
}

// One channel's neighbours, or a whole tensor: p = values * alpha * factor(i).
template <class Factor>
FormatLoss loss_of(std::span<const float> values, float alpha, float unit, Factor factor) {
  FormatLoss loss;
  double scale = 1 / (static_cast<double>(unit) * static_cast<double>(unit));
  for (size_t begin = 0; begin < values.size(); begin += kPiece) {
    std::array<Sums, kLanes> sums{};
    size_t end = std::min(values.size(), begin + kPiece), i = begin;
    for (; i + kLanes <= end; i += kLanes)
      for (size_t lane = 0; lane < kLanes; ++lane)
        add(sums, lane, values[i + lane], values[i + lane] * alpha * factor(i + lane), unit);
    for (; i < end; ++i) add(sums, 0, values[i], values[i] * alpha * factor(i), unit);
    for (const Sums& s : sums) {
      loss += {s.values, s.over, s.under, static_cast<double>(s.norm) * scale,
               static_cast<double>(s.lost) * scale};
    }
  }
  return loss;
}

}  // namespace

FormatLoss& FormatLoss::operator+=(const FormatLoss& other) {
  values += other.values;
  over += other.over;
  under += other.under;
  norm += other.norm;
  lost += other.lost;
  return *this;
}

namespace {

// Calls visit(values, factor) for all stretches of values whose factor(i) is told without a search.
template <class Visit>
void for_each_stretch(const ScaledWeights& w, std::span<const float> all, Visit visit) {
  const WeightLayout& l = w.layout;
  if (w.factors.empty()) return visit(all, [](size_t) { return 1.0f; });
  if (l.inner == 1) {  // a row holds one weight of each channel
    auto channels = static_cast<size_t>(l.channels);
    for (size_t row = 0; row * channels < all.size(); ++row) {
      const float* factors = w.factors.data() + row / static_cast<size_t>(l.outer) * channels;
      visit(all.subspan(row * channels, channels), [factors](size_t i) { return factors[i]; });
    }
    return;
  }
  auto inner = static_cast<size_t>(l.inner);
  for (size_t at = 0; at < all.size(); at += inner) {
    float factor = factor_of(w, l.channel(static_cast<int64_t>(at)));
    visit(all.subspan(at, inner), [factor](size_t) { return factor; });
  }
}

float largest_of(const ScaledWeights& w, std::span<const float> all) {
  float most = 0;
  for_each_stretch(w, all, [&](std::span<const float> values, auto factor) {
    float here = largest_of(values, w.alpha, factor);
    most = here <= most ? most : here;  // NaN stays
  });
  return most;
}

}  // namespace

ScaledWeights unscaled(const Tensor& constant) {
  return {constant, {1, 1, 1, constant.elements()}, 1, {}};
}

FormatLoss format_loss(const ScaledWeights& w) {
  const Floats floats(w.weights);
  float unit = unit_for(largest_of(w, floats.values()));
  FormatLoss loss;
  for_each_stretch(w, floats.values(), [&](std::span<const float> values, auto factor) {
    loss += loss_of(values, w.alpha, unit, factor);
  });
  return loss;
}

FormatLoss format_loss(const Tensor& constant) {
  return format_loss(unscaled(constant));
}

bool loses_at_most(const ScaledWeights& w, double share) {
  // Subnormal halves are 2^-24 apart: a rounding loses 2^-25 at the most.
  constexpr double kMostLost = 0x1p-50;  // of one value, squared
  double most = largest_of(w, Floats(w.weights).values());
  bool surely = most <= 65504 && static_cast<double>(w.weights.elements()) * kMostLost <= share * most * most;
  return surely || format_loss(w).at_most(share);
}

bool fits_format(const ScaledWeights& w) {
  return loses_at_most(w, FormatLoss::kShare);
}

bool fits_format(const Tensor& constant) {
  return fits_format(unscaled(constant));
}

namespace {

// Rows do not depend on each other, elements of a row do: each takes over what the one before lost. So
// several rows go side by side, a piece at a time.
class RowRounder {
 public:
  // Element (o, k) of `count` rows of `length` is at o * row + k * step.
  struct Rows {
    int64_t count = 0, length = 0, row = 0, step = 0;
  };
  RowRounder(const ScaledWeights& w, std::span<const float> from, std::span<uint16_t> to, Rows rows)
      : w_(w), from_(from), to_(to), rows_(rows) {}

  void run() {
    for (int64_t first = 0; first < rows_.count; first += kLanes) {
      lanes_ = static_cast<size_t>(std::min<int64_t>(kLanes, rows_.count - first));
      for (size_t lane = 0; lane < lanes_; ++lane)
        factor_[lane] = factor_of(w_, first + static_cast<int64_t>(lane));
      carry_.fill(0);
      for (int64_t k = 0; k < rows_.length; k += kPiece) {
        auto length = static_cast<size_t>(std::min<int64_t>(kPiece, rows_.length - k));
        int64_t at = first * rows_.row + k * rows_.step;
        load(at, length);
        round(length);
        store(at, length);
      }
    }
  }

 private:
  static constexpr int64_t kLanes = 8, kPiece = 64;

  void load(int64_t at, size_t length) {
    for (size_t lane = 0; lane < lanes_; ++lane) {
      const float* row = from_.data() + at + static_cast<int64_t>(lane) * rows_.row;
      for (size_t k = 0; k < length; ++k) piece_[k][lane] = row[static_cast<int64_t>(k) * rows_.step];
    }
  }
  void store(int64_t at, size_t length) {
    for (size_t lane = 0; lane < lanes_; ++lane) {
      uint16_t* row = to_.data() + at + static_cast<int64_t>(lane) * rows_.row;
      for (size_t k = 0; k < length; ++k)
        row[static_cast<int64_t>(k) * rows_.step] = float_to_half(piece_[k][lane]);
    }
  }

  // What would become infinite, or is, is rounded by itself and leaves nothing to carry.
  void round(size_t length) {
    for (size_t k = 0; k < length; ++k) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        float x = piece_[k][lane] * w_.alpha * factor_[lane], wanted = x + carry_[lane];
        float rounded = round_to_half(wanted);
        int32_t zero = x == 0, taken = static_cast<int32_t>(is_finite(rounded));
        float next = taken != 0 ? wanted - rounded : 0;
        carry_[lane] = zero != 0 ? carry_[lane] : next;
        piece_[k][lane] = zero == 0 && taken != 0 ? rounded : x;
      }
    }
  }

  const ScaledWeights& w_;
  std::span<const float> from_;
  std::span<uint16_t> to_;
  Rows rows_;
  size_t lanes_ = 0;
  std::array<float, kLanes> carry_{}, factor_{};
  std::array<std::array<float, kLanes>, kPiece> piece_{};  // lanes past the last row hold zeros or old values
};

}  // namespace

std::vector<uint16_t> round_weights(const ScaledWeights& w) {
  const Floats floats(w.weights);
  std::span<const float> from = floats.values();
  std::vector<uint16_t> halves(from.size());
  const WeightLayout& l = w.layout;
  if (l.one_sum && l.groups == 1 && l.outer == 1) {
    RowRounder(w, from, halves, {l.channels, l.inner, l.inner, 1}).run();
  } else if (l.one_sum && l.groups == 1 && l.inner == 1) {
    RowRounder(w, from, halves, {l.channels, l.outer, 1, l.channels}).run();
  } else {
    for (size_t i = 0; i < from.size(); ++i)
      halves[i] = float_to_half(from[i] * w.alpha * factor_of(w, l.channel(static_cast<int64_t>(i))));
  }
  return halves;
}

std::vector<uint16_t> round_remainders(const ScaledWeights& w, std::span<const uint16_t> rounded) {
  const Floats floats(w.weights);
  const std::span<const float> values = floats.values();
  std::vector<uint16_t> out(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const float p = values[i] * w.alpha * factor_of(w, w.layout.channel(static_cast<int64_t>(i)));
    const float high = half_to_float(rounded[i]);
    out[i] = is_finite(high) ? float_to_half(p - high) : 0;
  }
  return out;
}

}  // namespace mrvlc

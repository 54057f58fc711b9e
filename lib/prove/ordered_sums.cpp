// Sums of products by their operands and the order of these.
#include <algorithm>
#include <map>

#include "products.h"

namespace mrvlc::prove {
namespace {

constexpr int64_t kChunk = 60;  // products before a reduction
constexpr uint64_t kOfProducts = 15;

// Powers of the point, from 1 on.
std::vector<uint64_t> powers_of(const Field& f, int64_t most) {
  std::vector<uint64_t> out(static_cast<size_t>(most + 1), 1);
  for (size_t i = 1; i < out.size(); ++i) out[i] = f.mul(out[i - 1], f.alpha());
  return out;
}

// Of each row, `length` operands in turn: their polynomial.
std::vector<uint64_t> along_rows(const Field& f, std::span<const uint64_t> x, int64_t length) {
  const std::vector<uint64_t> powers = powers_of(f, std::min(length, kChunk));
  std::vector<uint64_t> out(x.size() / static_cast<size_t>(length));
  const uint64_t* at = x.data();
  for (uint64_t& sum : out) {
    for (int64_t begin = 0; begin < length; begin += kChunk) {
      const int64_t count = std::min(kChunk, length - begin);
      Wide all = static_cast<Wide>(sum) * powers[static_cast<size_t>(count)];
      for (int64_t i = count; i-- > 0; ++at) all += static_cast<Wide>(*at) * powers[static_cast<size_t>(i)];
      sum = f.reduce(all);
    }
  }
  return out;
}

// The same of columns: `rows` rows of n operands.
std::vector<uint64_t> along_columns(const Field& f, std::span<const uint64_t> w, int64_t rows, int64_t n) {
  const std::vector<uint64_t> powers = powers_of(f, std::min(rows, kChunk));
  std::vector<uint64_t> out(static_cast<size_t>(n), 0);
  std::vector<Wide> all(out.size());
  const uint64_t* at = w.data();
  for (int64_t begin = 0; begin < rows; begin += kChunk) {
    const int64_t count = std::min(kChunk, rows - begin);
    for (size_t k = 0; k < all.size(); ++k)
      all[k] = static_cast<Wide>(out[k]) * powers[static_cast<size_t>(count)];
    for (int64_t i = count; i-- > 0;)
      for (size_t k = 0; k < all.size(); ++k, ++at)
        all[k] += static_cast<Wide>(*at) * powers[static_cast<size_t>(i)];
    for (size_t k = 0; k < all.size(); ++k) out[k] = f.reduce(all[k]);
  }
  return out;
}

// Taps of a pixel that lie inside the image, in order.
std::vector<int64_t> taps_inside(const Window& w, int64_t pixel) {
  std::vector<int64_t> out;
  for (int64_t t = 0; t < w.kernel_h * w.kernel_w; ++t)
    if (w.inside(w.row(pixel / w.out_w, t / w.kernel_w), w.column(pixel % w.out_w, t % w.kernel_w)))
      out.push_back(t);
  return out;
}

// The place of a tap in the image.
size_t place_of(const Window& w, int64_t pixel, int64_t tap) {
  return static_cast<size_t>(w.row(pixel / w.out_w, tap / w.kernel_w) * w.in_w +
                             w.column(pixel % w.out_w, tap % w.kernel_w));
}

// Right operands by the taps that are inside: most pixels have the same ones.
class RightOperands {
 public:
  // of_taps[tap * n + k]; `step`: the power of the point that a tap takes.
  RightOperands(const Field& f, int64_t n, std::span<const uint64_t> of_taps, uint64_t step)
      : f_(f), n_(static_cast<size_t>(n)), of_taps_(of_taps), step_(step) {}
  const std::vector<uint64_t>& of(const std::vector<int64_t>& taps) {
    const auto [found, is_new] = known_.try_emplace(taps, n_, 0);
    if (is_new)
      for (int64_t t : taps)
        for (size_t k = 0; k < n_; ++k)
          found->second[k] = f_.reduce(static_cast<Wide>(found->second[k]) * step_ +
                                       of_taps_[static_cast<size_t>(t) * n_ + k]);
    return found->second;
  }

 private:
  const Field& f_;
  size_t n_;
  std::span<const uint64_t> of_taps_;
  uint64_t step_;
  std::map<std::vector<int64_t>, std::vector<uint64_t>> known_;
};

}  // namespace

OrderedSums::OrderedSums(const Field& f, int64_t pixels, int64_t n)
    : f_(&f), n_(n), left_(static_cast<size_t>(pixels * n), 0), right_(left_) {}

void OrderedSums::append(size_t at, uint64_t power, uint64_t left, uint64_t right) {
  left_[at] = f_->reduce(static_cast<Wide>(left_[at]) * power + left);
  right_[at] = f_->reduce(static_cast<Wide>(right_[at]) * power + right);
}

void OrderedSums::add(const Window& w, int64_t channels, std::span<const uint64_t> weights,
                      std::span<const uint64_t> x) {
  if (channels < 1 || n_ < 1) return;
  const std::vector<uint64_t> of_places = along_rows(*f_, x, channels);
  std::vector<uint64_t> of_taps;
  const auto each = static_cast<size_t>(channels * n_);
  for (size_t at = 0; at < weights.size(); at += each) {
    const auto one = along_columns(*f_, weights.subspan(at, each), channels, n_);
    of_taps.insert(of_taps.end(), one.begin(), one.end());
  }
  const uint64_t step = f_->power(f_->alpha(), static_cast<uint64_t>(channels));
  RightOperands rights(*f_, n_, of_taps, step);
  for (int64_t p = 0; p < w.out_h * w.out_w; ++p) {
    const std::vector<int64_t> taps = taps_inside(w, p);
    const std::vector<uint64_t>& right = rights.of(taps);
    uint64_t left = 0, power = 1;
    for (int64_t t : taps) {
      left = f_->reduce(static_cast<Wide>(left) * step + of_places[place_of(w, p, t)]);
      power = f_->mul(power, step);
    }
    for (size_t k = 0; k < right.size(); ++k)
      append(static_cast<size_t>(p) * right.size() + k, power, left, right[k]);
  }
}

void OrderedSums::add_depthwise(const Window& w, std::span<const uint64_t> weights,
                                std::span<const uint64_t> x) {
  const auto n = static_cast<size_t>(n_);
  const std::vector<uint64_t> powers = powers_of(*f_, w.kernel_h * w.kernel_w);
  RightOperands rights(*f_, n_, weights, f_->alpha());
  for (int64_t p = 0; p < w.out_h * w.out_w; ++p) {
    const std::vector<int64_t> taps = taps_inside(w, p);
    const std::vector<uint64_t>& right = rights.of(taps);
    for (size_t k = 0; k < n; ++k) {
      uint64_t left = 0;
      for (int64_t t : taps)
        left = f_->reduce(static_cast<Wide>(left) * f_->alpha() + x[place_of(w, p, t) * n + k]);
      append(static_cast<size_t>(p) * n + k, powers[taps.size()], left, right[k]);
    }
  }
}

// A product does not know its left operand from its right one.
std::vector<uint64_t> OrderedSums::symbols() const {
  std::vector<uint64_t> out(left_.size(), 0);
  for (size_t i = 0; i < out.size(); ++i)
    if (left_[i] != 0 && right_[i] != 0)
      out[i] = f_->hash(kOfProducts, std::min(left_[i], right_[i]), std::max(left_[i], right_[i]));
  return out;
}

}  // namespace mrvlc::prove

// Cuts weights into blocks: groups become blocks with zeros, and blocks of zeros alone are left out.
#include "blocks.h"

namespace vta {

Blocks::Blocks(const Term& term)
    : term_(term),
      most_(most_planes(term)),
      kh_(static_cast<uint32_t>(term.window.kh)),
      kw_(static_cast<uint32_t>(term.window.kw)) {
  if (!term.weights.data) kh_ = kw_ = 1;  // the same at each tap
  const uint32_t blocks = (term.weights.outputs + kBlock - 1) / kBlock;
  for (uint32_t b = 0; b < blocks; ++b)
    for (uint32_t p = 0; p < most_; ++p)
      for (uint32_t tap = 0; tap < kh_ * kw_; ++tap) {
        const std::array<int8_t, 256> bytes =
            p < planes_of(term, b).count ? block_of(b, p, tap / kw_, tap % kw_) : std::array<int8_t, 256>{};
        if (bytes == std::array<int8_t, 256>{}) {
          at_.push_back(-1);
          continue;
        }
        const auto [known, made] = numbers_.emplace(bytes, static_cast<int32_t>(blocks_.size()));
        if (made) blocks_.push_back(&known->first);
        at_.push_back(known->second);
      }
}

int32_t Blocks::at(uint32_t block, uint32_t plane, uint32_t row, uint32_t col) const {
  if (!term_.weights.data) row = col = 0;
  return at_[((uint64_t{block} * most_ + plane) * kh_ + row) * kw_ + col];
}

std::array<int8_t, 256> Blocks::block_of(uint32_t block, uint32_t plane, uint32_t row, uint32_t col) const {
  const Weights& w = term_.weights;
  std::array<int8_t, 256> made{};
  if (!w.data) {
    // Channels behind the last one, too: they are computed like the others.
    for (uint32_t o = 0; o < kBlock; ++o) made[o * kBlock + o] = w.factor;
    return made;
  }
  const uint32_t first = (planes_of(term_, block).first + plane) * kBlock;
  for (uint32_t o = 0; o < kBlock; ++o)
    for (uint32_t i = 0; i < kBlock; ++i)
      made[o * kBlock + i] = weight(block * kBlock + o, first + i, row, col);
  return made;
}

int8_t Blocks::weight(uint32_t output, uint32_t input, uint32_t row, uint32_t col) const {
  const Weights& w = term_.weights;
  if (output >= w.outputs) return 0;
  const uint32_t from = output / (w.outputs / w.group) * w.inside;
  if (input < from || input >= from + w.inside) return 0;
  const uint64_t inside = input - from;
  if (w.columns) return w.data[((inside * kh_ + row) * kw_ + col) * w.outputs + output];
  return w.data[((output * uint64_t{w.inside} + inside) * kh_ + row) * kw_ + col];
}

}  // namespace vta

// Weights of a term as blocks of 16 x 16, equal ones once.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tiles.h"

namespace vta {

class Blocks {
 public:
  explicit Blocks(const Term& term);

  // The number of the block from input plane planes_of(term, block).first + plane; negative: it is all zeros.
  int32_t at(uint32_t block, uint32_t plane, uint32_t row, uint32_t col) const;
  const std::array<int8_t, 256>& bytes(int32_t number) const { return *blocks_[static_cast<size_t>(number)]; }

 private:
  std::array<int8_t, 256> block_of(uint32_t block, uint32_t plane, uint32_t row, uint32_t col) const;
  int8_t weight(uint32_t output, uint32_t input, uint32_t row, uint32_t col) const;

  const Term& term_;
  uint32_t most_, kh_, kw_;
  std::map<std::array<int8_t, 256>, int32_t> numbers_;
  std::vector<const std::array<int8_t, 256>*> blocks_;
  std::vector<int32_t> at_;
};

}  // namespace vta

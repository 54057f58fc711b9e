// When the units execute a stream, by the rates of a board.
#pragma once
#include "program.h"

namespace vta {

struct Timeline {
  uint64_t cycles = 0;
  uint64_t products = 0;                        // micro-ops of GEMM that multiply
  std::vector<std::array<uint64_t, 2>> layers;  // begin and end
};
Timeline timeline(const Stream& stream, const Board& board, uint32_t layers);

}  // namespace vta

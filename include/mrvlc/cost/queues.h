// The queues of all tiles, numbered.
#pragma once
#include <cstddef>

#include "mrvlc/isa/isa.h"

namespace mrvlc::cost {

inline constexpr size_t kAllQueues = isa::kMaxTiles * isa::kQueues;

constexpr size_t queue_index(uint8_t tile, isa::Queue queue) {
  return size_t{tile} * isa::kQueues + static_cast<size_t>(queue);
}

inline size_t queue_of(const isa::Instruction& i) {
  return queue_index(i.tile, i.queue);
}

}  // namespace mrvlc::cost

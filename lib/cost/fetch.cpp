// Code by pieces into a buffer, and by instructions out of it.
#include "fetch.h"

#include <algorithm>

#include "mrvlc/cost/queues.h"

namespace mrvlc::cost {

Fetch::Fetch(std::span<const isa::Instruction> program, const target::Machine& machine,
             std::span<const uint32_t> sizes)
    : program_(program),
      buffer_(machine.fetch_buffer),
      place_of_(program.size(), kNone),
      times_(program.size()) {
  if (buffer_ != 0) {
    uint64_t end = 0;
    ends_.reserve(sizes.size());
    for (uint32_t bytes : sizes) ends_.push_back(end += bytes);
  }
  if (machine.queue_depth == 0) return;
  std::array<std::vector<uint32_t>, kAllQueues> queues;
  for (uint32_t i = 0; i < program.size(); ++i) {
    auto& queue = queues[queue_of(program[i])];
    if (queue.size() >= machine.queue_depth) place_of_[i] = queue[queue.size() - machine.queue_depth];
    queue.push_back(i);
  }
}

// The bytes of the instructions that were handed out, whole ones, are free.
std::optional<uint64_t> Fetch::next_request() const {
  const uint64_t begin = pieces_.size() * piece();
  if (buffer_ == 0 || ends_.empty() || begin >= ends_.back()) return std::nullopt;
  const uint64_t end = begin + request_bytes();
  if (end <= buffer_) return asked_;
  auto last = std::ranges::lower_bound(ends_, end - buffer_) - ends_.begin();
  const std::optional<uint64_t> room = handed_out(static_cast<uint32_t>(last));
  return room ? std::optional(std::max(asked_, *room)) : std::nullopt;
}

uint64_t Fetch::request_bytes() const {
  return std::min(piece(), ends_.back() - pieces_.size() * piece());
}

void Fetch::arrived(uint64_t asked, uint64_t time) {
  asked_ = asked;
  pieces_.push_back(time);
}

}  // namespace mrvlc::cost

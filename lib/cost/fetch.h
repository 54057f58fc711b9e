// The way of instructions into their queues: one fetch unit reads the code of a section over the DDR channel,
// some bytes ahead, and hands the instructions out in program order, each when its queue has a place for it
// (docs/timing.md, Fetch).
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "mrvlc/cost/frontier.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::cost {

class Fetch {
 public:
  // `sizes`: bytes of each instruction's encoding; not looked at where the machine does not count them.
  Fetch(std::span<const isa::Instruction> program, const target::Machine& machine,
        std::span<const uint32_t> sizes);

  // When instruction i was handed out; nothing while that is not known.
  std::optional<uint64_t> handed_out(uint32_t i) const {
    return i < next_ ? std::optional(times_[i]) : std::nullopt;
  }
  // Hands out what can be. `start(i)`: when instruction i began, nothing while it has not. Calls out(i) for
  // each, in order.
  template <class Start, class Out>
  void advance(Start start, Out out) {
    while (next_ < program_.size() && here(next_)) {
      uint64_t time = std::max(last_, arrival_of(next_));
      if (const uint32_t before = place_of_[next_]; before != kNone) {
        const std::optional<uint64_t> left = start(before);
        if (!left) return;
        time = std::max(time, *left);
      }
      times_[next_] = last_ = time;
      out(next_++);
    }
  }
  // When the next piece of code is asked for; nothing while the buffer has no room for it, or it is all
  // there.
  std::optional<uint64_t> next_request() const;
  // Bytes of that piece.
  uint64_t request_bytes() const;
  // It is in the buffer.
  void arrived(uint64_t asked, uint64_t time);

 private:
  static constexpr uint32_t kNone = 0xffffffffu;

  uint64_t piece() const { return buffer_ / 4; }
  bool here(uint32_t i) const { return buffer_ == 0 || ends_[i] <= pieces_.size() * piece(); }
  uint64_t arrival_of(uint32_t i) const { return buffer_ == 0 ? 0 : pieces_[(ends_[i] - 1) / piece()]; }

  std::span<const isa::Instruction> program_;
  uint64_t buffer_;
  std::vector<uint64_t> ends_;      // of the encodings, from the section's begin
  std::vector<uint32_t> place_of_;  // the instruction whose start makes room for it in its queue
  std::vector<uint64_t> times_;     // when each was handed out
  uint32_t next_ = 0;               // to be handed out
  uint64_t last_ = 0;               // when the one before was
  std::vector<uint64_t> pieces_;    // when each was there
  uint64_t asked_ = 0;              // for the last one
};

}  // namespace mrvlc::cost

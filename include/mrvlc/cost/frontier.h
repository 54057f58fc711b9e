// How far each queue has come, and which of them can go on: the order that queues and waits impose on a
// program, and nothing more. The timing model and the parallel execution both follow it.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "mrvlc/cost/queues.h"

namespace mrvlc::cost {

class Frontier {
 public:
  explicit Frontier(std::span<const isa::Instruction> program) : program_(program) {
    for (uint32_t i = 0; i < program.size(); ++i) queues_[queue_of(program[i])].program.push_back(i);
  }

  // The instructions of a queue, in order, and how many are completed.
  const std::vector<uint32_t>& program(size_t queue) const { return queues_[queue].program; }
  size_t completed(size_t queue) const { return queues_[queue].completed; }
  bool finished(size_t queue) const { return completed(queue) == program(queue).size(); }
  // Of a queue that is not finished.
  uint32_t next(size_t queue) const { return program(queue)[completed(queue)]; }

  // ready(queue) is called once for each instruction, when it is the next of its queue and its waits are met:
  // by begin() for those that wait for nothing, by complete() for those that waited for this completion.
  template <class F>
  void begin(F ready) {
    for (size_t q = 0; q < kAllQueues; ++q) look_at(q, ready);
  }
  template <class F>
  void complete(size_t queue, F ready) {
    Queue& done = queues_[queue];
    ++done.completed;
    for (size_t k = 0; k < done.blocked.size();) {
      auto [other, count] = done.blocked[k];
      if (count > done.completed) {
        ++k;
        continue;
      }
      done.blocked[k] = done.blocked.back();
      done.blocked.pop_back();
      look_at(other, ready);
    }
    look_at(queue, ready);
  }

 private:
  struct Queue {
    std::vector<uint32_t> program;
    size_t completed = 0;
    std::vector<std::pair<size_t, uint32_t>> blocked;  // queues that wait for so many completions of this one
  };

  // Reports the queue, or leaves word with the first of those that its next instruction still waits for.
  template <class F>
  void look_at(size_t queue, F& ready) {
    if (finished(queue)) return;
    for (const isa::Wait& w : program_[next(queue)].waits) {
      Queue& other = queues_[queue_index(w.tile, w.queue)];
      if (w.count > other.completed) return other.blocked.push_back({queue, w.count});
    }
    ready(queue);
  }

  std::span<const isa::Instruction> program_;
  std::array<Queue, kAllQueues> queues_;
};

}  // namespace mrvlc::cost

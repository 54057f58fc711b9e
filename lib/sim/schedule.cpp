#include "schedule.h"

#include <algorithm>
#include <optional>

#include "mrvlc/sim/cost.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/sim.h"
#include "timeline.h"

namespace mrvlc::sim {
namespace {

constexpr size_t kAllQueues = isa::kMaxTiles * isa::kQueues;

size_t queue_index(uint8_t tile, isa::Queue queue) {
  return size_t{tile} * isa::kQueues + static_cast<size_t>(queue);
}

class Scheduler {
 public:
  Scheduler(const std::vector<isa::Instruction>& program, const target::Machine& machine)
      : program_(program),
        m_(machine),
        read_port_(isa::kMaxTiles, Timeline(machine.ocm_read_bytes)),
        write_port_(isa::kMaxTiles, Timeline(machine.ocm_write_bytes)),
        link_(isa::kMaxTiles, Timeline(machine.tile_link_bytes)) {
    result_.slots.resize(program.size());
    for (uint32_t i = 0; i < program.size(); ++i)
      queues_[queue_index(program[i].tile, program[i].queue)].program.push_back(i);
  }

  Result<Schedule> run(const char* section) {
    for (size_t done = 0; done < program_.size(); ++done) {
      size_t next = earliest();
      if (next == kAllQueues) return deadlock(section);
      issue(queues_[next]);
    }
    result_.order = result_.issued;
    std::ranges::sort(result_.order, {}, [&](uint32_t i) { return std::pair(result_.slots[i].start, i); });
    return std::move(result_);
  }

 private:
  struct Queue {
    std::vector<uint32_t> program;
    std::vector<uint64_t> ends;     // completion times: its semaphore reaches n at ends[n - 1]
    uint64_t free = 0;              // its engine takes the next instruction
    std::optional<uint64_t> start;  // of the next instruction, once all it waits for is known
  };

  // The queue whose next instruction starts first. An instruction whose waits are not known yet cannot start
  // before any that is, because what it waits for has still to start.
  size_t earliest() {
    size_t best = kAllQueues;
    for (size_t q = 0; q < kAllQueues; ++q) {
      Queue& queue = queues_[q];
      if (queue.ends.size() == queue.program.size()) continue;
      if (!queue.start) queue.start = start_of(queue);
      if (queue.start && (best == kAllQueues || *queue.start < *queues_[best].start)) best = q;
    }
    return best;
  }

  std::optional<uint64_t> start_of(const Queue& queue) const {
    uint64_t start = queue.free;
    for (const isa::Wait& w : program_[queue.program[queue.ends.size()]].waits) {
      const auto& ends = queues_[queue_index(w.tile, w.queue)].ends;
      if (w.count > ends.size()) return std::nullopt;
      if (w.count > 0) start = std::max(start, ends[w.count - 1]);
    }
    return start;
  }

  void issue(Queue& queue) {
    uint32_t index = queue.program[queue.ends.size()];
    const isa::Instruction& instruction = program_[index];
    Cost cost = cost_of(instruction, m_);
    uint64_t start = *queue.start;
    queue.start.reset();
    Slot& slot = result_.slots[index];
    slot = {queue.free, start, 0, cost.macs, cost.ddr_read_bytes, cost.ddr_write_bytes};
    bool pipelined = instruction.queue == isa::Queue::DmaIn || instruction.queue == isa::Queue::DmaOut;
    uint64_t moved = pipelined ? copy(cost, instruction.tile, start) : compute(cost, instruction.tile, start);
    slot.end = moved + m_.instruction_overhead;
    if (cost.ddr_read_bytes + cost.ddr_write_bytes > 0) slot.end += m_.ddr_latency;
    if (!queue.ends.empty()) slot.end = std::max(slot.end, queue.ends.back());
    queue.free = pipelined ? moved : slot.end;
    queue.ends.push_back(slot.end);
    result_.issued.push_back(index);
    result_.cycles = std::max(result_.cycles, slot.end);
  }

  // POD and PE: the engine's own time, or longer when the ports of its tile are busy.
  uint64_t compute(const Cost& cost, uint8_t tile, uint64_t start) {
    uint64_t read = read_port_[tile].reserve(start, start, cost.read_bytes, cost.engine_cycles);
    uint64_t write = write_port_[tile].reserve(start, start, cost.write_bytes, cost.engine_cycles);
    return std::max({start + cost.engine_cycles, read, write});
  }

  // When the last byte has left the slowest path. The DDR channel serves whole transfers in order of their
  // start.
  uint64_t copy(const Cost& cost, uint8_t tile, uint64_t start) {
    uint64_t begin = start;
    if (cost.ddr_read_bytes + cost.ddr_write_bytes > 0) {
      begin = std::max(start, ddr_free_);
      ddr_free_ = begin + cost.engine_cycles;
    }
    uint64_t moved = begin + cost.engine_cycles;
    moved = std::max(moved, read_port_[tile].reserve(start, begin, cost.read_bytes, cost.engine_cycles));
    for (size_t t = 0; t < isa::kMaxTiles; ++t) {
      if ((cost.link_tiles >> t & 1) == 0) continue;
      moved = std::max(moved, link_[t].reserve(start, begin, cost.write_bytes, cost.engine_cycles));
      moved = std::max(moved, write_port_[t].reserve(start, begin, cost.write_bytes, cost.engine_cycles));
    }
    return moved;
  }

  Diag deadlock(const char* section) const {
    for (const Queue& queue : queues_) {
      if (queue.ends.size() == queue.program.size()) continue;
      uint32_t index = queue.program[queue.ends.size()];
      for (const isa::Wait& w : program_[index].waits) {
        size_t done = queues_[queue_index(w.tile, w.queue)].ends.size();
        if (w.count <= done) continue;
        constexpr const char* kNames[] = {"dmain", "dmaout", "pod", "pe"};
        return make_diag<DiagCode::MRV0705>(
            section, fmt::format("instruction {} waits for {} completions of t{}.{}, which stops at {}",
                                 index, w.count, w.tile, kNames[static_cast<size_t>(w.queue)], done));
      }
    }
    return make_diag<DiagCode::MRV0007>("a section stopped without a wait that is not met");
  }

  const std::vector<isa::Instruction>& program_;
  const target::Machine& m_;
  std::vector<Timeline> read_port_, write_port_, link_;
  std::array<Queue, kAllQueues> queues_;
  uint64_t ddr_free_ = 0;
  Schedule result_;
};

}  // namespace

Result<Schedule> schedule(const std::vector<isa::Instruction>& program, const target::Machine& machine,
                          const char* section) {
  return Scheduler(program, machine).run(section);
}

}  // namespace mrvlc::sim

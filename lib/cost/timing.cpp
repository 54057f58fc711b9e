// Queues, engines, the DDR channel and the paths into memories, event by event.
#include "mrvlc/cost/timing.h"

#include <algorithm>
#include <queue>

#include "fetch.h"
#include "mrvlc/cost/cost.h"
#include "mrvlc/cost/frontier.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/sim.h"
#include "timeline.h"

namespace mrvlc::cost {
namespace {

constexpr const char* kSectionNames[] = {"init", "main", "finish"};

class Scheduler {
 public:
  Scheduler(std::span<const isa::Instruction> program, const target::Machine& machine, Section section,
            std::span<const uint32_t> sizes)
      : program_(program),
        m_(machine),
        section_(section),
        frontier_(program),
        fetch_(program, machine, sizes),
        read_port_(isa::kMaxTiles, Timeline(machine.ocm_read_bytes)),
        write_port_(isa::kMaxTiles, Timeline(machine.ocm_write_bytes)),
        link_(isa::kMaxTiles, Timeline(machine.tile_link_bytes)) {
    result_.events.resize(program.size());
    result_.issued.reserve(program.size());
    issued_.resize(program.size());
  }

  // Of the instructions whose start is known, the one that starts first: what waits for others cannot start
  // before any of those, because what it waits for has still to start.
  Result<Timing> run() {
    auto ready = [this](size_t queue) {
      queues_[queue].ready = true;
      consider(queue);
    };
    frontier_.begin(ready);
    hand_out();
    for (size_t done = 0; done < program_.size();) {
      if (startable_.empty()) return deadlock();
      const auto [time, who] = startable_.top();
      startable_.pop();
      if (who == kFetchUnit) {
        read_code(time);
      } else {
        const size_t queue = who - 1;
        queues_[queue].ready = false;
        issue(queue);
        frontier_.complete(queue, ready);
        ++done;
      }
      hand_out();
    }
    return std::move(result_);
  }

 private:
  struct Queue {
    uint64_t free = 0;      // its engine takes the next instruction
    uint64_t last_end = 0;  // of the instruction before
    bool ready = false;     // the waits of its next instruction are met
  };

  void consider(size_t queue) {
    if (!queues_[queue].ready) return;
    const std::optional<uint64_t> there = fetch_.handed_out(frontier_.next(queue));
    if (there) startable_.push({start(queue, *there), queue + 1});
  }

  // What has room in its queue now, and the next piece of code if that has room in the buffer.
  void hand_out() {
    fetch_.advance(
        [this](uint32_t i) { return issued_[i] ? std::optional(result_.events[i].start) : std::nullopt; },
        [this](uint32_t i) {
          const size_t queue = queue_of(program_[i]);
          if (frontier_.next(queue) == i) consider(queue);
        });
    if (requested_) return;
    const std::optional<uint64_t> request = fetch_.next_request();
    if (!request) return;
    startable_.push({*request, kFetchUnit});
    requested_ = true;
  }

  void read_code(uint64_t asked) {
    const uint64_t bytes = (fetch_.request_bytes() + m_.ddr_burst - 1) / m_.ddr_burst * m_.ddr_burst;
    ddr_free_ = std::max(ddr_free_, asked) + m_.ddr_cycles(bytes);
    fetch_.arrived(asked, ddr_free_ + m_.ddr_latency);
    result_.fetched_bytes += bytes;
    requested_ = false;
  }

  // Of the next instruction of a queue, and what decides it: known since all it waits for has ended.
  uint64_t start(size_t queue, uint64_t handed_out) {
    Event& e = result_.events[frontier_.next(queue)];
    size_t done = frontier_.completed(queue);
    e.ready = e.met = queues_[queue].free;
    e.cause = done == 0 ? kNoInstruction : frontier_.program(queue)[done - 1];
    for (const isa::Wait& w : program_[frontier_.next(queue)].waits) {
      if (w.count == 0) continue;
      const size_t from = queue_index(w.tile, w.queue);
      const Event& other = result_.events[frontier_.program(from)[w.count - 1]];
      const uint64_t seen = other.end + (from == queue ? 0 : m_.sync_latency);
      if (seen > e.met) e.met = seen, e.cause = other.instruction;
    }
    e.start = std::max(e.met, handed_out);
    return e.start;
  }

  void issue(size_t index) {
    Queue& queue = queues_[index];
    uint32_t number = frontier_.next(index);
    const isa::Instruction& instruction = program_[number];
    Cost cost = cost_of(instruction, m_);
    Event& e = result_.events[number];
    e.section = section_, e.queue = instruction.queue, e.tile = instruction.tile, e.instruction = number;
    e.begin = e.channel = e.start;
    e.macs = cost.macs, e.integer_macs = cost.integers ? cost.macs : 0,
    e.ddr_read_bytes = cost.ddr_read_bytes, e.ddr_write_bytes = cost.ddr_write_bytes;
    bool pipelined = instruction.queue == isa::Queue::DmaIn || instruction.queue == isa::Queue::DmaOut;
    bool ddr = cost.ddr_read_bytes + cost.ddr_write_bytes > 0;
    pipelined ? copy(cost, ddr, e) : compute(cost, e);
    if (e.moved == e.begin) e.bound = Bound::Wait;
    e.end = e.moved + m_.instruction_overhead + (ddr ? m_.ddr_latency : 0);
    e.held = queue.last_end > e.end;
    queue.last_end = e.end = std::max(e.end, queue.last_end);
    queue.free = pipelined ? e.moved : e.end;
    issued_[number] = true;
    result_.issued.push_back(number);
    result_.cycles = std::max(result_.cycles, e.end);
  }

  // POD and PE: the engine's own time, or longer when the ports of its tile are busy.
  void compute(const Cost& cost, Event& e) {
    uint64_t read = read_port_[e.tile].reserve(e.start, e.start, cost.read_bytes, cost.engine_cycles);
    uint64_t write = write_port_[e.tile].reserve(e.start, e.start, cost.write_bytes, cost.engine_cycles);
    uint64_t own = e.start + cost.engine_cycles;
    e.moved = std::max({own, read, write});
    e.bound = e.moved > own ? Bound::Port : e.queue == isa::Queue::Pod ? Bound::Matrix : Bound::Vector;
  }

  // Until the last byte has left the slowest path. The DDR channel serves whole transfers in order of their
  // start.
  void copy(const Cost& cost, bool ddr, Event& e) {
    if (ddr) {
      e.begin = std::max(e.start, ddr_free_);
      e.behind = copies_end_ > e.start;
      if (e.behind) e.cause = ddr_last_;
      e.channel = ddr_free_ = copies_end_ = e.begin + cost.engine_cycles;
      ddr_last_ = e.instruction;
    }
    uint64_t own = e.begin + cost.engine_cycles;
    e.moved = own;
    auto pass = [&](Timeline& path, uint64_t bytes) {
      e.moved = std::max(e.moved, path.reserve(e.start, e.begin, bytes, cost.engine_cycles));
    };
    pass(read_port_[e.tile], cost.read_bytes);
    for (size_t t = 0; t < isa::kMaxTiles; ++t) {
      if ((cost.link_tiles >> t & 1) == 0) continue;
      pass(link_[t], cost.write_bytes);
      pass(write_port_[t], cost.write_bytes);
    }
    e.bound = ddr && e.moved == own ? Bound::Ddr : Bound::Port;
  }

  Diag deadlock() const {
    for (size_t q = 0; q < kAllQueues; ++q) {
      if (frontier_.finished(q)) continue;
      uint32_t index = frontier_.next(q);
      for (const isa::Wait& w : program_[index].waits) {
        size_t done = frontier_.completed(queue_index(w.tile, w.queue));
        if (w.count <= done) continue;
        constexpr const char* kNames[] = {"dmain", "dmaout", "pod", "pe"};
        return make_diag<DiagCode::MRV0705>(
            kSectionNames[static_cast<size_t>(section_)],
            fmt::format("instruction {} waits for {} completions of t{}.{}, which stops at {}", index,
                        w.count, w.tile, kNames[static_cast<size_t>(w.queue)], done));
      }
    }
    return make_diag<DiagCode::MRV0007>("a section stopped without a wait that is not met");
  }

  // Start, queue + 1: the earliest first, then the fetch unit, then the lowest queue.
  using Candidate = std::pair<uint64_t, size_t>;
  static constexpr size_t kFetchUnit = 0;

  std::span<const isa::Instruction> program_;
  const target::Machine& m_;
  Section section_;
  Frontier frontier_;
  Fetch fetch_;
  bool requested_ = false;    // a piece of code is among the startable
  std::vector<bool> issued_;  // by instruction
  std::vector<Timeline> read_port_, write_port_, link_;
  std::array<Queue, kAllQueues> queues_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> startable_;
  uint64_t ddr_free_ = 0, copies_end_ = 0;  // of the channel: of all, of copies
  uint32_t ddr_last_ = kNoInstruction;      // the copy that has or had the channel
  Timing result_;
};

}  // namespace

Result<Timing> time_program(std::span<const isa::Instruction> program, const target::Machine& machine,
                            Section section, isa::Encoding encoding) {
  std::vector<uint32_t> sizes;
  if (machine.fetch_buffer != 0) sizes = isa::code_sizes(program, encoding);
  return Scheduler(program, machine, section, sizes).run();
}

std::vector<uint32_t> by_start(const Timing& timing) {
  std::vector<uint32_t> order = timing.issued;
  std::ranges::sort(order, {}, [&](uint32_t i) { return std::pair(timing.events[i].start, i); });
  return order;
}

}  // namespace mrvlc::cost

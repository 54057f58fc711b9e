// Start times, raised until every constraint on the order goes from an earlier time to a later one.
#include "code/interleave.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mrvlc/cost/queues.h"
#include "mrvlc/cost/timing.h"

namespace mrvlc::accel {
namespace {

// On-chip memory in stretches: the latest time at which an item that is gone worked on each.
class Leavers {
 public:
  explicit Leavers(const target::Machine& m)
      : bytes_(std::max<int64_t>(m.ocm_alignment, (m.ocm_bytes + kMost - 1) / kMost)),
        times_(static_cast<size_t>((m.ocm_bytes + bytes_ - 1) / bytes_)) {}

  uint64_t latest(const Item& item) const {
    uint64_t time = 0;
    for (size_t k = first(item); k < end(item); ++k) time = std::max(time, times_[k]);
    return time;
  }
  void leave(const Item& item, uint64_t time) {
    for (size_t k = first(item); k < end(item); ++k) times_[k] = std::max(times_[k], time);
  }

 private:
  static constexpr int64_t kMost = 8192;
  size_t first(const Item& i) const { return static_cast<size_t>(i.address / bytes_); }
  size_t end(const Item& i) const {
    return std::min(times_.size(), static_cast<size_t>((i.address + i.bytes + bytes_ - 1) / bytes_));
  }
  int64_t bytes_;
  std::vector<uint64_t> times_;
};

class Interleaving {
 public:
  Interleaving(const Draft& draft, const std::vector<uint64_t>& starts, const target::Machine& machine)
      : d_(draft), times_(starts), leavers_(machine), items_(draft.items.size()) {
    for (const auto& [instruction, item] : d_.uses) items_[item].last = instruction;
  }

  std::vector<uint32_t> run() {
    for (uint32_t i = 0; i < times_.size(); ++i) {
      const isa::Instruction& instruction = d_.instructions[i];
      raise(times_[i], instruction);
      const size_t first_use = use_;
      for (; use_ < d_.uses.size() && d_.uses[use_].first == i; ++use_)
        enter(d_.uses[use_].second, times_[i]);
      for (size_t u = first_use; u < use_; ++u) leave(d_.uses[u].second, i);
      queues_[cost::queue_of(instruction)].push_back(i);
    }
    std::vector<uint32_t> order(times_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [this](uint32_t i) { return times_[i]; });
    return order;
  }

 private:
  struct Held {
    bool entered = false;
    uint32_t last = 0;               // instruction that works on it
    uint64_t since = 0, latest = 0;  // times of its instructions
  };

  // Not before its queue's instruction before, nor before what it waits for.
  void raise(uint64_t& time, const isa::Instruction& instruction) const {
    const auto& queue = queues_[cost::queue_of(instruction)];
    if (!queue.empty()) time = std::max(time, times_[queue.back()]);
    for (const isa::Wait& w : instruction.waits)
      if (w.count > 0)
        time = std::max(time, times_[queues_[cost::queue_index(w.tile, w.queue)][w.count - 1]]);
  }

  void enter(uint32_t index, uint64_t& time) {
    if (d_.items[index].pinned) return;
    Held& held = items_[index];
    if (!held.entered) held.since = leavers_.latest(d_.items[index]);
    held.entered = true;
    time = std::max(time, held.since);
  }

  void leave(uint32_t index, uint32_t instruction) {
    if (d_.items[index].pinned) return;
    Held& held = items_[index];
    held.latest = std::max(held.latest, times_[instruction]);
    if (held.last == instruction) leavers_.leave(d_.items[index], held.latest);
  }

  const Draft& d_;
  std::vector<uint64_t> times_;  // by instruction
  Leavers leavers_;
  std::vector<Held> items_;
  std::array<std::vector<uint32_t>, cost::kAllQueues> queues_;
  size_t use_ = 0;
};

using Machines = std::vector<target::Machine>;

Result<double> cycles_of(const std::vector<isa::Instruction>& program, const Machines& machines) {
  double product = 1;
  for (const target::Machine& m : machines) {
    MRVLC_ASSIGN(const cost::Timing timing, cost::time_program(program, m));
    product *= static_cast<double>(timing.cycles);
  }
  return machines.size() == 1 ? product : std::sqrt(product);
}

// Of each instruction, where all are in their queues from the begin on.
Result<cost::Timing> endless(const Draft& draft, target::Machine machine) {
  machine.queue_depth = machine.fetch_buffer = 0;
  return cost::time_program(draft.instructions, machine);
}

}  // namespace

Result<Ordered> best_order(const Draft& draft, const Machines& machines) {
  Ordered best;
  MRVLC_ASSIGN(best.cycles, cycles_of(draft.instructions, machines));
  for (const target::Machine& m : machines) {
    MRVLC_ASSIGN(const cost::Timing timing, endless(draft, m));
    std::vector<uint64_t> starts;
    for (const cost::Event& e : timing.events) starts.push_back(e.start);
    std::vector<uint32_t> order = interleaved(draft, starts, m);
    MRVLC_ASSIGN(const double cycles, cycles_of(in_order(std::vector(draft.instructions), order), machines));
    if (cycles < best.cycles) best = {cycles, std::move(order)};
  }
  return best;
}

std::vector<uint32_t> interleaved(const Draft& draft, const std::vector<uint64_t>& starts,
                                  const target::Machine& machine) {
  return Interleaving(draft, starts, machine).run();
}

}  // namespace mrvlc::accel

// Which PE computes a task, and where in its memory things lie.
#include <algorithm>
#include <numeric>

#include "mrvlc/support/diag/mesh.h"
#include "plan/planner.h"
#include "plan/route.h"

namespace mrvlc::mesh {
namespace {

// What alignment of the four groups of memory may add.
constexpr int64_t kAlignment = 32;

int64_t bytes_of(const NetworkOf& network, const Task& task) {
  int64_t sum = 0;
  for (const Field& f : fields_of(network, task, "")) sum += f.size();
  return sum;
}

struct Load {
  int64_t cycles = 0, bytes = kAlignment;
};

// PEs of chips in the order of their numbers, as far as the host reaches them.
std::vector<PlannedPe> pes_of(const Working& working, const Routes& routes) {
  std::vector<PlannedPe> pes;
  for (uint32_t chip = 0; chip < working.chips.size(); ++chip)
    if (routes.reaches(chip))
      for (const uint32_t core : working.cores[chip]) pes.push_back({.chip = chip, .core = core});
  return pes;
}

class Assigner {
 public:
  Assigner(const NetworkOf& network, const Machine& machine, size_t pes)
      : n_(network),
        m_(machine),
        room_(machine.pe.sram_bytes.value - machine.pe.code_bytes.value),
        loads_(pes) {}

  Status run(std::vector<Task>& tasks) {
    for (const Task& t : tasks) bytes_.push_back(bytes_of(n_, t)), total_ += bytes_.back();
    if (tasks.size() <= loads_.size()) {
      // Neighbours in the network are neighbours on the mesh.
      for (size_t i = 0; i < tasks.size(); ++i)
        if (!give(tasks, i, i)) return too_large(tasks.size());
      return {};
    }
    for (const size_t i : longest_first(tasks))
      if (!give(tasks, i, least_loaded(bytes_[i]))) return too_large(tasks.size());
    return {};
  }

 private:
  std::vector<size_t> longest_first(const std::vector<Task>& tasks) {
    for (const Task& t : tasks) cycles_.push_back(cycles_of(n_, n_.layers[t.layer], m_, t.box));
    std::vector<size_t> order(tasks.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](size_t i) { return std::pair(bytes_[i] * 4 > room_, cycles_[i]); });
    return order;
  }
  size_t least_loaded(int64_t bytes) const {
    size_t best = loads_.size();
    for (size_t p = 0; p < loads_.size(); ++p) {
      if (loads_[p].bytes + bytes > room_) continue;
      if (best == loads_.size() || loads_[p].cycles < loads_[best].cycles) best = p;
    }
    return best;
  }
  bool give(std::vector<Task>& tasks, size_t i, size_t pe) {
    if (pe >= loads_.size() || loads_[pe].bytes + bytes_[i] > room_) return false;
    loads_[pe].bytes += bytes_[i];
    if (!cycles_.empty()) loads_[pe].cycles += cycles_[i];
    tasks[i].pe = static_cast<uint32_t>(pe);
    return true;
  }
  Status too_large(size_t parts) const {
    return make_diag<DiagCode::MRV1305>(total_, parts, loads_.size(),
                                        room_ * static_cast<int64_t>(loads_.size()));
  }

  const NetworkOf& n_;
  const Machine& m_;
  int64_t room_ = 0, total_ = 0;
  std::vector<Load> loads_;
  std::vector<int64_t> bytes_, cycles_;
};

// PEs without a task are not part of the plan.
void drop_idle(std::vector<Task>& tasks, std::vector<PlannedPe>& pes) {
  std::vector<uint32_t> number(pes.size(), UINT32_MAX);
  for (const Task& t : tasks) number[t.pe] = 0;
  std::vector<PlannedPe> used;
  for (size_t p = 0; p < pes.size(); ++p)
    if (number[p] == 0) number[p] = static_cast<uint32_t>(used.size()), used.push_back(pes[p]);
  for (Task& t : tasks) t.pe = number[t.pe];
  pes = std::move(used);
}

}  // namespace

Status assign(const NetworkOf& network, const Machine& machine, const Working& working, const Routes& routes,
              std::vector<Task>& tasks, std::vector<PlannedPe>& pes) {
  pes = pes_of(working, routes);
  MRVLC_TRY(Assigner(network, machine, pes.size()).run(tasks));
  drop_idle(tasks, pes);
  return {};
}

}  // namespace mrvlc::mesh

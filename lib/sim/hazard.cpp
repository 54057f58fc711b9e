#include "hazard.h"

#include <algorithm>

#include "order.h"
#include "queues.h"
#include "touch.h"

namespace mrvlc::sim {
namespace {

constexpr uint32_t kNobody = 0xffffffffu;

// For each granule, who touched it last: one entry for the writer, then one for each queue that can read this
// memory (OCM: DMA out, POD and PE of its tile; DDR: DMA in of every tile). One entry a queue is exact
// because a queue keeps its order.
struct Memory {
  std::string name;  // as diagnostics call it
  uint64_t begin = 0;
  size_t entries = 0;  // of a granule
  std::vector<uint32_t> last;
  size_t granules() const { return last.size() / entries; }
};

// Which completions an instruction knows of when it starts, by way of waits: a count for each queue.
using Clock = std::array<uint32_t, kAllQueues>;

void join(Clock& into, const Clock& from) {
  for (size_t q = 0; q < kAllQueues; ++q) into[q] = std::max(into[q], from[q]);
}

std::vector<Clock> clocks(const std::vector<isa::Instruction>& program, const Timing& timing) {
  std::array<std::vector<uint32_t>, kAllQueues> queues;
  for (uint32_t i = 0; i < program.size(); ++i) queues[queue_of(program[i])].push_back(i);
  std::vector<Clock> clock(program.size(), Clock{});
  std::array<uint32_t, kAllQueues> started{};
  for (uint32_t i : timing.issued) {
    size_t own = queue_of(program[i]);
    if (started[own] > 0) join(clock[i], clock[queues[own][started[own] - 1]]);
    ++started[own];
    for (const isa::Wait& w : program[i].waits) {
      if (w.count == 0) continue;
      size_t q = queue_index(w.tile, w.queue);
      join(clock[i], clock[queues[q][w.count - 1]]);
      clock[i][q] = std::max(clock[i][q], w.count);
    }
  }
  return clock;
}

class Detector {
 public:
  Detector(const isa::Binary& b, const target::Machine& m, Section section,
           const std::vector<isa::Instruction>& program, const Timing& timing, std::vector<Hazard>& hazards)
      : program_(program),
        timing_(timing),
        section_(section),
        hazards_(hazards),
        clocks_(clocks(program, timing)),
        tiles_(b.tiles) {
    std::array<uint32_t, kAllQueues> count{};
    for (const isa::Instruction& i : program) position_.push_back(++count[queue_of(i)]);
    for (unsigned t = 0; t < b.tiles; ++t) add(fmt::format("OCM tile {}", t), 0, m.ocm_bytes, 4);
    add("DDR", b.ddr_input_begin, b.ddr_input_end, 1 + tiles_);
    add("DDR", b.ddr_output_begin, b.ddr_output_end, 1 + tiles_);
    add("DDR", b.ddr_scratch_begin, b.ddr_scratch_end, 1 + tiles_);
  }

  void run() {
    for (uint32_t i : by_start(timing_)) {
      each_touched(program_[i], [&](Region r, uint64_t begin, uint64_t end) { touch(i, r, begin, end); });
      if (hazards_.size() >= kMaxHazards) return;
    }
  }

 private:
  void add(std::string name, uint64_t begin, uint64_t end, size_t entries) {
    uint64_t first = begin / isa::kHazardGranule,
             last = (end + isa::kHazardGranule - 1) / isa::kHazardGranule;
    uint64_t granules = end > begin ? last - first : 0;
    memories_.push_back({std::move(name), first * isa::kHazardGranule, entries,
                         std::vector<uint32_t>(granules * entries, kNobody)});
  }

  // Null for the weights, which nothing writes.
  Memory* find(Region r, uint64_t begin) {
    if (r.space == isa::Space::Ocm) return &memories_[r.tile];
    for (size_t m = tiles_; m < memories_.size(); ++m)
      if (begin >= memories_[m].begin &&
          (begin - memories_[m].begin) / isa::kHazardGranule < memories_[m].granules())
        return &memories_[m];
    return nullptr;
  }

  void touch(uint32_t i, Region r, uint64_t begin, uint64_t end) {
    Memory* memory = find(r, begin);
    if (memory == nullptr || begin >= end) return;
    size_t entries = memory->entries;
    size_t reader =
        r.space == isa::Space::Ocm ? static_cast<size_t>(program_[i].queue) : size_t{program_[i].tile} + 1;
    size_t first = (begin - memory->begin) / isa::kHazardGranule,
           last = (end - 1 - memory->begin) / isa::kHazardGranule;
    for (size_t g = first; g <= last; ++g) {
      uint32_t* who = memory->last.data() + g * entries;
      if (conflicts(i, who[0])) report(i, who[0], r.write, 0, *memory, g, last);
      if (r.write) {
        for (size_t e = 1; e < entries; ++e)
          if (conflicts(i, who[e])) report(i, who[e], true, e, *memory, g, last);
        who[0] = i;
      } else {
        who[reader] = i;
      }
    }
  }

  // `other` has started no later than i. The pair is in order if it comes first in the program, and i started
  // knowing that it had completed; that time happened to keep the order is not enough.
  bool conflicts(uint32_t i, uint32_t other) const {
    if (other == kNobody || other == i) return false;
    const isa::Instruction& o = program_[other];
    size_t queue = queue_of(o);
    if (queue == queue_of(program_[i])) return false;
    return other > i || clocks_[i][queue] < position_[other];
  }

  // Entry `e` of granules g and on, up to `last`, is `other`.
  void report(uint32_t i, uint32_t other, bool write, size_t e, const Memory& memory, size_t g, size_t last) {
    uint32_t first = std::min(i, other), second = std::max(i, other);
    auto same = [&](const Hazard& h) {
      return h.section == section_ && h.first == first && h.second == second;
    };
    if (hazards_.size() >= kMaxHazards || std::ranges::any_of(hazards_, same)) return;
    size_t past = g;
    while (past <= last && memory.last[past * memory.entries + e] == other) ++past;
    std::string what = fmt::format(
        "{} {} [{:#x}, {:#x}) {} instruction {} has {} it", write ? "write to" : "read of", memory.name,
        memory.begin + g * isa::kHazardGranule, memory.begin + past * isa::kHazardGranule,
        other < i ? "before" : "after", other, e == 0 ? "written" : "read");
    hazards_.push_back({section_, first, second, std::move(what)});
  }

  const std::vector<isa::Instruction>& program_;
  const Timing& timing_;
  Section section_;
  std::vector<Hazard>& hazards_;
  std::vector<Clock> clocks_;
  std::vector<uint32_t> position_;  // of an instruction in its queue, from 1
  std::vector<Memory> memories_;    // tiles, then DDR ranges
  size_t tiles_ = 0;
};

}  // namespace

void find_hazards(const isa::Binary& binary, const target::Machine& machine, Section section,
                  const std::vector<isa::Instruction>& program, const Timing& timing,
                  std::vector<Hazard>& hazards) {
  Detector(binary, machine, section, program, timing, hazards).run();
}

}  // namespace mrvlc::sim

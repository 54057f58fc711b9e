// Who touched each granule of memory last, and vector clocks of completions known through waits.
#include "hazard.h"

#include <algorithm>

#include "mrvlc/cost/queues.h"
#include "mrvlc/cost/timing.h"
#include "touch.h"

namespace mrvlc::sim {
using namespace cost;
namespace {

constexpr uint32_t kNobody = 0xffffffffu;

// Who touched each granule last: [0] by writing, then one for each queue that can read this memory (OCM: DMA
// out, POD and PE of its tile; DDR: DMA in of every tile). One for each queue is exact because a queue keeps
// its order.
// Kept for the stretches alone that somebody has touched: a large DDR range has several readers, each of a
// part.
struct Memory {
  std::string name;  // as diagnostics call it
  uint64_t begin = 0;
  size_t granules = 0;
  static constexpr size_t kStretch = size_t{1} << 14;    // granules
  using Stretches = std::vector<std::vector<uint32_t>>;  // an empty one: nobody yet
  std::vector<Stretches> last;

  std::vector<uint32_t>& stretch(size_t entry, size_t index) {
    std::vector<uint32_t>& s = last[entry][index];
    if (s.empty()) s.assign(std::min(kStretch, granules - index * kStretch), kNobody);
    return s;
  }
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

// The first of last[begin .. end) that is not `value`, or end. Neighbours have mostly been touched by the
// same instruction: most of the detector's time goes by here, so it looks at many at once.
size_t other_than(uint32_t value, const uint32_t* last, size_t begin, size_t end) {
  constexpr size_t kAtOnce = 16;
  for (; begin + kAtOnce <= end; begin += kAtOnce) {
    uint32_t difference = 0;
    for (size_t k = 0; k < kAtOnce; ++k) difference |= last[begin + k] ^ value;
    if (difference != 0) break;
  }
  while (begin < end && last[begin] == value) ++begin;
  return begin;
}

class Detector {
 public:
  Detector(const isa::Binary& b, Section section, const std::vector<isa::Instruction>& program,
           const Timing& timing, std::vector<Hazard>& hazards)
      : program_(program),
        timing_(timing),
        section_(section),
        hazards_(hazards),
        clocks_(clocks(program, timing)),
        tiles_(b.tiles) {
    std::array<uint32_t, kAllQueues> count{};
    for (const isa::Instruction& i : program) {
      queue_.push_back(static_cast<uint8_t>(queue_of(i)));
      position_.push_back(++count[queue_of(i)]);
    }
    for (unsigned t = 0; t < b.tiles; ++t) add(fmt::format("OCM tile {}", t), 0, b.ocm_bytes, 4);
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
    size_t stretches = (granules + Memory::kStretch - 1) / Memory::kStretch;
    memories_.push_back({std::move(name), first * isa::kHazardGranule, granules,
                         std::vector(entries, Memory::Stretches(stretches))});
  }

  // Null for the weights, which nothing writes.
  Memory* find(Region r, uint64_t begin) {
    if (r.space == isa::Space::Ocm) return &memories_[r.tile];
    for (size_t m = tiles_; m < memories_.size(); ++m)
      if (begin >= memories_[m].begin &&
          (begin - memories_[m].begin) / isa::kHazardGranule < memories_[m].granules)
        return &memories_[m];
    return nullptr;
  }

  void touch(uint32_t i, Region r, uint64_t begin, uint64_t end) {
    Memory* memory = find(r, begin);
    if (memory == nullptr || begin >= end) return;
    size_t reader =
        r.space == isa::Space::Ocm ? static_cast<size_t>(program_[i].queue) : size_t{program_[i].tile} + 1;
    size_t first = (begin - memory->begin) / isa::kHazardGranule,
           past = (end - 1 - memory->begin) / isa::kHazardGranule + 1;
    for (size_t at = first; at < past;) {
      size_t index = at / Memory::kStretch, from = index * Memory::kStretch;
      size_t stop = std::min(past, from + Memory::kStretch);
      for (size_t e = 0; e < (r.write ? memory->last.size() : 1); ++e)
        check(i, r.write, e, *memory, at, stop);
      std::vector<uint32_t>& mine = memory->stretch(r.write ? 0 : reader, index);
      std::fill(mine.begin() + static_cast<std::ptrdiff_t>(at - from),
                mine.begin() + static_cast<std::ptrdiff_t>(stop - from), i);
      at = stop;
    }
  }

  // Granules of one stretch.
  void check(uint32_t i, bool write, size_t e, const Memory& memory, size_t first, size_t past) {
    size_t index = first / Memory::kStretch, from = index * Memory::kStretch;
    const std::vector<uint32_t>& stretch = memory.last[e][index];
    if (stretch.empty()) return;
    const uint32_t* last = stretch.data();
    uint32_t harmless = kNobody;
    for (size_t g = first - from; (g = other_than(harmless, last, g, past - from)) < past - from; ++g) {
      if (conflicts(i, last[g])) report(i, last[g], write, e, memory, from + g, past);
      harmless = last[g];
    }
  }

  // `other` has started no later than i. The pair is in order if it comes first in the program, and i started
  // knowing that it had completed; that time happened to keep the order is not enough.
  bool conflicts(uint32_t i, uint32_t other) const {
    if (other == kNobody || other == i || queue_[other] == queue_[i]) return false;
    return other > i || clocks_[i][queue_[other]] < position_[other];
  }

  // Entry `e` of granules g and on, up to `past`, is `other`.
  void report(uint32_t i, uint32_t other, bool write, size_t e, const Memory& memory, size_t g, size_t past) {
    uint32_t first = std::min(i, other), second = std::max(i, other);
    auto same = [&](const Hazard& h) {
      return h.section == section_ && h.first == first && h.second == second;
    };
    if (hazards_.size() >= kMaxHazards || std::ranges::any_of(hazards_, same)) return;
    size_t end = g;
    const std::vector<uint32_t>& stretch = memory.last[e][g / Memory::kStretch];
    while (end < past && stretch[end % Memory::kStretch] == other) ++end;
    std::string what = fmt::format(
        "{} {} [{:#x}, {:#x}) {} instruction {} has {} it", write ? "write to" : "read of", memory.name,
        memory.begin + g * isa::kHazardGranule, memory.begin + end * isa::kHazardGranule,
        other < i ? "before" : "after", other, e == 0 ? "written" : "read");
    hazards_.push_back({section_, first, second, std::move(what)});
  }

  const std::vector<isa::Instruction>& program_;
  const Timing& timing_;
  Section section_;
  std::vector<Hazard>& hazards_;
  std::vector<Clock> clocks_;
  std::vector<uint8_t> queue_;      // of an instruction
  std::vector<uint32_t> position_;  // and where it stands in it, from 1
  std::vector<Memory> memories_;    // tiles, then DDR ranges
  size_t tiles_ = 0;
};

}  // namespace

void find_hazards(const isa::Binary& binary, Section section, const std::vector<isa::Instruction>& program,
                  const Timing& timing, std::vector<Hazard>& hazards) {
  Detector(binary, section, program, timing, hazards).run();
}

}  // namespace mrvlc::sim

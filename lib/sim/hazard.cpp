#include "hazard.h"

#include <algorithm>

#include "touch.h"

namespace mrvlc::sim {
namespace {

constexpr uint32_t kNobody = 0xffffffffu;

// Who touched a granule. OCM: the last reader of each of the queues that read it (DMA out, POD, PE), exact
// because a queue keeps its order. DDR is read by many queues: the reader latest in program order and the one
// that ends last.
struct Granule {
  uint32_t writer = kNobody;
  std::array<uint32_t, 3> readers = {kNobody, kNobody, kNobody};
};

struct Memory {
  std::string name;  // as diagnostics call it
  uint64_t begin = 0;
  std::vector<Granule> granules;
};

class Detector {
 public:
  Detector(const isa::Binary& b, const target::Machine& m, Section section,
           const std::vector<isa::Instruction>& program, const Schedule& schedule,
           std::vector<Hazard>& hazards)
      : program_(program), schedule_(schedule), section_(section), hazards_(hazards) {
    for (unsigned t = 0; t < b.tiles; ++t) add(fmt::format("OCM tile {}", t), 0, m.ocm_bytes);
    tiles_ = b.tiles;
    add("DDR", b.ddr_input_begin, b.ddr_input_end);
    add("DDR", b.ddr_output_begin, b.ddr_output_end);
    add("DDR", b.ddr_scratch_begin, b.ddr_scratch_end);
  }

  void run() {
    for (uint32_t i : schedule_.order) {
      each_touched(program_[i], [&](Region r, uint64_t begin, uint64_t end) { touch(i, r, begin, end); });
      if (hazards_.size() >= kMaxHazards) return;
    }
  }

 private:
  void add(std::string name, uint64_t begin, uint64_t end) {
    uint64_t first = begin / isa::kHazardGranule,
             last = (end + isa::kHazardGranule - 1) / isa::kHazardGranule;
    memories_.push_back(
        {std::move(name), first * isa::kHazardGranule, std::vector<Granule>(end > begin ? last - first : 0)});
  }

  // Null for the weights, which nothing writes.
  Memory* find(Region r, uint64_t begin) {
    if (r.space == isa::Space::Ocm) return &memories_[r.tile];
    for (size_t m = tiles_; m < memories_.size(); ++m)
      if (begin >= memories_[m].begin &&
          (begin - memories_[m].begin) / isa::kHazardGranule < memories_[m].granules.size())
        return &memories_[m];
    return nullptr;
  }

  void touch(uint32_t i, Region r, uint64_t begin, uint64_t end) {
    Memory* memory = find(r, begin);
    if (memory == nullptr || begin >= end) return;
    Granule* first = memory->granules.data() + (begin - memory->begin) / isa::kHazardGranule;
    Granule* last = memory->granules.data() + (end - 1 - memory->begin) / isa::kHazardGranule;
    for (Granule* g = first; g <= last; ++g) {
      if (conflicts(i, g->writer)) report(i, g->writer, r.write, true, *memory, g, last);
      if (r.write) {
        for (uint32_t reader : g->readers)
          if (conflicts(i, reader)) report(i, reader, true, false, *memory, g, last);
        g->writer = i;
      } else {
        read(*g, i, r.space);
      }
    }
  }

  void read(Granule& g, uint32_t i, isa::Space space) {
    if (space == isa::Space::Ocm) {
      g.readers[static_cast<size_t>(program_[i].queue) - 1] = i;
      return;
    }
    if (g.readers[0] == kNobody || g.readers[0] < i) g.readers[0] = i;
    if (g.readers[1] == kNobody || end(g.readers[1]) < end(i)) g.readers[1] = i;
  }

  uint64_t end(uint32_t i) const { return schedule_.slots[i].end; }

  // `other` has started no later than i. The pair is in order if it comes first in the program and has ended.
  bool conflicts(uint32_t i, uint32_t other) const {
    if (other == kNobody || other == i) return false;
    if (other < i && end(other) <= schedule_.slots[i].start) return false;
    return program_[i].tile != program_[other].tile || program_[i].queue != program_[other].queue;
  }

  void report(uint32_t i, uint32_t other, bool write, bool other_write, const Memory& memory,
              const Granule* g, const Granule* last) {
    uint32_t first = std::min(i, other), second = std::max(i, other);
    auto same = [&](const Hazard& h) {
      return h.section == section_ && h.first == first && h.second == second;
    };
    if (hazards_.size() >= kMaxHazards || std::ranges::any_of(hazards_, same)) return;
    const Granule* past = g;
    auto involved = [&](const Granule& x) {
      return other_write ? x.writer == other : std::ranges::count(x.readers, other) > 0;
    };
    while (past <= last && involved(*past)) ++past;
    auto address = [&](const Granule* x) {
      return memory.begin + static_cast<uint64_t>(x - memory.granules.data()) * isa::kHazardGranule;
    };
    std::string what = fmt::format("{} {} [{:#x}, {:#x}) {} instruction {} has {} it",
                                   write ? "write to" : "read of", memory.name, address(g), address(past),
                                   other < i ? "before" : "after", other, other_write ? "written" : "read");
    hazards_.push_back({section_, first, second, std::move(what)});
  }

  const std::vector<isa::Instruction>& program_;
  const Schedule& schedule_;
  Section section_;
  std::vector<Hazard>& hazards_;
  std::vector<Memory> memories_;  // tiles, then DDR ranges
  size_t tiles_ = 0;
};

}  // namespace

void find_hazards(const isa::Binary& binary, const target::Machine& machine, Section section,
                  const std::vector<isa::Instruction>& program, const Schedule& schedule,
                  std::vector<Hazard>& hazards) {
  Detector(binary, machine, section, program, schedule, hazards).run();
}

}  // namespace mrvlc::sim

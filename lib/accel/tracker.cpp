#include "tracker.h"

#include <algorithm>

namespace mrvlc::accel {
namespace {

uint64_t granule_down(uint64_t v) {
  return v / isa::kHazardGranule * isa::kHazardGranule;
}
uint64_t granule_up(uint64_t v) {
  return granule_down(v + isa::kHazardGranule - 1);
}

// Rounded to granules; pieces that touch joined. Reads and writes apart.
std::vector<isa::Access> coarse(const isa::Instruction& instruction) {
  std::vector<isa::Access> list = isa::accesses(instruction), out;
  for (isa::Access& a : list) {
    a.begin = granule_down(a.begin);
    a.end = granule_up(a.end);
    if (!out.empty()) {
      isa::Access& last = out.back();
      bool same = last.space == a.space && last.tile == a.tile && last.write == a.write;
      if (same && a.begin <= last.end && a.begin >= last.begin) {
        last.end = std::max(last.end, a.end);
        continue;
      }
    }
    out.push_back(a);
  }
  return out;
}

}  // namespace

void Tracker::split(Memory& memory, uint64_t at) {
  auto it = memory.upper_bound(at);
  if (it == memory.begin()) return;
  --it;
  if (it->first == at || it->second.end <= at) return;
  Segment right = it->second;
  it->second.end = at;
  memory.emplace(at, std::move(right));
}

void Tracker::read(Memory& memory, uint64_t begin, uint64_t end, Ref self, Clock& needs) {
  split(memory, begin);
  split(memory, end);
  uint64_t at = begin;
  auto it = memory.lower_bound(begin);
  auto note = [&](Segment& s) {
    for (Ref& r : s.readers)
      if (r.lane == self.lane) {
        r.count = self.count;
        return;
      }
    s.readers.push_back(self);
  };
  while (at < end) {
    if (it == memory.end() || it->first > at) {  // a range nobody has touched
      uint64_t stop = it == memory.end() ? end : std::min(end, it->first);
      it = memory.emplace_hint(it, at, Segment{stop, {}, {}});
    }
    Segment& s = it->second;
    if (s.writer.count != 0) needs[s.writer.lane] = std::max(needs[s.writer.lane], s.writer.count);
    note(s);
    at = s.end;
    ++it;
  }
}

void Tracker::write(Memory& memory, uint64_t begin, uint64_t end, Ref self, Clock& needs) {
  split(memory, begin);
  split(memory, end);
  auto first = memory.lower_bound(begin);
  auto last = first;
  for (; last != memory.end() && last->first < end; ++last) {
    const Segment& s = last->second;
    if (s.writer.count != 0) needs[s.writer.lane] = std::max(needs[s.writer.lane], s.writer.count);
    for (const Ref& r : s.readers) needs[r.lane] = std::max(needs[r.lane], r.count);
  }
  last = memory.erase(first, last);
  memory.emplace_hint(last, begin, Segment{end, self, {}});
}

std::vector<Tracker::Ref> Tracker::reduce(uint32_t lane, const Clock& needs) const {
  std::vector<Ref> waits;
  for (uint32_t l = 0; l < kLanes; ++l)
    if (l != lane && needs[l] > known_[lane][l]) waits.push_back({l, needs[l]});
  std::vector<Ref> kept;
  for (const Ref& w : waits) {
    bool implied = std::ranges::any_of(waits, [&](const Ref& other) {
      return other.lane != w.lane && history_[other.lane][other.count - 1][w.lane] >= w.count;
    });
    if (!implied) kept.push_back(w);
  }
  return kept;
}

void Tracker::issue(isa::Instruction instruction, uint32_t lane, std::vector<Ref> waits,
                    std::vector<isa::Instruction>& out) {
  Clock& clock = known_[lane];
  for (const Ref& w : waits) {
    const Clock& theirs = history_[w.lane][w.count - 1];
    for (size_t l = 0; l < kLanes; ++l) clock[l] = std::max(clock[l], theirs[l]);
    clock[w.lane] = std::max(clock[w.lane], w.count);
    instruction.waits.push_back({static_cast<uint8_t>(w.lane / isa::kQueues),
                                 static_cast<isa::Queue>(w.lane % isa::kQueues), w.count});
  }
  clock[lane] = static_cast<uint32_t>(history_[lane].size());
  history_[lane].push_back(clock);
  out.push_back(std::move(instruction));
}

void Tracker::append(isa::Instruction instruction, std::vector<isa::Instruction>& out) {
  auto lane = static_cast<uint32_t>(instruction.tile * isa::kQueues + static_cast<size_t>(instruction.queue));
  std::vector<isa::Access> list = coarse(instruction);
  auto memory_of = [&](const isa::Access& a) -> Memory& {
    return memories_[a.space == isa::Space::Ddr ? size_t{isa::kMaxTiles} : a.tile];
  };
  Clock needs{};
  // Needs first, with a count that is corrected below when Sync instructions come in between.
  auto pass = [&](Ref self, Clock& sink) {
    for (bool write_pass : {false, true})
      for (const isa::Access& a : list) {
        if (a.write != write_pass || (a.space == isa::Space::Ddr && a.end <= constant_end_)) continue;
        if (a.write) {
          write(memory_of(a), a.begin, a.end, self, sink);
        } else {
          read(memory_of(a), a.begin, a.end, self, sink);
        }
      }
  };
  auto next = static_cast<uint32_t>(history_[lane].size() + 1);
  pass({lane, next}, needs);
  std::vector<Ref> waits = reduce(lane, needs);
  bool syncs = waits.size() > isa::kMaxWaits;
  while (waits.size() > isa::kMaxWaits) {
    isa::Instruction sync;
    sync.tile = instruction.tile;
    sync.queue = instruction.queue;
    issue(sync, lane, {waits.end() - isa::kMaxWaits, waits.end()}, out);
    waits.resize(waits.size() - isa::kMaxWaits);
  }
  issue(std::move(instruction), lane, waits, out);
  // The instruction stands later in its queue than its marks say: mark again.
  if (syncs) {
    Clock ignored{};
    pass({lane, static_cast<uint32_t>(history_[lane].size())}, ignored);
  }
}

}  // namespace mrvlc::accel

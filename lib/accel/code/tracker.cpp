// Conflicts between instructions, found by stretches of memory, and the waits that order them.
#include "code/tracker.h"

#include <algorithm>

namespace mrvlc::accel {
namespace {

uint64_t granule_down(uint64_t v) {
  return v / isa::kHazardGranule * isa::kHazardGranule;
}
uint64_t granule_up(uint64_t v) {
  return granule_down(v + isa::kHazardGranule - 1);
}

constexpr size_t kMostMarks = 128, kMostWide = 512;  // of a bucket; then the older half is summed up
constexpr size_t kWide = 64;                         // buckets

}  // namespace

Tracker::Tracker(uint64_t constant_end, uint64_t ddr_end) : constant_end_(constant_end) {
  constexpr uint64_t kDdrBuckets = 4096;
  Memory& ddr = memories_[isa::kMaxTiles];
  while ((ddr_end >> ddr.shift) > kDdrBuckets) ++ddr.shift;
}

// Runs are rounded out to granules; an access whose stride is no whole number of granules counts as its hull.
Tracker::Mark Tracker::mark_of(const isa::Access& a) {
  Mark m;
  m.write = a.write;
  m.begin = granule_down(a.begin);
  m.end = granule_up(a.end);
  m.run = m.end - m.begin;
  if (a.stride == 0 || a.stride % isa::kHazardGranule != 0) return m;
  uint64_t run = granule_up(a.begin + a.run) - m.begin;
  if (run >= a.stride) return m;
  m.run = run;
  m.stride = a.stride;
  m.phase = m.begin % m.stride;
  return m;
}

// From a run of `a` up to the next of `b`, both of one stride.
inline uint64_t Tracker::apart(const Mark& a, const Mark& b) {
  return b.phase >= a.phase ? b.phase - a.phase : b.phase + a.stride - a.phase;
}

inline bool Tracker::conflict(const Mark& a, const Mark& b) {
  if (a.end <= b.begin || b.end <= a.begin) return false;
  if (a.stride == 0 && b.stride == 0) return true;
  if (a.stride == b.stride) {
    uint64_t gap = apart(a, b);
    return gap < a.run || a.stride - gap < b.run;
  }
  // One run against many: it may lie between two of them.
  const Mark &one = a.stride == 0 ? a : b, &many = a.stride == 0 ? b : a;
  if (one.stride != 0 || one.begin < many.begin) return true;
  uint64_t at = (one.begin - many.begin) % many.stride;
  return at < many.run || at + one.run > many.stride;
}

// Whether `a` covers what `b` has within [low, high).
inline bool Tracker::covers(const Mark& a, const Mark& b, uint64_t low, uint64_t high) {
  if (a.begin > std::max(b.begin, low) || a.end < std::min(b.end, high)) return false;
  if (a.stride != b.stride) return a.stride == 0;
  return a.stride == 0 || apart(a, b) + b.run <= a.run;
}

// Calls look(index) for each bucket that a run of the mark is in, in order: far-off runs leave many out.
template <class Look>
void Tracker::for_each_bucket(const Memory& memory, const Mark& mark, Look look) {
  const bool far = mark.stride >> memory.shift != 0;
  const uint64_t step = far ? mark.stride : mark.end - mark.begin, run = far ? mark.run : step;
  size_t next = mark.begin >> memory.shift;
  for (uint64_t begin = mark.begin; begin < mark.end; begin += step) {
    const size_t last = (std::min(begin + run, mark.end) - 1) >> memory.shift;
    for (next = std::max<size_t>(next, begin >> memory.shift); next <= last; ++next) look(next);
  }
}

// Columns of a large tensor, say: there is something of them in every row, and so in every bucket.
bool Tracker::is_wide(const Memory& memory, const Mark& mark) {
  return mark.stride != 0 && (mark.end - mark.begin) >> memory.shift >= kWide;
}

void Tracker::Bucket::look_at(const Mark& mark, Clock& needs) const {
  if (mark.begin < old_end && old_begin < mark.end) {
    const Clock& old = mark.write ? old_accesses : old_writes;
    for (size_t l = 0; l < kLanes; ++l) needs[l] = std::max(needs[l], old[l]);
  }
  for (const Mark& m : marks)
    if ((m.write || mark.write) && needs[m.by.lane] < m.by.count && conflict(m, mark))
      needs[m.by.lane] = m.by.count;
}

void Tracker::Bucket::add(const Mark& mark, size_t most) {
  if (marks.size() >= most) {
    auto half = marks.begin() + static_cast<std::ptrdiff_t>(most / 2);
    for (auto m = marks.begin(); m != half; ++m) {
      old_begin = std::min(old_begin, m->begin);
      old_end = std::max(old_end, m->end);
      old_accesses[m->by.lane] = std::max(old_accesses[m->by.lane], m->by.count);
      if (m->write) old_writes[m->by.lane] = std::max(old_writes[m->by.lane], m->by.count);
    }
    marks.erase(marks.begin(), half);
  }
  marks.push_back(mark);
}

void Tracker::visit(Memory& memory, const Mark& mark, Clock& needs) const {
  size_t past = ((mark.end - 1) >> memory.shift) + 1;
  if (past > memory.buckets.size()) memory.buckets.resize(past);
  for_each_bucket(memory, mark, [&](size_t i) { memory.buckets[i].look_at(mark, needs); });
  memory.wide.look_at(mark, needs);
}

void Tracker::record(Memory& memory, const Mark& mark) {
  auto put = [&](Bucket& b, uint64_t low, uint64_t high, size_t most) {
    std::erase_if(b.marks, [&](const Mark& m) {
      bool replaced = mark.write || (!m.write && m.by.lane == mark.by.lane);
      return replaced && covers(mark, m, low, high);
    });
    b.add(mark, most);
  };
  if (is_wide(memory, mark)) return put(memory.wide, 0, UINT64_MAX, kMostWide);
  for_each_bucket(memory, mark, [&](size_t i) {
    uint64_t low = uint64_t{i} << memory.shift;
    put(memory.buckets[i], low, low + (uint64_t{1} << memory.shift), kMostMarks);
  });
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
  std::vector<std::pair<Memory*, Mark>> marks;
  for (const isa::Access& a : isa::accesses(instruction)) {
    bool ddr = a.space == isa::Space::Ddr;
    if (ddr && a.end <= constant_end_) continue;
    marks.emplace_back(&memories_[ddr ? size_t{isa::kMaxTiles} : a.tile], mark_of(a));
  }
  Clock needs = known_[lane];  // what is known already needs no look
  for (auto& [memory, mark] : marks) visit(*memory, mark, needs);
  std::vector<Ref> waits = reduce(lane, needs);
  while (waits.size() > isa::kMaxWaits) {
    isa::Instruction sync;
    sync.tile = instruction.tile;
    sync.queue = instruction.queue;
    issue(sync, lane, {waits.end() - isa::kMaxWaits, waits.end()}, out);
    waits.resize(waits.size() - isa::kMaxWaits);
  }
  issue(std::move(instruction), lane, waits, out);
  for (auto& [memory, mark] : marks) {
    mark.by = {lane, static_cast<uint32_t>(history_[lane].size())};
    record(*memory, mark);
  }
}

}  // namespace mrvlc::accel

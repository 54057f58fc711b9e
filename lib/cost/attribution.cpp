// The critical path of a section, and what it says of each layer.
#include <algorithm>

#include "mrvlc/cost/queues.h"
#include "mrvlc/cost/timing.h"

namespace mrvlc::cost {
namespace {

// Events of one section by instruction; null for an instruction without one.
std::vector<const Event*> by_instruction(std::span<const Event> events, Section section) {
  std::vector<const Event*> found;
  for (const Event& e : events) {
    if (e.section != section) continue;
    if (found.size() <= e.instruction) found.resize(size_t{e.instruction} + 1, nullptr);
    found[e.instruction] = &e;
  }
  return found;
}

// The instruction before each one in its queue.
std::vector<uint32_t> before_in_queue(const std::vector<const Event*>& events) {
  std::vector<uint32_t> before(events.size(), kNoInstruction);
  std::array<uint32_t, kAllQueues> last;
  last.fill(kNoInstruction);
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (events[i] == nullptr) continue;
    uint32_t& in_queue = last[queue_index(events[i]->tile, events[i]->queue)];
    before[i] = std::exchange(in_queue, i);
  }
  return before;
}

class Walk {
 public:
  Walk(std::span<const Event> events, Section section)
      : events_(by_instruction(events, section)), before_(before_in_queue(events_)) {}

  std::vector<PathStep> run() {
    uint32_t i = last();
    bool by_channel = false;  // the cycles before `at` were lost to the copy that had the DDR channel
    while (i < events_.size() && events_[i] != nullptr) {
      const Event& e = *events_[i];
      spend(i, Bound::Wait, e.end);  // until others saw it
      if (at_ == e.end && e.held && before_[i] != kNoInstruction) {
        i = before_[i];
        continue;
      }
      spend(i, Bound::Wait, e.moved);
      spend(i, by_channel ? Bound::Ddr : e.bound, e.begin);
      if (!e.behind) spend(i, Bound::Fetch, e.met);
      if (at_ == 0) break;
      by_channel = e.behind;
      i = e.cause;
    }
    std::ranges::reverse(path_);
    return std::move(path_);
  }

 private:
  // The last to complete, of several the first in the program.
  uint32_t last() {
    uint32_t found = kNoInstruction;
    for (uint32_t i = 0; i < events_.size(); ++i)
      if (events_[i] != nullptr && events_[i]->end > at_) at_ = events_[found = i]->end;
    return found;
  }

  void spend(uint32_t i, Bound bound, uint64_t since) {
    if (since >= at_) return;
    path_.push_back({i, bound, since, at_});
    at_ = since;
  }

  std::vector<const Event*> events_;
  std::vector<uint32_t> before_;
  std::vector<PathStep> path_;
  uint64_t at_ = 0;  // cycles from here on are spent
};

// Layer numbers of a section, ascending, and for each instruction the index of its layer among them.
struct Layers {
  std::vector<uint32_t> numbers;
  std::vector<uint32_t> of;
};

Layers layers_of(Section section, std::span<const InstructionSpan> spans, size_t instructions) {
  Layers l;
  for (const InstructionSpan& s : spans)
    if (s.section == section) l.numbers.push_back(s.layer);
  std::ranges::sort(l.numbers);
  l.numbers.erase(std::unique(l.numbers.begin(), l.numbers.end()), l.numbers.end());
  l.of.assign(instructions, kNoLayer);
  for (const InstructionSpan& s : spans) {
    if (s.section != section) continue;
    auto index = static_cast<uint32_t>(std::ranges::lower_bound(l.numbers, s.layer) - l.numbers.begin());
    for (size_t i = s.begin; i < s.end && i < instructions; ++i) l.of[i] = index;
  }
  return l;
}

void add(LayerTime& t, const Event& e) {
  bool copies = e.queue == isa::Queue::DmaIn || e.queue == isa::Queue::DmaOut;
  t.busy[static_cast<size_t>(e.queue)] += copies ? e.moved - e.begin : e.end - e.start;
  t.first_start = std::min(t.first_start, e.start);
  t.last_end = std::max(t.last_end, e.end);
  ++t.instructions;
  t.macs += e.macs;
  t.integer_macs += e.integer_macs;
  t.ddr_read_bytes += e.ddr_read_bytes;
  t.ddr_write_bytes += e.ddr_write_bytes;
  t.tiles = static_cast<uint8_t>(t.tiles | 1u << e.tile);
}

}  // namespace

const char* bound_name(Bound bound) {
  constexpr const char* kNames[kBounds] = {"matrix", "vector", "port", "ddr", "wait", "fetch"};
  return kNames[static_cast<size_t>(bound)];
}

Bound LayerTime::bound() const {
  if (cycles == 0) return Bound::Wait;
  return static_cast<Bound>(std::ranges::max_element(by_bound) - by_bound.begin());
}

std::vector<PathStep> critical_path(std::span<const Event> events, Section section) {
  return Walk(events, section).run();
}

std::vector<LayerTime> layer_times(std::span<const Event> events, Section section,
                                   std::span<const InstructionSpan> spans) {
  size_t instructions = 0;
  for (const Event& e : events)
    if (e.section == section) instructions = std::max(instructions, size_t{e.instruction} + 1);
  Layers layers = layers_of(section, spans, instructions);
  std::vector<LayerTime> times;
  for (uint32_t number : layers.numbers) times.emplace_back().layer = number;
  LayerTime others;
  others.layer = kNoLayer;
  auto time_of = [&](uint32_t instruction) -> LayerTime& {
    uint32_t index = layers.of[instruction];
    return index == kNoLayer ? others : times[index];
  };
  for (const Event& e : events)
    if (e.section == section) add(time_of(e.instruction), e);
  for (const PathStep& s : critical_path(events, section)) {
    LayerTime& t = time_of(s.instruction);
    t.cycles += s.end - s.begin;
    t.by_bound[static_cast<size_t>(s.bound)] += s.end - s.begin;
  }
  if (others.instructions > 0) times.push_back(others);
  return times;
}

}  // namespace mrvlc::cost

// A conflict is ordered when the later instruction starts after the earlier one has completed.
#include "machine/races.h"

#include <fmt/format.h>

#include <algorithm>

namespace mrvlc::prove {

Races::Races(uint32_t ocm_bytes, uint32_t tiles) : tiles_(tiles, std::vector<Granule>(ocm_bytes / 16 + 1)) {}

void Races::begin_section() {
  ++section_;
  for (auto& list : done_) list.clear();
}

void Races::begin(const Instruction& i) {
  queue_ = static_cast<uint8_t>(i.tile * 4 + i.queue);
  now_ = done_[queue_].empty() ? Clock{} : done_[queue_].back();
  for (const Wait& w : i.waits) {
    if (w.count == 0) continue;
    const auto& list = done_[w.tile * 4u + w.queue];
    if (w.count > list.size())
      throw Refusal{fmt::format("it waits for instruction {} of a queue that has been given {} before it",
                                w.count, list.size())};
    const Clock& then = list[w.count - 1];
    for (size_t q = 0; q < now_.size(); ++q) now_[q] = std::max(now_[q], then[q]);
  }
}

void Races::end() {
  Clock then = now_;
  then[queue_] = static_cast<uint32_t>(done_[queue_].size()) + 1;
  done_[queue_].push_back(then);
}

Races::Granule& Races::granule(uint32_t space, uint64_t index) {
  Granule& g = space > 0 ? tiles_[space - 1][index] : ddr_[index];
  if (g.section != section_) {
    g.section = section_;
    g.writer = 0;
    g.readers.clear();
  }
  return g;
}

void Races::check_order(uint8_t queue, uint32_t number, uint32_t space, uint64_t index) const {
  if (queue == queue_ || now_[queue] >= number) return;
  throw Refusal{fmt::format("it and instruction {} of queue {} of tile {} touch {:#x} of {} in no order",
                            number, queue % 4, queue / 4, index * 16,
                            space == 0 ? std::string("DDR") : fmt::format("tile {}", space - 1))};
}

void Races::touch(const Touch& t) {
  const auto own = static_cast<uint32_t>(done_[queue_].size()) + 1;
  for (uint64_t at = t.begin / 16; at <= (t.end - 1) / 16; ++at) {
    Granule& g = granule(t.space, at);
    if (g.writer != 0) check_order(g.writer_queue, g.writer, t.space, at);
    if (t.writes) {
      for (const auto& [queue, number] : g.readers) check_order(queue, number, t.space, at);
      g.readers.clear();
      g.writer = own;
      g.writer_queue = queue_;
      continue;
    }
    auto reader =
        std::find_if(g.readers.begin(), g.readers.end(), [&](const auto& r) { return r.first == queue_; });
    if (reader == g.readers.end())
      g.readers.emplace_back(queue_, own);
    else
      reader->second = own;
  }
}

}  // namespace mrvlc::prove

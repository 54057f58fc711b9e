// The DDR channel over time: fetches in order of use, streamed loads and stores of the steps between them.
#include "place/ddr_timeline.h"

#include <algorithm>

namespace mrvlc::accel {

DdrTimeline::DdrTimeline(TileProgram& program, const target::Machine& machine, Allocation& allocation)
    : p_(program), m_(machine), a_(allocation), sorted_(program.fetches) {
  std::erase_if(sorted_, [&](uint32_t k) { return p_.items[k].last < 0; });
  std::ranges::stable_sort(sorted_, {}, [&](uint32_t k) { return p_.items[k].first; });
  size_t n = p_.steps.size();
  begin_.assign(n + 1, 0);
  work_.assign(n + 1, 0);
  for (size_t s = 0; s < n; ++s) work_[s + 1] = work_[s] + p_.steps[s].cycles;
  freed_.assign(n + 1, 0);
}

void DdrTimeline::run() {
  for (size_t s = 0; s < p_.steps.size(); ++s) {
    if (s > 0) flying_ -= freed_[s - 1];
    fetch_ahead(s);
    begin_[s + 1] = arrived(s) + p_.steps[s].cycles;
    stream_ahead(s);
  }
}

// The last store has arrived so long after its bytes left.
double DdrTimeline::cycles() const {
  return std::max(begin_.back(), ddr_) + latency();
}

// When what step `s` needs has come. What is streamed was asked for a step before.
double DdrTimeline::arrived(size_t s) {
  double ready = begin_[s];
  for (; next_ < arrivals_.size() && arrivals_[next_].first <= static_cast<int64_t>(s); ++next_)
    ready = std::max(ready, arrivals_[next_].second);
  if (s == 0) ask(0);
  return std::max(ready, streamed_);
}

void DdrTimeline::ask(size_t s) {
  double cycles = p_.steps[s].load_cycles;
  streamed_ = 0;
  if (cycles == 0) return;
  ddr_ = std::max(ddr_, begin_[s == 0 ? 0 : s - 1]) + cycles;
  streamed_ = ddr_ + latency();
}

// The next step's loads go before this one's stores.
void DdrTimeline::stream_ahead(size_t s) {
  if (s + 1 < p_.steps.size()) ask(s + 1);
  if (p_.steps[s].store_cycles > 0) ddr_ = std::max(ddr_, begin_[s + 1]) + p_.steps[s].store_cycles;
}

// What step `s` needs, and what there is room for beyond.
void DdrTimeline::fetch_ahead(size_t s) {
  for (; fetched_ < sorted_.size(); ++fetched_) {
    Item& item = p_.items[sorted_[fetched_]];
    bool needed = item.first <= static_cast<int64_t>(s);
    if (!needed && flying_ + item.bytes > a_.ahead[s]) return;
    double cycles = fetch_cycles(item), start = std::max(ddr_, begin_[s]);
    double due = begin_[s] + work_[static_cast<size_t>(item.first)] - work_[s];
    if (start + cycles + latency() > due && early(item)) continue;
    if (start > ddr_) idle_.emplace_back(ddr_, start);
    ddr_ = start + cycles;
    arrivals_.emplace_back(item.first, arrival(item, start, cycles));
    item.start = static_cast<int64_t>(s);
    flying_ += item.bytes;
    freed_[static_cast<size_t>(item.last)] += item.bytes;
  }
}

// In the latest idle time of DDR that suffices, if there is memory from then on.
bool DdrTimeline::early(Item& item) {
  std::vector<std::pair<double, double>> idle = idle_;
  std::optional<std::vector<int64_t>> steps = idle_steps(item, idle);
  if (!steps) return false;
  int64_t step = *std::ranges::min_element(*steps);
  if (step >= item.first) return false;
  int64_t at = a_.reserved.hole(step, item.last, item.bytes, false);
  if (at < 0) return false;
  idle_ = std::move(idle);
  item.start = step;
  item.load_steps = *std::move(steps);
  item.address = at;
  for (Occupancy* o : {&a_.taken, &a_.reserved}) o->keep(step, item.last, at, at + item.bytes);
  return true;
}

// Each load for itself, so that no load just ahead waits for long; takes the time out of `idle`.
std::optional<std::vector<int64_t>> DdrTimeline::idle_steps(
    const Item& item, std::vector<std::pair<double, double>>& idle) const {
  std::vector<int64_t> steps(item.loads.size());
  for (size_t l = item.loads.size(); l-- > 0;) {
    double left = load_cycles(item.loads[l]), from = 0;
    while (!idle.empty() && left > 0) {
      auto& [begin, end] = idle.back();
      double take = std::min(left, end - begin);
      left -= take;
      end -= take;
      from = end;
      if (end <= begin) idle.pop_back();
    }
    if (left > 0) return std::nullopt;
    steps[l] = step_at(from, item.first);
  }
  return steps;
}

double DdrTimeline::latency() const {
  return m_.ddr_latency + 2.0 * m_.instruction_overhead;
}

double DdrTimeline::load_cycles(const Load& l) const {
  return static_cast<double>(l.transfer.burst_bytes(m_.ddr_burst)) / m_.ddr_rate();
}

double DdrTimeline::fetch_cycles(const Item& i) const {
  double cycles = 0;
  for (const Load& l : i.loads) cycles += load_cycles(l);
  return cycles;
}

// When work can begin such that it does not wait later: on an input it begins with its first stripe.
double DdrTimeline::arrival(const Item& item, double start, double cycles) const {
  double whole = start + cycles + latency();
  double stripes = static_cast<double>(item.loads.size()) / p_.tiles;
  if (item.buffer == UINT32_MAX || stripes <= 1) return whole;
  double work = p_.steps[static_cast<size_t>(item.first)].cycles;
  return std::max(start + cycles / stripes + latency(), whole - work * (1 - 1 / stripes));
}

int64_t DdrTimeline::step_at(double time, int64_t before) const {
  auto after = std::upper_bound(begin_.begin(), begin_.begin() + before, time);
  return std::max<int64_t>(0, after - begin_.begin() - 1);
}

}  // namespace mrvlc::accel

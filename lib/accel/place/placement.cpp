#include "place/placement.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "mrvlc/alloc/alloc.h"
#include "mrvlc/support/checked.h"

namespace mrvlc::accel {
namespace {

// What is taken of memory over time; steps in groups, so that a question looks at few items.
class Taken {
 public:
  Taken(size_t steps, int64_t capacity) : groups_(steps / kGroup + 1), capacity_(capacity) {}

  void keep(int64_t first, int64_t last, int64_t begin, int64_t end) {
    for (int64_t g = first / kGroup; g <= last / kGroup; ++g)
      groups_[static_cast<size_t>(g)].push_back({first, last, begin, end});
  }
  // The lowest (or highest) address with room for `bytes` in steps [first, last]; -1: none.
  int64_t hole(int64_t first, int64_t last, int64_t bytes, bool from_top) {
    busy_.clear();
    for (int64_t g = first / kGroup; g <= last / kGroup; ++g)
      for (const Range& r : groups_[static_cast<size_t>(g)])
        if (r.last >= first && r.first <= last) busy_.emplace_back(r.begin, r.end);
    std::ranges::sort(busy_);
    int64_t at = 0, highest = -1;
    for (const auto& [begin, end] : busy_) {
      if (begin - at >= bytes) {
        if (!from_top) return at;
        highest = begin - bytes;
      }
      at = std::max(at, end);
    }
    return capacity_ - at >= bytes ? (from_top ? capacity_ - bytes : at) : highest;
  }

 private:
  static constexpr int64_t kGroup = 32;
  struct Range {
    int64_t first, last, begin, end;
  };
  std::vector<std::vector<Range>> groups_;
  int64_t capacity_;
  std::vector<std::pair<int64_t, int64_t>> busy_;
};

// The greatest of a stretch of numbers, by a table of stretches of lengths 1, 2, 4, ...
class RangeMax {
 public:
  explicit RangeMax(std::vector<int64_t> values) : table_{std::move(values)} {
    for (size_t half = 1; 2 * half <= table_[0].size(); half *= 2) {
      const std::vector<int64_t>& below = table_.back();
      std::vector<int64_t> row(table_[0].size() - 2 * half + 1);
      for (size_t i = 0; i < row.size(); ++i) row[i] = std::max(below[i], below[i + half]);
      table_.push_back(std::move(row));
    }
  }
  int64_t over(size_t begin, size_t end) const {
    auto level = static_cast<size_t>(std::bit_width(end - begin) - 1);
    return std::max(table_[level][begin], table_[level][end - (size_t{1} << level)]);
  }

 private:
  std::vector<std::vector<int64_t>> table_;
};

class Placer {
 public:
  Placer(TileProgram& program, const target::Machine& m, double fetch_share)
      : p_(program),
        m_(m),
        share_(fetch_share),
        taken_(program.steps.size(), m.ocm_bytes),
        reserved_(taken_) {}

  Placed run() {
    for (Item& i : p_.items) i.bytes = aligned(std::max<int64_t>(i.bytes, 1), m_);
    // Two steps' worth of what is fetched, so that one arrives while the other is used; one where that is too
    // much.
    auto share = static_cast<int64_t>(share_ * m_.ocm_bytes);
    for (auto [steps, least] : {std::pair<int, int64_t>{2, share}, {2, 0}, {1, 0}})
      if (place_fixed(steps, least)) {
        schedule();
        std::optional<Shortage> shortage = place_fetches();
        // The last store has arrived so long after its bytes left.
        return {shortage, std::max(begin_.back(), ddr_) + latency(), 0, peak_, peak_bound_};
      }
    return {shortage_, 0, short_bytes_, 0, 0};
  }

 private:
  bool fixed(const Item& i) const { return !i.prefetch && i.last >= 0; }

  struct Floor {
    int64_t first, last, bytes;
  };

  // Tensors and workspaces, and room at every step for what it must have fetched.
  bool place_fixed(int steps_ahead, int64_t least) {
    std::vector<alloc::Item> list;
    std::vector<uint32_t> index;
    for (uint32_t k = 0; k < p_.items.size(); ++k) {
      if (!fixed(p_.items[k])) continue;
      list.push_back({p_.items[k].first, p_.items[k].last + 1, p_.items[k].bytes});
      index.push_back(k);
    }
    std::vector<Floor> floors = floors_of(steps_ahead, least);
    alloc::Options options;
    options.alignment = m_.ocm_alignment;
    options.effort = 300'000;
    // Tensors at the bottom, fetches at the top; only where that is too much do they share the middle.
    alloc::Placement low = alloc::minimise_peak(list, options);
    std::vector<int64_t> offsets = bottom_up(list, low.offsets, low.lower_bound, floors);
    bool apart = !offsets.empty() || list.empty();
    if (apart) peak_ = top_of(list, offsets);
    peak_bound_ = low.lower_bound;
    for (const Floor& f : floors) offsets.push_back(m_.ocm_bytes - f.bytes);
    if (!apart) {
      for (const Floor& f : floors) list.push_back({f.first, f.last + 1, f.bytes});
      options.effort = 2'000'000;
      std::optional<alloc::Placement> placed = alloc::place_within(list, m_.ocm_bytes, options);
      if (!placed) {
        alloc::Peak peak = alloc::peak_load(list);
        shortage_ = Shortage{p_.steps[static_cast<size_t>(peak.time)].primitive};
        short_bytes_ = std::max<int64_t>(0, peak.bytes - m_.ocm_bytes);
        return false;
      }
      offsets = placed->offsets;
      peak_ = placed->peak;
      peak_bound_ = placed->lower_bound;
    }
    for (size_t k = 0; k < index.size(); ++k) {
      Item& i = p_.items[index[k]];
      i.address = offsets[k];
      i.start = i.first;
      taken_.keep(i.first, i.last, i.address, i.address + i.bytes);
    }
    reserved_ = taken_;
    ahead_.assign(p_.steps.size(), 0);
    for (size_t k = 0; k < floors.size(); ++k) {
      std::fill(ahead_.begin() + floors[k].first, ahead_.begin() + floors[k].last + 1, floors[k].bytes);
      int64_t at = offsets[index.size() + k];
      reserved_.keep(floors[k].first, floors[k].last, at, at + floors[k].bytes);
    }
    return true;
  }

  // Lowest places in several orders, one of them that of a placement of least peak: the one that leaves most
  // room above, over time. Empty when all reach into what fetches need.
  std::vector<int64_t> bottom_up(const std::vector<alloc::Item>& list, const std::vector<int64_t>& exact,
                                 int64_t bound, const std::vector<Floor>& floors) const {
    auto life = [&](size_t k) { return list[k].end - list[k].begin; };
    std::vector<std::function<int64_t(size_t)>> keys = {
        [&](size_t k) { return exact[k]; }, [&](size_t k) { return -life(k); },
        [&](size_t k) { return -life(k) * list[k].size; }, [&](size_t k) { return list[k].begin; },
        [&](size_t k) { return -list[k].size; }};
    std::vector<int64_t> best;
    std::pair<bool, double> least;
    for (const auto& key : keys) {
      std::vector<size_t> order(list.size());
      std::iota(order.begin(), order.end(), size_t{0});
      std::ranges::stable_sort(order, {}, key);
      std::vector<int64_t> offsets = stack(list, order);
      if (offsets.empty() || collide(list, offsets, floors)) continue;
      // A higher peak than need be is no price for room at other times.
      constexpr double kPeak = 1.005;
      std::pair<bool, double> used = {
          static_cast<double>(top_of(list, offsets)) > kPeak * static_cast<double>(bound),
          skyline(list, offsets)};
      if (best.empty() || used < least) {
        least = used;
        best = std::move(offsets);
      }
    }
    return best;
  }

  static int64_t top_of(const std::vector<alloc::Item>& list, const std::vector<int64_t>& offsets) {
    int64_t top = 0;
    for (size_t k = 0; k < list.size(); ++k) top = std::max(top, offsets[k] + list[k].size);
    return top;
  }

  std::vector<int64_t> stack(const std::vector<alloc::Item>& list, const std::vector<size_t>& order) const {
    Taken taken(p_.steps.size(), m_.ocm_bytes);
    std::vector<int64_t> offsets(list.size());
    for (size_t k : order) {
      offsets[k] = taken.hole(list[k].begin, list[k].end - 1, list[k].size, false);
      if (offsets[k] < 0) return {};
      taken.keep(list[k].begin, list[k].end - 1, offsets[k], offsets[k] + list[k].size);
    }
    return offsets;
  }

  // Highest byte in use, summed over time.
  double skyline(const std::vector<alloc::Item>& list, const std::vector<int64_t>& offsets) const {
    std::vector<int64_t> top(p_.steps.size(), 0);
    for (size_t k = 0; k < list.size(); ++k)
      for (int64_t s = list[k].begin; s < list[k].end; ++s)
        top[static_cast<size_t>(s)] = std::max(top[static_cast<size_t>(s)], offsets[k] + list[k].size);
    double sum = 0;
    for (size_t s = 0; s < top.size(); ++s) sum += static_cast<double>(top[s]) * p_.steps[s].cycles;
    return sum;
  }

  // Whether some tensor reaches into the room at the top that a primitive's fetches need.
  bool collide(const std::vector<alloc::Item>& list, const std::vector<int64_t>& offsets,
               const std::vector<Floor>& floors) const {
    std::vector<int64_t> floor(p_.steps.size(), 0);
    for (const Floor& f : floors)
      for (int64_t s = f.first; s <= f.last; ++s) floor[static_cast<size_t>(s)] = f.bytes;
    RangeMax most(floor);
    for (size_t k = 0; k < list.size(); ++k)
      if (offsets[k] + list[k].size +
              most.over(static_cast<size_t>(list[k].begin), static_cast<size_t>(list[k].end)) >
          m_.ocm_bytes)
        return true;
    return false;
  }

  // By primitive: the most that `steps_ahead` steps in a row need fetched.
  std::vector<Floor> floors_of(int steps_ahead, int64_t least) const {
    std::vector<int64_t> need(p_.steps.size() + 1, 0);
    for (const Item& i : p_.items) {
      if (!i.prefetch) continue;
      constexpr int64_t kLong = 64;  // what stays for longer is no matter of this step
      for (int64_t s = i.first; s <= i.last && s - i.first < kLong; ++s)
        need[static_cast<size_t>(s)] += i.bytes;
    }
    std::vector<Floor> floors;
    for (size_t s = 0; s < p_.steps.size();) {
      size_t end = s;
      int64_t most = 0;
      for (; end < p_.steps.size() && p_.steps[end].primitive == p_.steps[s].primitive; ++end)
        most = std::max(most, need[end] + (steps_ahead > 1 ? need[end + 1] : 0));
      if (most > 0)
        floors.push_back({static_cast<int64_t>(s), static_cast<int64_t>(end) - 1, std::max(most, least)});
      s = end;
    }
    return floors;
  }

  double fetch_cycles(const Item& i) const {
    double cycles = 0;
    for (const Load& l : i.loads) cycles += load_cycles(l);
    return cycles;
  }

  // Walks through the steps as the machine will: DDR brings what is needed in order of use, a limited way
  // ahead. What would come too late is brought long before, in time that DDR has left and memory that nobody
  // else wants.
  void schedule() {
    sorted_ = p_.fetches;
    std::erase_if(sorted_, [&](uint32_t k) { return p_.items[k].last < 0; });
    std::ranges::stable_sort(sorted_, {}, [&](uint32_t k) { return p_.items[k].first; });
    size_t n = p_.steps.size();
    begin_.assign(n + 1, 0);
    work_.assign(n + 1, 0);
    for (size_t s = 0; s < n; ++s) work_[s + 1] = work_[s] + p_.steps[s].cycles;
    freed_.assign(n + 1, 0);
    for (size_t s = 0; s < n; ++s) {
      if (s > 0) flying_ -= freed_[s - 1];
      fetch_ahead(s);
      double ready = begin_[s];
      for (; next_ < arrivals_.size() && arrivals_[next_].first <= static_cast<int64_t>(s); ++next_)
        ready = std::max(ready, arrivals_[next_].second);
      begin_[s + 1] = std::max(ready, stream(s)) + p_.steps[s].cycles;
      stream_ahead(s);
    }
  }

  // When what is streamed for step `s` has come: it was asked for a step before.
  double stream(size_t s) {
    if (s == 0) ask(0);
    return streamed_;
  }

  void ask(size_t s) {
    double cycles = p_.steps[s].load_cycles;
    streamed_ = 0;
    if (cycles == 0) return;
    ddr_ = std::max(ddr_, begin_[s == 0 ? 0 : s - 1]) + cycles;
    streamed_ = ddr_ + latency();
  }

  // The next step's loads go before this one's stores.
  void stream_ahead(size_t s) {
    if (s + 1 < p_.steps.size()) ask(s + 1);
    if (p_.steps[s].store_cycles > 0) ddr_ = std::max(ddr_, begin_[s + 1]) + p_.steps[s].store_cycles;
  }

  // What step `s` needs, and what there is room for beyond.
  void fetch_ahead(size_t s) {
    for (; fetched_ < sorted_.size(); ++fetched_) {
      Item& item = p_.items[sorted_[fetched_]];
      bool needed = item.first <= static_cast<int64_t>(s);
      if (!needed && flying_ + item.bytes > ahead_[s]) return;
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

  double latency() const { return m_.ddr_latency + 2.0 * m_.instruction_overhead; }

  // When work can begin such that it does not wait later: on an input it begins with its first stripe.
  double arrival(const Item& item, double start, double cycles) const {
    double whole = start + cycles + latency();
    double stripes = static_cast<double>(item.loads.size()) / p_.tiles;
    if (item.buffer == UINT32_MAX || stripes <= 1) return whole;
    double work = p_.steps[static_cast<size_t>(item.first)].cycles;
    return std::max(start + cycles / stripes + latency(), whole - work * (1 - 1 / stripes));
  }

  double load_cycles(const Load& l) const {
    return static_cast<double>(l.transfer.burst_bytes(m_.ddr_burst)) / m_.ddr_bytes;
  }

  int64_t step_at(double time, int64_t before) const {
    auto after = std::upper_bound(begin_.begin(), begin_.begin() + before, time);
    return std::max<int64_t>(0, after - begin_.begin() - 1);
  }

  // In the latest idle time of DDR that suffices, each load for itself, so that no load just ahead waits for
  // long.
  bool early(Item& item) {
    std::vector<std::pair<double, double>> idle = idle_;
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
      if (left > 0) return false;
      steps[l] = step_at(from, item.first);
    }
    int64_t step = *std::ranges::min_element(steps);
    if (step >= item.first) return false;
    int64_t at = reserved_.hole(step, item.last, item.bytes, false);
    if (at < 0) return false;
    idle_ = std::move(idle);
    item.start = step;
    item.load_steps = std::move(steps);
    item.address = at;
    for (Taken* t : {&taken_, &reserved_}) t->keep(step, item.last, at, at + item.bytes);
    return true;
  }

  // What comes just ahead, in the room that is left.
  std::optional<Shortage> place_fetches() {
    int64_t low = 0;
    for (uint32_t index : sorted_) {
      Item& item = p_.items[index];
      if (item.address >= 0) continue;
      low = std::min(item.first, std::max(low, item.start));
      if (!settle(item, low)) return Shortage{p_.steps[static_cast<size_t>(item.first)].primitive};
      low = item.start;
      taken_.keep(item.start, item.last, item.address, item.address + item.bytes);
    }
    return std::nullopt;
  }

  // The earliest step from `low` on since when there is room until the last use.
  bool settle(Item& item, int64_t low) {
    int64_t high = item.first;
    if (taken_.hole(high, item.last, item.bytes, true) < 0) return false;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (taken_.hole(middle, item.last, item.bytes, true) >= 0) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    item.start = high;
    item.address = taken_.hole(high, item.last, item.bytes, true);
    return true;
  }

  TileProgram& p_;
  const target::Machine& m_;
  double share_;
  Taken taken_, reserved_;      // without and with room for what every step must have fetched
  std::vector<int64_t> ahead_;  // by step: room for what is fetched just ahead
  std::optional<Shortage> shortage_;
  int64_t short_bytes_ = 0;
  int64_t peak_ = 0, peak_bound_ = 0;            // of what is placed first
  std::vector<uint32_t> sorted_;                 // fetches by first use
  std::vector<double> begin_, work_;             // of each step: estimated begin; engine cycles before it
  std::vector<std::pair<double, double>> idle_;  // of DDR
  std::vector<std::pair<int64_t, double>> arrivals_;  // step, and when what it needs has come
  size_t fetched_ = 0, next_ = 0;                     // in sorted_, in arrivals_
  int64_t flying_ = 0;                                // bytes of a tile fetched and not used up
  std::vector<int64_t> freed_;                        // of them, by the step that ends their use
  double ddr_ = 0;                                    // DDR is free from then on
  double streamed_ = 0;                               // what the next step streams has come
};

}  // namespace

Placed place(TileProgram& program, const target::Machine& machine, double fetch_share) {
  return Placer(program, machine, fetch_share).run();
}

}  // namespace mrvlc::accel

#include "placement.h"

#include <algorithm>

#include "mrvlc/alloc/alloc.h"
#include "mrvlc/support/checked.h"

namespace mrvlc::accel {
namespace {

// How much earlier than estimated a fetch is issued: a part of the distance, and a few latencies.
constexpr double kEarlier = 0.25, kLatencies = 12;

class Placer {
 public:
  Placer(TileProgram& program, const target::Machine& m) : p_(program), m_(m) {}

  std::optional<Shortage> run() {
    for (Item& i : p_.items) i.bytes = aligned(std::max<int64_t>(i.bytes, 1), m_);
    if (std::optional<Shortage> s = place_fixed()) return s;
    times();
    return place_fetches();
  }

 private:
  bool fixed(const Item& i) const { return !i.prefetch && i.last >= 0; }

  // Tensors and workspaces, and room at every step for what it must have fetched.
  std::optional<Shortage> place_fixed() {
    std::vector<alloc::Item> list;
    std::vector<uint32_t> index;
    for (uint32_t k = 0; k < p_.items.size(); ++k) {
      if (!fixed(p_.items[k])) continue;
      list.push_back({p_.items[k].first, p_.items[k].last + 1, p_.items[k].bytes});
      index.push_back(k);
    }
    add_floors(list);
    alloc::Options options;
    options.alignment = m_.ocm_alignment;
    options.effort = 2'000'000;
    int64_t capacity = m_.ocm_bytes;
    std::optional<alloc::Placement> placed = alloc::place_within(list, capacity, options);
    if (!placed) return Shortage{p_.steps[static_cast<size_t>(alloc::peak_load(list).time)].primitive};
    for (size_t k = 0; k < index.size(); ++k) {
      Item& i = p_.items[index[k]];
      i.address = placed->offsets[k];
      i.start = i.first;
    }
    return std::nullopt;
  }

  void add_floors(std::vector<alloc::Item>& list) const {
    std::vector<int64_t> need(p_.steps.size(), 0);
    for (const Item& i : p_.items) {
      if (!i.prefetch) continue;
      for (int64_t s = i.first; s <= i.last && s - i.first < 64; ++s) need[static_cast<size_t>(s)] += i.bytes;
    }
    for (size_t s = 0; s < need.size();) {
      size_t end = s;
      int64_t most = 0;
      for (; end < need.size() && p_.steps[end].primitive == p_.steps[s].primitive; ++end)
        most = std::max(most, need[end]);
      if (most > 0) list.push_back({static_cast<int64_t>(s), static_cast<int64_t>(end), most});
      s = end;
    }
  }

  void times() {
    begin_.assign(p_.steps.size() + 1, 0);
    for (size_t s = 0; s < p_.steps.size(); ++s) begin_[s + 1] = begin_[s] + p_.steps[s].cycles;
    latest_.assign(p_.fetches.size(), 0);
    sorted_ = p_.fetches;
    std::ranges::stable_sort(sorted_, {}, [&](uint32_t k) { return p_.items[k].first; });
    size_t f = sorted_.size();
    double at = begin_.back();
    for (size_t s = p_.steps.size(); s-- > 0;) {
      at = std::min(at, begin_[s + 1]) - p_.steps[s].ddr_cycles;
      for (; f > 0 && p_.items[sorted_[f - 1]].first == static_cast<int64_t>(s); --f) {
        at = std::min(at, begin_[s] - m_.ddr_latency - m_.instruction_overhead) -
             fetch_cycles(p_.items[sorted_[f - 1]]);
        double distance = begin_[s] - at;
        latest_[f - 1] = begin_[s] - distance * (1 + kEarlier) - kLatencies * m_.ddr_latency;
      }
    }
  }

  double fetch_cycles(const Item& i) const {
    double bytes = 0;
    for (const Load& l : i.loads) bytes += static_cast<double>(l.transfer.burst_bytes(m_.ddr_burst));
    return bytes / m_.ddr_bytes;
  }

  struct Taken {
    int64_t first, last, begin, end;
  };

  std::optional<Shortage> place_fetches() {
    std::vector<uint32_t> order;
    for (uint32_t k = 0; k < p_.items.size(); ++k)
      if (fixed(p_.items[k])) order.push_back(k);
    std::ranges::stable_sort(order, {}, [&](uint32_t k) { return p_.items[k].first; });
    size_t next = 0;
    int64_t low = 0;
    for (size_t f = 0; f < sorted_.size(); ++f) {
      Item& item = p_.items[sorted_[f]];
      if (item.last < 0) continue;
      for (; next < order.size() && p_.items[order[next]].first <= item.last; ++next)
        keep(p_.items[order[next]]);
      auto after = std::ranges::upper_bound(begin_, std::max(0.0, latest_[f]));
      int64_t wanted = std::max<int64_t>(0, after - begin_.begin() - 1);
      low = std::max(low, std::min(item.first, std::max(item.earliest, wanted)));
      low = std::min(low, item.first);
      std::erase_if(taken_, [&](const Taken& t) { return t.last < low; });
      if (!settle(item, low)) return Shortage{p_.steps[static_cast<size_t>(item.first)].primitive};
      low = item.start;
      keep(item);
    }
    return std::nullopt;
  }

  void keep(const Item& i) { taken_.push_back({i.start, i.last, i.address, i.address + i.bytes}); }

  // The earliest step from `low` on since when there is room until the last use.
  bool settle(Item& item, int64_t low) {
    int64_t high = item.first;
    if (hole(item, high) < 0) return false;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (hole(item, middle) >= 0) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    item.start = high;
    item.address = hole(item, high);
    return true;
  }

  int64_t hole(const Item& item, int64_t from) {
    busy_.clear();
    for (const Taken& t : taken_)
      if (t.last >= from && t.first <= item.last) busy_.emplace_back(t.begin, t.end);
    std::ranges::sort(busy_);
    int64_t at = 0;
    for (const auto& [begin, end] : busy_) {
      if (begin - at >= item.bytes) return at;
      at = std::max(at, end);
    }
    return m_.ocm_bytes - at >= item.bytes ? at : -1;
  }

  TileProgram& p_;
  const target::Machine& m_;
  std::vector<double> begin_;     // estimated time at which a step begins
  std::vector<uint32_t> sorted_;  // fetches by first use
  std::vector<double> latest_;    // when each of them should be issued
  std::vector<Taken> taken_;
  std::vector<std::pair<int64_t, int64_t>> busy_;
};

}  // namespace

std::optional<Shortage> place(TileProgram& program, const target::Machine& machine) {
  return Placer(program, machine).run();
}

}  // namespace mrvlc::accel

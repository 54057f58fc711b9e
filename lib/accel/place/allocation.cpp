// Tensors and workspaces as low as they go, so that what is fetched has the room above.
#include "place/allocation.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "mrvlc/alloc/alloc.h"

namespace mrvlc::accel {
namespace {

using Buffers = std::vector<alloc::Item>;
using Offsets = std::vector<int64_t>;

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

int64_t top_of(const Buffers& list, const Offsets& offsets) {
  int64_t top = 0;
  for (size_t k = 0; k < list.size(); ++k) top = std::max(top, offsets[k] + list[k].size);
  return top;
}

class Allocator {
 public:
  Allocator(TileProgram& program, const target::Machine& m) : p_(program), m_(m) {
    for (uint32_t k = 0; k < p_.items.size(); ++k) {
      const Item& i = p_.items[k];
      if (i.prefetch || i.last < 0) continue;
      list_.push_back({i.first, i.last + 1, i.bytes});
      index_.push_back(k);
    }
  }

  std::optional<Allocation> run(const FetchShare& share, PlacementResult& failed) {
    rooms_ = rooms_of(share);
    alloc::Options options;
    options.alignment = m_.ocm_alignment;
    options.effort = 300'000;
    alloc::Placement low = alloc::minimise_peak(list_, options);
    bound_ = low.lower_bound;
    // Tensors at the bottom, fetches at the top; only where that is too much do they share the middle.
    Offsets offsets = bottom_up(low.offsets);
    bool apart = !offsets.empty() || list_.empty();
    if (apart) {
      peak_ = top_of(list_, offsets);
      for (const FetchRoom& f : rooms_) offsets.push_back(m_.ocm_bytes - f.bytes);
    } else {
      offsets = mixed(failed);
      if (offsets.empty()) return std::nullopt;
    }
    return settle(offsets);
  }

 private:
  // By primitive: the most that `steps_ahead` steps in a row need fetched.
  std::vector<FetchRoom> rooms_of(const FetchShare& share) const {
    std::vector<int64_t> need(p_.steps.size() + 1, 0);
    for (const Item& i : p_.items) {
      if (!i.prefetch) continue;
      constexpr int64_t kLong = 64;  // what stays for longer is no matter of this step
      for (int64_t s = i.first; s <= i.last && s - i.first < kLong; ++s)
        need[static_cast<size_t>(s)] += i.bytes;
    }
    std::vector<FetchRoom> rooms;
    for (size_t s = 0; s < p_.steps.size();) {
      size_t end = s;
      int64_t most = 0;
      for (; end < p_.steps.size() && p_.steps[end].primitive == p_.steps[s].primitive; ++end)
        most = std::max(most, need[end] + (share.steps_ahead > 1 ? need[end + 1] : 0));
      if (most > 0)
        rooms.push_back(
            {static_cast<int64_t>(s), static_cast<int64_t>(end) - 1, std::max(most, share.least)});
      s = end;
    }
    return rooms;
  }

  // Lowest places in several orders, one of them that of a placement of least peak: the one that leaves most
  // room above, over time. Empty when all reach into what fetches need.
  Offsets bottom_up(const Offsets& exact) const {
    auto length = [&](size_t k) { return list_[k].end - list_[k].begin; };
    std::vector<std::function<int64_t(size_t)>> keys = {
        [&](size_t k) { return exact[k]; }, [&](size_t k) { return -length(k); },
        [&](size_t k) { return -length(k) * list_[k].size; }, [&](size_t k) { return list_[k].begin; },
        [&](size_t k) { return -list_[k].size; }};
    Offsets best;
    std::pair<bool, double> least;
    for (const auto& key : keys) {
      std::vector<size_t> order(list_.size());
      std::iota(order.begin(), order.end(), size_t{0});
      std::ranges::stable_sort(order, {}, key);
      Offsets offsets = stack(order);
      if (offsets.empty() || collide(offsets)) continue;
      std::pair<bool, double> used = worth(offsets);
      if (best.empty() || used < least) {
        least = used;
        best = std::move(offsets);
      }
    }
    return best;
  }

  // A higher peak than need be is no price for room at other times.
  std::pair<bool, double> worth(const Offsets& offsets) const {
    constexpr double kPeak = 1.005;
    bool high = static_cast<double>(top_of(list_, offsets)) > kPeak * static_cast<double>(bound_);
    return {high, skyline(offsets)};
  }

  Offsets stack(const std::vector<size_t>& order) const {
    Occupancy taken(p_.steps.size(), m_.ocm_bytes);
    Offsets offsets(list_.size());
    for (size_t k : order) {
      offsets[k] = taken.hole(list_[k].begin, list_[k].end - 1, list_[k].size, false);
      if (offsets[k] < 0) return {};
      taken.keep(list_[k].begin, list_[k].end - 1, offsets[k], offsets[k] + list_[k].size);
    }
    return offsets;
  }

  // Highest byte in use, summed over time.
  double skyline(const Offsets& offsets) const {
    std::vector<int64_t> top(p_.steps.size(), 0);
    for (size_t k = 0; k < list_.size(); ++k)
      for (int64_t s = list_[k].begin; s < list_[k].end; ++s)
        top[static_cast<size_t>(s)] = std::max(top[static_cast<size_t>(s)], offsets[k] + list_[k].size);
    double sum = 0;
    for (size_t s = 0; s < top.size(); ++s) sum += static_cast<double>(top[s]) * p_.steps[s].cycles;
    return sum;
  }

  // Whether some tensor reaches into the room at the top that a primitive's fetches need.
  bool collide(const Offsets& offsets) const {
    std::vector<int64_t> room(p_.steps.size(), 0);
    for (const FetchRoom& f : rooms_)
      for (int64_t s = f.first; s <= f.last; ++s) room[static_cast<size_t>(s)] = f.bytes;
    RangeMax most(room);
    for (size_t k = 0; k < list_.size(); ++k) {
      auto begin = static_cast<size_t>(list_[k].begin), end = static_cast<size_t>(list_[k].end);
      if (offsets[k] + list_[k].size + most.over(begin, end) > m_.ocm_bytes) return true;
    }
    return false;
  }

  // Tensors and the room for fetches wherever they fit; empty: they do not.
  Offsets mixed(PlacementResult& failed) {
    for (const FetchRoom& f : rooms_) list_.push_back({f.first, f.last + 1, f.bytes});
    alloc::Options options;
    options.alignment = m_.ocm_alignment;
    options.effort = 2'000'000;
    std::optional<alloc::Placement> placed = alloc::place_within(list_, m_.ocm_bytes, options);
    if (!placed) {
      alloc::Peak peak = alloc::peak_load(list_);
      failed.shortage = Shortage{p_.steps[static_cast<size_t>(peak.time)].primitive};
      failed.short_bytes = std::max<int64_t>(0, peak.bytes - m_.ocm_bytes);
      return {};
    }
    peak_ = placed->peak;
    bound_ = placed->lower_bound;
    return std::move(placed->offsets);
  }

  // `offsets`: of the items, then of the room for fetches.
  Allocation settle(const Offsets& offsets) {
    Occupancy taken(p_.steps.size(), m_.ocm_bytes);
    for (size_t k = 0; k < index_.size(); ++k) {
      Item& i = p_.items[index_[k]];
      i.address = offsets[k];
      i.start = i.first;
      taken.keep(i.first, i.last, i.address, i.address + i.bytes);
    }
    Allocation out{taken, taken, std::vector<int64_t>(p_.steps.size(), 0), peak_, bound_};
    for (size_t k = 0; k < rooms_.size(); ++k) {
      const FetchRoom& f = rooms_[k];
      std::fill(out.ahead.begin() + f.first, out.ahead.begin() + f.last + 1, f.bytes);
      int64_t at = offsets[index_.size() + k];
      out.reserved.keep(f.first, f.last, at, at + f.bytes);
    }
    return out;
  }

  TileProgram& p_;
  const target::Machine& m_;
  Buffers list_;                 // items that no fetch fills
  std::vector<uint32_t> index_;  // of them
  std::vector<FetchRoom> rooms_;
  int64_t peak_ = 0, bound_ = 0;
};

}  // namespace

std::optional<Allocation> allocate(TileProgram& program, const target::Machine& machine,
                                   const FetchShare& share, PlacementResult& failed) {
  return Allocator(program, machine).run(share, failed);
}

}  // namespace mrvlc::accel

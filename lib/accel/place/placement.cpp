// Tensors first, then when fetches come, then where those lie that come just ahead.
#include "place/placement.h"

#include <algorithm>

#include "place/ddr_timeline.h"

namespace mrvlc::accel {
namespace {

// What comes just ahead of its use, in the room that is left.
class FetchPlacer {
 public:
  FetchPlacer(TileProgram& program, Occupancy& taken) : p_(program), taken_(taken) {}

  std::optional<Shortage> run(const std::vector<uint32_t>& fetches) {
    int64_t low = 0;
    for (uint32_t index : fetches) {
      Item& item = p_.items[index];
      if (item.address >= 0) continue;
      low = std::min(item.first, std::max(low, item.start));
      if (!settle(item, low)) return Shortage{p_.steps[static_cast<size_t>(item.first)].primitive};
      low = item.start;
      taken_.keep(item.start, item.last, item.address, item.address + item.bytes);
    }
    return std::nullopt;
  }

 private:
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
  Occupancy& taken_;
};

}  // namespace

PlacementResult place(TileProgram& program, const target::Machine& machine, double fetch_share) {
  for (Item& i : program.items) i.bytes = aligned(std::max<int64_t>(i.bytes, 1), machine);
  // Two steps' worth of what is fetched, so that one arrives while the other is used; one where that is too
  // much.
  auto share = static_cast<int64_t>(fetch_share * machine.ocm_bytes);
  PlacementResult placed;
  for (FetchShare ahead : {FetchShare{2, share}, FetchShare{2, 0}, FetchShare{1, 0}}) {
    std::optional<Allocation> allocation = allocate(program, machine, ahead, placed);
    if (!allocation) continue;
    DdrTimeline ddr(program, machine, *allocation);
    ddr.run();
    std::optional<Shortage> shortage = FetchPlacer(program, allocation->taken).run(ddr.fetches());
    return {shortage, ddr.cycles(), 0, allocation->peak, allocation->peak_bound};
  }
  return placed;
}

}  // namespace mrvlc::accel

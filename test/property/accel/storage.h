// In which order the elements of a value are stored, as far as the arithmetic depends on it: sums over
// several dimensions and flattened images in front of matrix products run in that order. docs/arithmetic.md,
// "Order".
#pragma once
#include <optional>
#include <set>
#include <vector>

#include "mrvlc/partition/region.h"

namespace mrvlc::accel_random {

class Storage {
 public:
  Storage(const ir::Graph& graph, const partition::Region& region);
  // Dimensions of the value, outermost first: row-major, or with dimension 1 last. nullopt: the value is a
  // view of another one, and the documentation gives no order.
  std::optional<std::vector<size_t>> order(ir::ValueId value) const;
  // It is written into its place in the result of a Concat: its channels do not lie together with the next
  // pixel's.
  bool in_place(ir::ValueId value) const { return placed_.contains(value); }

 private:
  const ir::Graph& graph_;
  std::vector<bool> last_;
  std::set<ir::ValueId> views_, placed_;
};

}  // namespace mrvlc::accel_random

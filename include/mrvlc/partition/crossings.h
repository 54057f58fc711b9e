// Values at the borders of regions: how regions store them, and which of them the host casts or permutes.
#pragma once
#include "mrvlc/partition/region.h"

namespace mrvlc::partition {

// How a region has a value.
struct DeviceForm {
  ir::ValueId value;
  bool casts = false, permutes = false;  // against the host's form: its type, its order of elements
  std::vector<int64_t> order;            // stored dimension i is dimension order[i]; empty where nobody says
  auto operator<=>(const DeviceForm&) const = default;
  bool as_on_host() const { return !casts && !permutes; }
};
struct RegionForms {
  std::vector<DeviceForm> inputs, outputs;
};

// A value that the host rewrites on its way into or out of a region.
struct Crossing {
  uint32_t region = 0;  // Region::id
  ir::ValueId value;
  bool to_device = false;
  bool casts = false;     // between float32 and fp16
  bool permutes = false;  // elements change places
  bool operator==(const Crossing&) const = default;
};

// In the order of work, inputs before outputs. A value is rewritten once for all regions that take it in the
// same form, and not at all where the host has it, or needs it, as the device does. `forms[i]` is of
// partition.regions[i]: what these regions were compiled to.
std::vector<Crossing> crossings(const ir::Graph& graph, const Partition& partition,
                                const std::vector<RegionForms>& forms);
// The same before regions are compiled, by the forms they are expected to have.
class Accelerator;  // accelerator.h
std::vector<Crossing> crossings(const ir::Graph& graph, const Partition& partition,
                                const Accelerator& accelerator);

// Does storing channels last move elements of the shape?
bool moves_channels(const Shape& shape);

}  // namespace mrvlc::partition

// Joins what the simulator counted with the ID map: time, traffic and bounds by layer and ONNX operator.
#pragma once
#include <array>
#include <map>
#include <string_view>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/report/report.h"
#include "mrvlc/sim/simulator.h"

namespace mrvlc::driver {

// By sim::Section.
inline constexpr std::array<std::string_view, 3> kSectionNames{"init", "main", "finish"};

// Layers and instructions of the ID map by region, read once.
class MapIndex {
 public:
  explicit MapIndex(const idmap::Json& map);
  // As the map of these will say; without labels().
  MapIndex(const ir::Graph& graph, const partition::Partition& partition,
           const std::vector<accel::CompiledRegion>& regions);

  struct Row {
    sim::InstructionSpan span;
    uint32_t expr = 0;
  };
  // The row that holds an instruction, or null.
  const Row* find(uint32_t region, sim::Section section, uint32_t instruction) const;
  std::vector<sim::InstructionSpan> spans(uint32_t region) const;
  // Numbers, kinds, rules and ONNX operators; everything else is 0.
  std::vector<report::Layer> layers(uint32_t region) const;
  const idmap::Labels& labels() const { return labels_; }

 private:
  struct Region {
    std::vector<Row> rows[3];  // by section, in order of `begin`
    std::vector<report::Layer> layers;
  };
  const Region* region(uint32_t id) const;
  idmap::Labels labels_ = {};
  std::map<uint32_t, Region> regions_;
};

// Everything of report::Region that follows from the run and the map: not file, lower bound, weights, OCM,
// cuts, MACs of the operators. `drawing`: bars and critical path too, which tables do not need.
report::Region profile_region(const MapIndex& index, uint32_t id, const sim::Report& run, uint32_t tiles,
                              const target::Machine& machine, bool drawing);

// On-chip memory over time, from the instructions of main that hold it.
std::vector<report::MemoryUse> memory_uses(const std::vector<accel::OcmUse>& uses, const sim::Report& run);

}  // namespace mrvlc::driver

#include "profile/region_profile.h"

#include <algorithm>

namespace mrvlc::driver {
namespace {

using idmap::Json;

static_assert(report::kBounds == sim::kBounds && report::kQueues == isa::kQueues);

// Events count from the start of their section; the sections run one after the other.
std::array<uint64_t, 3> section_begins(const sim::Report& run) {
  return {0, run.init_cycles, run.init_cycles + run.main_cycles};
}

// Numbers of layers are indices as compile writes them; a map that is not so must not be trusted with memory.
report::Layer* layer_of(std::vector<report::Layer>& layers, uint32_t number) {
  return number < layers.size() ? &layers[number] : nullptr;
}

void add_times(report::Layer& layer, const sim::LayerTime& time, bool main) {
  layer.cycles += time.cycles;
  for (size_t b = 0; b < sim::kBounds; ++b) layer.bound[b] += time.by_bound[b];
  for (size_t q = 0; q < isa::kQueues; ++q) layer.busy[q] += time.busy[q];
  layer.executed_macs += time.macs;
  layer.ddr_read_bytes += time.ddr_read_bytes;
  layer.ddr_write_bytes += time.ddr_write_bytes;
  if (main && time.instructions > 0) {
    layer.begin = time.first_start;
    layer.end = time.last_end;
  }
}

void add_bars(report::Region& r, const MapIndex& index, const sim::Report& run) {
  auto begins = section_begins(run);
  r.bars.reserve(run.events.size());
  for (const sim::Event& e : run.events) {
    const auto* row = index.find(r.id, e.section, e.instruction);
    uint64_t at = begins[static_cast<size_t>(e.section)];
    report::Bar bar;
    bar.start = at + e.start;
    bar.begin = at + e.begin;
    bar.moved = at + e.moved;
    bar.end = at + e.end;
    bar.wait = e.start - e.ready;
    bar.bytes = e.ddr_read_bytes + e.ddr_write_bytes;
    bar.instruction = e.instruction;
    bar.layer = row == nullptr ? 0 : row->span.layer;
    bar.tile = e.tile;
    bar.queue = static_cast<uint8_t>(e.queue);
    bar.bound = static_cast<uint8_t>(e.bound);
    r.bars.push_back(bar);
  }
}

// Steps of one layer and bound that follow each other are one stretch.
void add_path(report::Region& r, const MapIndex& index, const sim::Report& run) {
  auto begins = section_begins(run);
  for (sim::Section section : {sim::Section::Init, sim::Section::Main, sim::Section::Finish}) {
    uint64_t at = begins[static_cast<size_t>(section)];
    for (const sim::PathStep& step : sim::critical_path(run.events, section)) {
      const auto* row = index.find(r.id, section, step.instruction);
      uint32_t layer = row == nullptr ? 0 : row->span.layer;
      auto bound = static_cast<uint8_t>(step.bound);
      bool same = !r.path.empty() && r.path.back().layer == layer && r.path.back().bound == bound &&
                  r.path.back().end == at + step.begin;
      if (same) r.path.back().end = at + step.end;
      if (!same) r.path.push_back({at + step.begin, at + step.end, layer, bound});
    }
  }
}

// Share of what the matrix units of all tiles could do in so many cycles.
double of_peak(uint64_t macs, uint64_t cycles, uint32_t tiles, const target::Machine& machine) {
  double peak = static_cast<double>(cycles) * machine.fp16_macs * tiles;
  return peak == 0 ? 0 : static_cast<double>(macs) / peak;
}

}  // namespace

MapIndex::MapIndex(const Json& map) : labels_(map) {
  for (const Json& l : map.at("layers")) {
    auto& layers = regions_[l.at("region").get<uint32_t>()].layers;
    report::Layer layer;
    layer.number = l.at("layer").get<uint32_t>();
    layer.kind = l.at("kind").get<std::string>();
    layer.rule = l.at("rule").get<std::string>();
    for (const Json& e : l.at("exprs")) {
      layer.operators += (layer.operators.empty() ? "" : " + ") + labels_.of(e.get<uint32_t>());
    }
    layers.push_back(std::move(layer));
  }
  for (const Json& i : map.at("instructions")) {
    auto section = std::ranges::find(kSectionNames, i.at("section").get_ref<const std::string&>());
    if (section == kSectionNames.end()) continue;
    auto at = static_cast<size_t>(section - kSectionNames.begin());
    sim::InstructionSpan span{static_cast<sim::Section>(at), i.at("begin").get<uint32_t>(),
                              i.at("end").get<uint32_t>(), i.at("layer").get<uint32_t>()};
    regions_[i.at("region").get<uint32_t>()].rows[at].push_back({span, i.at("expr_id").get<uint32_t>()});
  }
}

MapIndex::MapIndex(const ir::Graph& graph, const partition::Partition& partition,
                   const std::vector<accel::CompiledRegion>& regions) {
  for (size_t r = 0; r < regions.size(); ++r) {
    Region& mine = regions_[partition.regions[r].id];
    for (const partition::Layer& from : partition.regions[r].layers) {
      report::Layer layer;
      layer.number = static_cast<uint32_t>(mine.layers.size());
      layer.kind = name(from.kind);
      layer.rule = from.rule;
      for (ir::NodeId n : from.nodes)
        layer.operators += (layer.operators.empty() ? "" : " + ") + idmap::label(graph, n);
      mine.layers.push_back(std::move(layer));
    }
    for (const accel::InstructionRange& i : regions[r].instructions) {
      const auto at = static_cast<size_t>(i.section);
      const sim::InstructionSpan span{static_cast<sim::Section>(at), i.begin, i.end, i.layer};
      mine.rows[at].push_back({span, static_cast<uint32_t>(i.expr.index())});
    }
  }
}

const MapIndex::Region* MapIndex::region(uint32_t id) const {
  auto it = regions_.find(id);
  return it == regions_.end() ? nullptr : &it->second;
}

const MapIndex::Row* MapIndex::find(uint32_t id, sim::Section section, uint32_t instruction) const {
  const Region* r = region(id);
  if (r == nullptr) return nullptr;
  const auto& rows = r->rows[static_cast<size_t>(section)];
  auto it = std::ranges::upper_bound(rows, instruction, {}, [](const Row& row) { return row.span.end; });
  return it == rows.end() || instruction < it->span.begin ? nullptr : &*it;
}

std::vector<sim::InstructionSpan> MapIndex::spans(uint32_t id) const {
  std::vector<sim::InstructionSpan> spans;
  const Region* r = region(id);
  if (r == nullptr) return spans;
  for (const auto& rows : r->rows) {
    for (const Row& row : rows) spans.push_back(row.span);
  }
  return spans;
}

std::vector<report::Layer> MapIndex::layers(uint32_t id) const {
  const Region* r = region(id);
  return r == nullptr ? std::vector<report::Layer>{} : r->layers;
}

report::Region profile_region(const MapIndex& index, uint32_t id, const sim::Report& run, uint32_t tiles,
                              const target::Machine& machine, bool drawing) {
  report::Region r;
  r.id = id;
  r.tiles = tiles;
  r.init_cycles = run.init_cycles;
  r.main_cycles = run.main_cycles;
  r.finish_cycles = run.finish_cycles;
  r.executed_macs = run.macs;
  r.ddr_read_bytes = run.ddr_read_bytes;
  r.ddr_write_bytes = run.ddr_write_bytes;
  r.pod_busy = run.pod_busy;
  r.layers = index.layers(id);
  auto spans = index.spans(id);
  for (sim::Section section : {sim::Section::Init, sim::Section::Main, sim::Section::Finish}) {
    for (const sim::LayerTime& time : sim::layer_times(run.events, section, spans)) {
      report::Layer* layer = layer_of(r.layers, time.layer);
      if (layer != nullptr) add_times(*layer, time, section == sim::Section::Main);
    }
  }
  for (report::Layer& l : r.layers) {
    l.mac_utilization = of_peak(l.executed_macs, l.cycles, tiles, machine);
  }
  r.pod_utilization = of_peak(r.executed_macs, r.cycles(), tiles, machine);
  if (drawing) {
    add_bars(r, index, run);
    add_path(r, index, run);
  }
  return r;
}

std::vector<report::MemoryUse> memory_uses(const std::vector<accel::OcmUse>& uses, const sim::Report& run) {
  std::vector<std::pair<uint64_t, uint64_t>> times;  // start and end by instruction of main
  for (const sim::Event& e : run.events) {
    if (e.section != sim::Section::Main) continue;
    if (e.instruction >= times.size()) times.resize(size_t{e.instruction} + 1);
    times[e.instruction] = {run.init_cycles + e.start, run.init_cycles + e.end};
  }
  std::vector<report::MemoryUse> out;
  for (const accel::OcmUse& u : uses) {
    if (u.first >= times.size() || u.last >= times.size() || u.end <= u.begin) continue;
    uint64_t start = times[u.first].first, stop = std::max(times[u.last].second, start);
    out.push_back({u.name, static_cast<uint8_t>(u.kind), u.tiles, u.begin, u.end, start, stop, u.layer});
  }
  return out;
}

}  // namespace mrvlc::driver

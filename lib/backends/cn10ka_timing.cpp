// What the simulator counted, joined with what its instructions belong to: time, traffic and bounds by layer.
#include <algorithm>
#include <map>

#include "cn10ka.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::backends {
namespace {

static_assert(report::kBounds == sim::kBounds && report::kQueues == isa::kQueues);

backend::Section section_of(sim::Section section) {
  return static_cast<backend::Section>(section);
}

// Either of the two structures that say what instructions belong to.
template <class Ranges>
std::vector<sim::InstructionSpan> spans_of(const Ranges& ranges) {
  std::vector<sim::InstructionSpan> out;
  for (const auto& r : ranges) out.push_back({static_cast<sim::Section>(r.section), r.begin, r.end, r.layer});
  return out;
}

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

void add_bars(report::Region& r, const backend::CodeIndex& index, const sim::Report& run) {
  auto begins = section_begins(run);
  r.bars.reserve(run.events.size());
  for (const sim::Event& e : run.events) {
    const auto* row = index.find(r.id, section_of(e.section), e.instruction);
    uint64_t at = begins[static_cast<size_t>(e.section)];
    report::Bar bar;
    bar.start = at + e.start;
    bar.begin = at + e.begin;
    bar.moved = at + e.moved;
    bar.end = at + e.end;
    bar.wait = e.start - e.ready;
    bar.bytes = e.ddr_read_bytes + e.ddr_write_bytes;
    bar.instruction = e.instruction;
    bar.layer = row == nullptr ? 0 : row->layer;
    bar.tile = e.tile;
    bar.queue = static_cast<uint8_t>(e.queue);
    bar.bound = static_cast<uint8_t>(e.bound);
    bar.section = static_cast<uint8_t>(e.section);
    r.bars.push_back(bar);
  }
}

// Steps of one layer and bound that follow each other are one stretch.
void add_path(report::Region& r, const backend::CodeIndex& index, const sim::Report& run) {
  auto begins = section_begins(run);
  for (sim::Section section : {sim::Section::Init, sim::Section::Main, sim::Section::Finish}) {
    uint64_t at = begins[static_cast<size_t>(section)];
    for (const sim::PathStep& step : sim::critical_path(run.events, section)) {
      const auto* row = index.find(r.id, section_of(section), step.instruction);
      uint32_t layer = row == nullptr ? 0 : row->layer;
      auto bound = static_cast<uint8_t>(step.bound);
      bool same = !r.path.empty() && r.path.back().layer == layer && r.path.back().bound == bound &&
                  r.path.back().end == at + step.begin;
      if (same) r.path.back().end = at + step.end;
      if (!same) r.path.push_back({at + step.begin, at + step.end, layer, bound});
    }
  }
}

struct Macs {
  uint64_t all = 0, integers = 0;
};

// Share of what the matrix units of all tiles could do in so many cycles, each kind at its rate.
double of_peak(const Macs& macs, uint64_t cycles, uint32_t tiles, const target::Machine& machine) {
  const double peak = static_cast<double>(cycles) * tiles;
  double least = static_cast<double>(macs.all - macs.integers) / machine.fp16_macs;
  if (macs.integers > 0) least += static_cast<double>(macs.integers) / machine.int8_macs;
  return peak == 0 ? 0 : least / peak;
}

report::Region region_of(const sim::Report& run, const backend::CodeIndex& index, uint32_t id, uint32_t tiles,
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
  r.fetched_bytes = run.fetched_bytes;
  r.pod_busy = run.pod_busy;
  r.layers = index.layers(id);
  const auto spans = spans_of(index.spans(id));
  std::map<uint32_t, uint64_t> integers;  // products of them, by layer
  uint64_t all_integers = 0;
  for (sim::Section section : {sim::Section::Init, sim::Section::Main, sim::Section::Finish}) {
    for (const sim::LayerTime& time : sim::layer_times(run.events, section, spans)) {
      report::Layer* layer = layer_of(r.layers, time.layer);
      all_integers += time.integer_macs;
      integers[time.layer] += time.integer_macs;
      if (layer != nullptr) add_times(*layer, time, section == sim::Section::Main);
    }
  }
  for (report::Layer& l : r.layers) {
    l.mac_utilization = of_peak({l.executed_macs, integers[l.number]}, l.cycles, tiles, machine);
  }
  r.pod_utilization = of_peak({r.executed_macs, all_integers}, r.cycles(), tiles, machine);
  if (drawing) {
    add_bars(r, index, run);
    add_path(r, index, run);
  }
  return r;
}

std::vector<report::MemoryUse> memory_of(const sim::Report& run,
                                         const std::vector<backend::MemoryUse>& uses) {
  std::vector<std::pair<uint64_t, uint64_t>> times;  // start and end by instruction of main
  for (const sim::Event& e : run.events) {
    if (e.section != sim::Section::Main) continue;
    if (e.instruction >= times.size()) times.resize(size_t{e.instruction} + 1);
    times[e.instruction] = {run.init_cycles + e.start, run.init_cycles + e.end};
  }
  std::vector<report::MemoryUse> out;
  for (const backend::MemoryUse& u : uses) {
    if (u.first >= times.size() || u.last >= times.size() || u.end <= u.begin) continue;
    uint64_t start = times[u.first].first, stop = std::max(times[u.last].second, start);
    out.push_back({u.name, static_cast<uint8_t>(u.kind), u.tiles, u.begin, u.end, start, stop, u.layer});
  }
  return out;
}

class Timed : public backend::Timing {
 public:
  Timed(sim::Report run, uint64_t pessimistic, uint32_t tiles, const target::Machine& machine)
      : run_(std::move(run)), pessimistic_(pessimistic), tiles_(tiles), machine_(machine) {}

  uint64_t cycles() const override { return run_.total_cycles(); }
  std::map<uint32_t, uint64_t> layer_cycles(const std::vector<backend::CodeRange>& ranges) const override {
    std::map<uint32_t, uint64_t> out;
    std::vector<backend::CodeRange> main;
    std::ranges::copy_if(ranges, std::back_inserter(main),
                         [](const auto& r) { return r.section == backend::Section::Main; });
    for (const sim::LayerTime& t : sim::layer_times(run_.events, sim::Section::Main, spans_of(main)))
      out[t.layer] += t.cycles;
    return out;
  }
  report::Region profile(const backend::CodeIndex& index, uint32_t region, bool drawing) const override {
    report::Region r = region_of(run_, index, region, tiles_, machine_, drawing);
    r.pessimistic_cycles = pessimistic_;
    return r;
  }
  std::vector<report::MemoryUse> memory(const std::vector<backend::MemoryUse>& uses) const override {
    return memory_of(run_, uses);
  }

 private:
  sim::Report run_;
  uint64_t pessimistic_;
  uint32_t tiles_;
  target::Machine machine_;
};

}  // namespace

std::unique_ptr<backend::Timing> timing_of(sim::Report run, uint64_t pessimistic, uint32_t tiles,
                                           const target::Machine& machine) {
  return std::make_unique<Timed>(std::move(run), pessimistic, tiles, machine);
}

Result<std::unique_ptr<backend::Timing>> cn10ka_timing(std::string_view binary,
                                                       const target::Machine& machine) {
  MRVLC_ASSIGN(isa::Binary program, isa::read_container(binary));
  const uint32_t tiles = program.tiles;
  MRVLC_ASSIGN(sim::Simulator simulator, sim::Simulator::create(std::move(program), machine));
  MRVLC_ASSIGN(sim::Report run, simulator.time_only());
  if (!run.hazards.empty())
    return make_diag<DiagCode::MRV0007>("the generated program has a hazard: " + run.hazards[0].what);
  MRVLC_ASSIGN(const uint64_t pessimistic, simulator.cycles_on(target::pessimistic(machine)));
  return timing_of(std::move(run), pessimistic, tiles, machine);
}

}  // namespace mrvlc::backends

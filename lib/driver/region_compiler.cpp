// Regions are compiled, encoded and given back one after the other, so that of a large model's weights no
// more than one region's are there twice.
#include "region_compiler.h"

#include <algorithm>

#include "mrvlc/ir/rewriter.h"
#include "mrvlc/support/diag/accel.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::driver {
namespace {

// Constants are given back after code generation from this many bytes, with this many readers to ask.
constexpr int64_t kDiscardFrom = 4096;
constexpr size_t kDiscardUsers = 16;

// All that decides about code.
accel::Options region_options(const CompileOptions& options) {
  accel::Options o;
  o.tiles = options.tiles;
  o.effort = options.effort;
  o.pin_weights = options.pin_weights;
  if (options.silicon_id) o.architecture = isa::Architecture::Mlip;
  return o;
}

}  // namespace

RegionCompiler::RegionCompiler(CompiledModel& m, const CompileOptions& options,
                               const std::vector<accel::Stage>& stages, Diagnostics& diagnostics,
                               const std::function<void(std::string)>& dump)
    : m_(m),
      options_(options),
      stages_(stages),
      diagnostics_(diagnostics),
      dump_(dump),
      region_of_(m.model.graph.node_slots(), UINT32_MAX) {
  for (const auto& d : m_.partition.decisions) {
    if (d.accelerator) region_of_[d.node.index()] = d.region;
  }
}

Status RegionCompiler::compile(const partition::Region& region) {
  if (options_.pin_weights && m_.partition.regions.size() > 1)
    return make_diag<DiagCode::MRV0505>(m_.partition.regions.size());
  accel::Options o = region_options(options_);
  o.log = options_.log;
  o.name = fmt::format("{}_region{}", m_.name, region.id);
  o.texts = stages_;
  MRVLC_ASSIGN(accel::CompiledRegion compiled, accel::compile_region(m_.model.graph, region, m_.machine, o));
  for (const Diag& d : compiled.warnings) diagnostics_.add(d);
  for (const std::string& text : compiled.texts) dump_(fmt::format("# region {}\n{}", region.id, text));
  compiled.texts.clear();
  m_.regions.push_back(std::move(compiled));
  discard_weights(region);
  return {};
}

// What is in the container is not kept a second time.
Status RegionCompiler::encode() {
  isa::Binary& binary = m_.regions.back().binary;
  m_.binaries.push_back(isa::write_container(binary));
  binary.weights = std::string();
  for (auto* program : {&binary.init, &binary.main, &binary.finish})
    *program = std::vector<isa::Instruction>();
  return {};
}

// Weights that are in the binary are not kept a second time in the graph, unless it is to be printed. The
// data alone goes: values, types and nodes, which the partition names, stay as they are.
void RegionCompiler::discard_weights(const partition::Region& region) {
  if (std::find(options_.emit.begin(), options_.emit.end(), "ir") != options_.emit.end()) return;
  ir::Rewriter rw(m_.model.graph, "codegen");
  auto compiled = [&](ir::NodeId n) { return region_of_[n.index()] <= region.id; };
  for (const auto& layer : region.layers) {
    for (ir::NodeId n : layer.nodes) {
      for (ir::ValueId in : m_.model.graph.node(n).inputs) {
        if (!m_.model.graph.is_constant(in)) continue;
        const ir::Value& v = m_.model.graph.value(in);
        bool worthwhile =
            v.type.bytes() >= kDiscardFrom && v.users.size() <= kDiscardUsers && v.output_uses == 0;
        if (worthwhile && std::all_of(v.users.begin(), v.users.end(), compiled)) rw.discard(in);
      }
    }
  }
}

Status time_regions(CompiledModel& m) {
  for (const std::string& bytes : m.binaries) {
    MRVLC_ASSIGN(isa::Binary binary, isa::read_container(bytes));
    MRVLC_ASSIGN(sim::Simulator simulator, sim::Simulator::create(std::move(binary), m.machine));
    MRVLC_ASSIGN(sim::Report r, simulator.time_only());
    if (!r.hazards.empty())
      return make_diag<DiagCode::MRV0007>("the generated program has a hazard: " + r.hazards[0].what);
    m.runs.push_back(std::move(r));
  }
  return {};
}

std::optional<double> seconds_alone(const CompiledModel& m, const CompileOptions& options,
                                    const partition::Region& region) {
  auto compiled = accel::compile_region(m.model.graph, region, m.machine, region_options(options));
  if (!compiled.ok()) return std::nullopt;
  auto simulator = sim::Simulator::create(std::move(compiled->binary), m.machine);
  if (!simulator.ok()) return std::nullopt;
  auto run = simulator->time_only();
  if (!run.ok()) return std::nullopt;
  return static_cast<double>(run->total_cycles()) / (1e9 * m.machine.clock_ghz);
}

}  // namespace mrvlc::driver

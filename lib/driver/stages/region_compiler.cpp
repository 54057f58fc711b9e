// Regions are compiled and given back one after the other, so that of a large model's weights no
// more than one region's are there twice.
#include "stages/region_compiler.h"

#include <algorithm>

#include "mrvlc/ir/rewriter.h"
#include "mrvlc/support/diag/accel.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::driver {
namespace {

// Constants are given back after code generation from this many bytes, with this many readers to ask.
constexpr int64_t kDiscardFrom = 4096;
constexpr size_t kDiscardUsers = 16;

}  // namespace

RegionCompiler::RegionCompiler(CodedModel& m, const CompileOptions& options, Diagnostics& diagnostics,
                               std::vector<std::string>& texts)
    : m_(m),
      options_(options),
      diagnostics_(diagnostics),
      texts_(texts),
      region_of_(m.model.graph.node_slots(), UINT32_MAX) {
  for (const auto& d : m_.partition.decisions) {
    if (d.accelerator) region_of_[d.node.index()] = d.region;
  }
}

Status RegionCompiler::compile(const partition::PlacedRegion& placed) {
  const partition::Region& region = *placed.region;
  const size_t count = all_regions(m_.model.graph, m_.partition).size();
  if (options_.accelerator.pin_weights && count > 1) return make_diag<DiagCode::MRV0505>(count);
  MRVLC_ASSIGN(backend::RegionCode compiled,
               m_.backend->generate(*placed.graph, region, fmt::format("{}_region{}", m_.name, region.id),
                                    options_.log));
  for (const Diag& d : compiled.warnings) diagnostics_.add(d);
  for (const std::string& text : compiled.texts)
    texts_.push_back(fmt::format("# region {}\n{}", region.id, text));
  compiled.texts.clear();
  compiled.stored = m_.backend->stored_values(*placed.graph, region);
  m_.regions.push_back(std::move(compiled));
  if (placed.graph == &m_.model.graph) discard_weights(region);
  backend::encode(m_.regions.back());
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

Status time_regions(ProbedModel& m) {
  for (const backend::RegionCode& region : m.regions) {
    MRVLC_ASSIGN(std::unique_ptr<backend::Timing> timing, m.backend_of(region).time(region.bytes));
    m.timings.push_back(std::move(timing));
  }
  return {};
}

}  // namespace mrvlc::driver

// Regions as the vendor's JSON of nodes and constants; costs are those of mrvlc's own code, times unknown.
#include "vendor.h"

#include <algorithm>

#include "mrvlc/accel/legality.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/target.h"
#include "mrvlc/vendor/vendor.h"

namespace mrvlc::backends {
namespace {

// Nobody here knows what the vendor's compiler makes of it.
class Unknown : public backend::Timing {
 public:
  uint64_t cycles() const override { return 0; }
  std::map<uint32_t, uint64_t> layer_cycles(const std::vector<backend::CodeRange>&) const override {
    return {};
  }
  report::Region profile(const backend::CodeIndex& index, uint32_t region, bool) const override {
    report::Region r;
    r.id = region;
    r.detailed = false;
    r.layers = index.layers(region);
    return r;
  }
  std::vector<report::MemoryUse> memory(const std::vector<backend::MemoryUse>&) const override { return {}; }
};

class Vendor : public backend::Backend {
 public:
  Vendor(target::Machine machine, uint32_t tiles) : machine_(std::move(machine)), tiles_(tiles) {}

  const target::Machine& machine() const override { return machine_; }
  rules::RuleFile rule_file() const override { return vendor::rule_file(); }
  const partition::SoundRules& rules() const override { return vendor::rules(); }
  backend::PassLimits pass_limits() const override { return {.largest_batch = machine_.max_batch}; }
  uint32_t tiles() const override { return tiles_; }
  bool runs_here() const override { return false; }

  partition::Legality legal(const ir::Graph& graph, const partition::Layer& layer) const override {
    return vendor::legal(graph, layer);
  }
  partition::RegionForms forms(const ir::Graph& graph, const partition::Region& region) const override {
    partition::RegionForms out;
    for (ir::ValueId v : region.inputs) out.inputs.push_back({v, false, false, {}});
    for (ir::ValueId v : region.outputs)
      out.outputs.push_back({v, false, partition::moves_channels(graph.value(v).type.shape), {}});
    return out;
  }
  // Of the same machine under mrvlc's code: what the vendor's takes is not known.
  double layer_seconds(const ir::Graph& graph, const partition::Layer& layer) const override {
    return accel::quick_seconds(graph, layer, machine_, tiles_);
  }
  double border_seconds(const ir::Graph& graph, const partition::Region& region) const override {
    return accel::quick_border_seconds(graph, region, machine_);
  }

  Result<backend::RegionCode> generate(const ir::Graph& graph, const partition::Region& region,
                                       const std::string& name, const Log&) const override {
    backend::RegionCode out;
    out.tiles = tiles_;
    vendor::Texts texts = vendor::nodes_json(graph, region, name);
    out.files = {{"-nodes.json", std::move(texts.nodes)}, {"-consts.json", std::move(texts.constants)}};
    for (ir::ValueId v : region.inputs)
      out.inputs.push_back({v, backend::row_major(graph.value(v).type.shape.size()), ElementType::F32});
    for (ir::ValueId v : region.outputs) {
      const size_t rank = graph.value(v).type.shape.size();
      out.outputs.push_back(
          {v, rank == 4 ? std::vector<int64_t>{0, 2, 3, 1} : backend::row_major(rank), ElementType::F32});
    }
    uint32_t instruction = 0;
    for (uint32_t l = 0; l < region.layers.size(); ++l) {
      backend::LayerReport layer;
      layer.layer = l;
      for (ir::NodeId n : region.layers[l].nodes) {
        layer.macs += ops::macs(graph, graph.node(n));
        out.instructions.push_back(
            {backend::Section::Main, instruction, instruction + 1, l, n});  // a node of the JSON's layer
        ++instruction;
        for (ir::ValueId v : graph.node(n).inputs)
          if (v.valid() && graph.is_constant(v)) layer.weight_bytes += graph.value(v).type.bytes();
      }
      out.macs += layer.macs;
      out.weights_bytes += layer.weight_bytes;
      out.layers.push_back(std::move(layer));
    }
    out.section_counts = {0, instruction, 0};
    return out;
  }
  std::vector<backend::StoredValue> stored_values(const ir::Graph&, const partition::Region&) const override {
    return {};
  }

  Result<std::unique_ptr<backend::Timing>> time(std::string_view) const override {
    return std::unique_ptr<backend::Timing>(std::make_unique<Unknown>());
  }
  Result<std::unique_ptr<backend::Executor>> executor(std::string_view) const override {
    return make_diag<DiagCode::MRV0357>(machine_.name);
  }
  Result<std::string> disassembly(std::string_view, const std::vector<backend::CodeRange>&) const override {
    return make_diag<DiagCode::MRV0357>(machine_.name);
  }

 private:
  target::Machine machine_;
  uint32_t tiles_;
};

}  // namespace

Result<Opened> open_vendor(target::Machine machine, const Settings& settings) {
  const auto refuse = [&](std::string_view option) {
    return make_diag<DiagCode::MRV0004>(
        fmt::format("{}: {} is the vendor's compiler, which has its own options", option, machine.name));
  };
  if (settings.column != target::Column::Default) return refuse("--machine");
  if (settings.pin_weights) return refuse("--wb-pin");
  if (settings.silicon_id) return refuse("--silicon-id");
  if (!settings.stages.empty()) return refuse("--dump-stage");
  const auto& counts = machine.tile_counts;
  const uint32_t tiles = settings.tiles != 0 ? settings.tiles : counts.back();
  if (std::ranges::find(counts, tiles) == counts.end()) return refuse("--tiles");
  return Opened(std::make_unique<Vendor>(std::move(machine), tiles));
}

}  // namespace mrvlc::backends

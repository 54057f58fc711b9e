// The stages in order: lowering, memory plan, instructions, container.
#include <algorithm>

#include "bound/bound.h"
#include "code/emit.h"
#include "lower/lowering.h"
#include "mrvlc/cost/cost.h"
#include "mrvlc/isa/container_check.h"
#include "mrvlc/support/checked.h"
#include "mrvlc/support/diag/general.h"
#include "place/live_peak.h"
#include "places.h"
#include "primitive/cost_limits.h"
#include "primitive/prune.h"
#include "schedule.h"
#include "stage_texts.h"

namespace mrvlc::accel {
namespace {

uint8_t port_type(ElementType elem) {
  switch (elem) {
    case ElementType::F16:
      return isa::kPortF16;
    case ElementType::I8:
      return isa::kPortI8;
    case ElementType::U8:
      return isa::kPortU8;
    default:
      return isa::kPortF32;
  }
}

isa::Port make_port(const ir::Graph& graph, const backend::Port& layout, const Buffer& buffer) {
  const ir::Value& value = graph.value(layout.value);
  isa::Port port;
  port.name = value.name;
  port.outer_type = port_type(value.type.elem);
  port.inner_type = port_type(layout.type);
  port.ddr_offset = static_cast<uint64_t>(buffer.ddr);
  bool last = layout.perm != identity_perm(layout.perm.size());
  port.format = last ? 2 : 1;
  // Innermost dimensions last; those beyond four are joined with the outermost.
  size_t at = 4;
  for (size_t i = layout.perm.size(); i-- > 0;) {
    auto size = static_cast<uint32_t>(value.type.shape[static_cast<size_t>(layout.perm[i])]);
    if (at > 0) --at;
    port.dims[at] *= size;
  }
  return port;
}

// Does nothing; so that something leads back to the layers of a region that takes no instruction.
isa::Instruction sync() {
  isa::Instruction i;
  i.queue = isa::Queue::DmaIn;
  return i;
}

void frame(CompiledRegion& out, std::vector<backend::CodeRange> init, const partition::Region& region) {
  using backend::Section;
  std::vector<backend::CodeRange> ranges = std::move(init);
  if (out.binary.main.empty()) {
    out.binary.main = {sync()};
    ranges.push_back({Section::Main, 0, 1, 0, region.layers[0].anchor});
  }
  ranges.insert(ranges.end(), out.instructions.begin(), out.instructions.end());
  out.instructions = std::move(ranges);
}

std::vector<backend::MemoryUse> named(std::vector<Use> uses, const ir::Graph& graph,
                                      const partition::Region& region, const Program& program,
                                      uint32_t tiles) {
  std::vector<backend::MemoryUse> out;
  for (auto& [use, buffer] : uses) {
    ir::ValueId value = buffer == UINT32_MAX ? ir::ValueId() : program.buffers[buffer].value;
    use.tiles = static_cast<uint8_t>((1u << tiles) - 1);
    use.name = value.valid() ? graph.value(value).name : graph.node(region.layers[use.layer].anchor).name;
    out.push_back(std::move(use));
  }
  return out;
}

// Sections, ports and places in DDR. The container's sections must not be empty.
isa::Binary make_binary(const ir::Graph& graph, const partition::Region& region, const Options& options,
                        const Lowered& lowered, const Scheduled& chosen, std::string weights) {
  const MemoryMap& map = chosen.map;
  isa::Binary b;
  b.architecture = options.architecture;
  b.name = options.name;
  b.tiles = static_cast<uint8_t>(options.tiles);
  b.layers = static_cast<uint32_t>(region.layers.size());
  b.ddr_input_begin = static_cast<uint64_t>(map.input_begin);
  b.ddr_input_end = static_cast<uint64_t>(map.input_end);
  b.ddr_output_begin = static_cast<uint64_t>(map.output_begin);
  b.ddr_output_end = static_cast<uint64_t>(map.output_end);
  b.ddr_scratch_begin = static_cast<uint64_t>(map.scratch_begin);
  b.ddr_scratch_end = static_cast<uint64_t>(map.end);
  const std::vector<Buffer>& buffers = chosen.program.buffers;
  for (size_t i = 0; i < lowered.inputs.size(); ++i)
    b.inputs.push_back(make_port(graph, lowered.inputs[i], buffers[lowered.input_buffers[i]]));
  for (size_t i = 0; i < lowered.outputs.size(); ++i)
    b.outputs.push_back(make_port(graph, lowered.outputs[i], buffers[lowered.output_buffers[i]]));
  if (weights.empty()) weights.assign(1, '\0');
  b.weights = std::move(weights);
  return b;
}

// How each layer's first operation is cut over tiles.
void describe_cuts(CompiledRegion& out, const Scheduled& chosen) {
  for (backend::LayerReport& l : out.layers) l.cut = "none";
  for (size_t i = 0; i < chosen.cuts.size(); ++i) {
    std::string& shown = out.layers[owner_of(chosen.program.primitives[i]).layer].cut;
    if (shown == "none") shown = describe(chosen.cuts[i]);
  }
}

}  // namespace

Result<CompiledRegion> compile_region(const ir::Graph& graph, const partition::Region& region,
                                      const target::Machine& machine, const Options& options) {
  if (region.layers.empty()) return make_diag<DiagCode::MRV0007>("a region without layers");
  MRVLC_TRY(check_cost(graph, region, machine));
  MRVLC_ASSIGN(Lowered lowered, Lowering(graph, region, machine).run());
  const std::vector<Buffer> whole = lowered.program.buffers;
  prune_unread_pixels(lowered.program);
  drop_pruned(lowered.activations, whole, lowered.program.buffers);
  std::string weights = std::move(lowered.program.weights);
  StageTexts texts(graph, lowered.program, options);
  auto name = [&](Diag diag, ir::NodeId id) {
    return at_node(std::move(diag), graph.node(id).name, graph.node(id).op->name);
  };
  MRVLC_ASSIGN(Scheduled chosen, schedule(name, std::move(lowered.program), machine, options));

  CompiledRegion out;
  out.texts = texts.run(chosen);
  const std::vector<int64_t> addresses = tensor_addresses(chosen);
  Emitted code = emit(draft(std::move(chosen.tiles), static_cast<uint64_t>(chosen.map.end)), chosen.order);
  out.places = placed_values(graph, lowered.activations, chosen, addresses, code.primitives);
  out.binary = make_binary(graph, region, options, lowered, chosen, std::move(weights));
  out.binary.ocm_bytes = static_cast<uint32_t>(code.ocm_peak);
  out.binary.init = std::move(code.init);
  out.binary.main = std::move(code.instructions);
  out.instructions = std::move(code.ranges);
  out.inputs = std::move(lowered.inputs);
  out.outputs = std::move(lowered.outputs);
  out.warnings = std::move(lowered.warnings);
  out.weights_bytes = static_cast<int64_t>(out.binary.weights.size());
  out.ocm_highest_address_bytes = code.ocm_peak;
  out.ocm_tensor_peak_bytes = chosen.tensor_peak;
  out.ocm_tensor_lower_bound_bytes = chosen.tensor_peak_bound;
  out.estimated_cycles = static_cast<uint64_t>(chosen.estimated_cycles) + cost::first_fetch_cycles(machine);
  out.memory_uses = named(std::move(code.uses), graph, region, chosen.program, options.tiles);
  out.ocm_peak_bytes = live_peak(out.memory_uses);
  fill_bounds(out, graph, region, lowered, machine, options.tiles);
  describe_cuts(out, chosen);
  frame(out, std::move(code.init_ranges), region);
  out.tiles = options.tiles;
  const auto count = [](const auto& list) { return static_cast<uint32_t>(list.size()); };
  out.section_counts = {count(out.binary.init), count(out.binary.main), count(out.binary.finish)};
  MRVLC_TRY(isa::check_container(out.binary));
  return out;
}

}  // namespace mrvlc::accel

// The stages in order: lowering, memory plan, instructions, container.
#include <algorithm>

#include "bound.h"
#include "codegen.h"
#include "lowering.h"
#include "memory.h"
#include "mrvlc/support/checked.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::accel {
namespace {

isa::Port make_port(const ir::Graph& graph, const PortLayout& layout, const Buffer& buffer) {
  const ir::Value& value = graph.value(layout.value);
  isa::Port port;
  port.name = value.name;
  port.outer_type = value.type.elem == ElementType::F16 ? 7 : 8;
  port.inner_type = 7;
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

// Init and finish hold one Sync each: their sections must not be empty.
isa::Instruction sync() {
  isa::Instruction i;
  i.queue = isa::Queue::DmaIn;
  return i;
}

void frame(CompiledRegion& out, const partition::Region& region) {
  using Section = InstructionRange::Section;
  out.binary.init = {sync()};
  out.binary.finish = {sync()};
  auto last = static_cast<uint32_t>(region.layers.size() - 1);
  std::vector<InstructionRange> ranges = {{Section::Init, 0, 1, 0, region.layers[0].anchor}};
  if (out.binary.main.empty()) {
    out.binary.main = {sync()};
    ranges.push_back({Section::Main, 0, 1, 0, region.layers[0].anchor});
  }
  ranges.insert(ranges.end(), out.instructions.begin(), out.instructions.end());
  ranges.push_back({Section::Finish, 0, 1, last, region.layers[last].anchor});
  out.instructions = std::move(ranges);
}

Status generate_all(const ir::Graph& graph, const Program& program, Emitter& emitter,
                    std::vector<std::string>& cuts) {
  for (const Primitive& p : program.primitives) {
    std::string cut;
    if (const auto* g = std::get_if<PeGroup>(&p)) {
      cut = generate(*g, program, emitter);
    } else {
      Result<std::string> r = generate(std::get<WindowOp>(p), program, emitter);
      const ir::Node& node = graph.node(owner_of(p).expr);
      if (!r.ok()) return at_node(std::move(r).error(), node.name, node.op->name);
      cut = std::move(r).value();
    }
    std::string& shown = cuts[owner_of(p).layer];
    if (shown.empty()) shown = cut;  // of the layer's first operation
  }
  return {};
}

}  // namespace

Result<CompiledRegion> compile_region(const ir::Graph& graph, const partition::Region& region,
                                      const target::Machine& machine, const Options& options) {
  if (region.layers.empty()) return make_diag<DiagCode::MRV0007>("a region without layers");
  MRVLC_ASSIGN(Lowered lowered, Lowering(graph, region, machine).run());
  MemoryMap map = plan_memory(lowered.program, machine);
  if (map.end > int64_t{1} << 40) return make_diag<DiagCode::MRV0503>(map.end, int64_t{1} << 40);
  Emitter emitter(machine, options.tiles, static_cast<uint64_t>(lowered.program.weights.size()));
  std::vector<std::string> cuts(region.layers.size());
  MRVLC_TRY(generate_all(graph, lowered.program, emitter, cuts));

  CompiledRegion out;
  isa::Binary& b = out.binary;
  b.architecture = options.architecture;
  b.name = options.name;
  b.tiles = static_cast<uint8_t>(options.tiles);
  b.layers = static_cast<uint32_t>(region.layers.size());
  b.ocm_bytes = static_cast<uint32_t>(emitter.ocm_peak());
  b.main = emitter.take_instructions();
  b.ddr_input_begin = static_cast<uint64_t>(map.input_begin);
  b.ddr_input_end = static_cast<uint64_t>(map.input_end);
  b.ddr_output_begin = static_cast<uint64_t>(map.output_begin);
  b.ddr_output_end = static_cast<uint64_t>(map.output_end);
  b.ddr_scratch_begin = static_cast<uint64_t>(map.scratch_begin);
  b.ddr_scratch_end = static_cast<uint64_t>(map.end);
  for (size_t i = 0; i < lowered.inputs.size(); ++i)
    b.inputs.push_back(
        make_port(graph, lowered.inputs[i], lowered.program.buffers[lowered.input_buffers[i]]));
  for (size_t i = 0; i < lowered.outputs.size(); ++i)
    b.outputs.push_back(
        make_port(graph, lowered.outputs[i], lowered.program.buffers[lowered.output_buffers[i]]));
  // The container's sections must not be empty.
  if (lowered.program.weights.empty()) lowered.program.weights.assign(1, '\0');
  b.weights = std::move(lowered.program.weights);
  out.instructions = emitter.take_ranges();
  out.inputs = std::move(lowered.inputs);
  out.outputs = std::move(lowered.outputs);
  out.weights_bytes = static_cast<int64_t>(b.weights.size());
  out.ocm_peak_bytes = emitter.ocm_peak();
  fill_bounds(out, graph, region, lowered, machine, options.tiles);
  for (size_t i = 0; i < cuts.size(); ++i) out.layers[i].cut = cuts[i].empty() ? "none" : cuts[i];
  frame(out, region);
  return out;
}

}  // namespace mrvlc::accel

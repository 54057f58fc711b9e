// The stages in order: lowering, memory plan, instructions, container.
#include <algorithm>
#include <map>

#include "bound.h"
#include "codegen.h"
#include "emit.h"
#include "lowering.h"
#include "memory.h"
#include "mrvlc/support/checked.h"
#include "mrvlc/support/diag/general.h"
#include "placement.h"
#include "prune.h"
#include "search.h"

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

// Bytes on chip that homes take, by primitive.
std::vector<int64_t> home_bytes(const std::vector<Home>& homes, size_t primitives) {
  std::vector<int64_t> change(primitives + 1, 0);
  for (const Home& h : homes) {
    if (!h.on_chip) continue;
    // The heir of a tensor takes over its memory after the primitive at which both live.
    size_t first = h.shares != UINT32_MAX ? h.first + 1 : h.first;
    if (first > h.last) continue;
    change[first] += h.bytes;
    change[h.last + 1] -= h.bytes;
  }
  for (size_t i = 1; i < change.size(); ++i) change[i] += change[i - 1];
  return change;
}

// Whether each primitive sends what it makes to other tiles: not when a later one makes the same rows again,
// or their other half, before anybody reads them.
std::vector<bool> publishers(const Program& program, const std::vector<Cut>& cuts) {
  std::vector<bool> out(program.primitives.size(), true);
  struct Made {
    size_t by = 0;
    Rect rect;
  };
  std::map<uint32_t, std::vector<Made>> pending;  // by buffer: written, not read yet
  for (size_t i = 0; i < program.primitives.size(); ++i) {
    std::vector<Touch> list = touches(program.primitives[i], cuts[i], 0, program);
    for (const Touch& t : list)
      if (!t.write) pending.erase(t.buffer);
    for (const Touch& t : list) {
      if (!t.write) continue;
      std::vector<Made>& made = pending[t.buffer];
      std::erase_if(made, [&](const Made& m) {
        bool again = m.by != i && cuts[m.by] == cuts[i] && m.rect == t.rect;
        if (again) out[m.by] = false;
        return again;
      });
      made.push_back({i, t.rect});
    }
  }
  return out;
}

struct Built {
  TileProgram program;
  std::optional<Shortage> shortage;
  double cycles = 0;  // estimate
};

// What is decided before a schedule can be made and timed.
struct Policy {
  RoomPrice price;
  double fetch_share = 0.25;  // of on-chip memory, for what is fetched just ahead
};

Result<Built> build(const ir::Graph& graph, const Program& program, const std::vector<Cut>& cuts,
                    std::vector<Home>& homes, const target::Machine& machine, uint32_t tiles,
                    double fetch_share) {
  Built out;
  StepWriter writer(out.program, machine, tiles);
  TableItems tables(program, machine);
  CodegenContext c{program, cuts, homes, tables, writer};
  std::vector<int64_t> taken = home_bytes(homes, program.primitives.size());
  std::vector<bool> publishes = publishers(program, cuts);
  for (size_t i = 0; i < program.primitives.size(); ++i) {
    const Primitive& p = program.primitives[i];
    c.primitive = i;
    c.publishes = publishes[i];
    c.budget = machine.ocm_bytes - taken[i] - tables.resident_bytes();
    writer.set_primitive(i);
    Status done = std::visit([&](const auto& v) { return generate(v, c); }, p);
    if (!done.ok()) {
      bool alone = taken[i] == 0 && tables.resident_bytes() == 0;
      const ir::Node& node = graph.node(owner_of(p).expr);
      if (alone) return at_node(std::move(done).error(), node.name, node.op->name);
      out.shortage = Shortage{static_cast<uint32_t>(i)};
      return out;
    }
  }
  Placed placed = place(out.program, machine, fetch_share);
  out.shortage = placed.shortage;
  out.cycles = placed.cycles;
  return out;
}

// Sends the largest tensor that lives at a primitive to DDR; false when there is none.
bool spill_at(uint32_t primitive, const std::vector<Home>& homes, std::vector<bool>& spilled) {
  size_t best = homes.size();
  for (size_t b = 0; b < homes.size(); ++b) {
    const Home& h = homes[b];
    if (!h.on_chip || h.first > primitive || h.last < primitive) continue;
    if (best == homes.size() || h.bytes > homes[best].bytes) best = b;
  }
  if (best == homes.size()) return false;
  spilled[best] = true;
  return true;
}

Result<Built> plan_tiles(const ir::Graph& graph, const Program& program, const std::vector<Cut>& cuts,
                         const target::Machine& machine, uint32_t tiles, double fetch_share) {
  std::vector<bool> spilled(program.buffers.size(), false);
  constexpr int kMostAttempts = 24;
  for (int attempt = 0;; ++attempt) {
    std::vector<Home> homes = choose_homes(program, cuts, machine, tiles, spilled);
    MRVLC_ASSIGN(Built built, build(graph, program, cuts, homes, machine, tiles, fetch_share));
    if (!built.shortage) return built;
    if (attempt < kMostAttempts && spill_at(built.shortage->primitive, homes, spilled)) continue;
    bool all = std::ranges::find(spilled, false) == spilled.end();
    if (all) return make_diag<DiagCode::MRV0501>(machine.ocm_bytes);
    spilled.assign(spilled.size(), true);
  }
}

// Policies worth trying, the most promising first.
std::vector<Policy> policies(const Program& program, const target::Machine& machine, const Options& options) {
  double matters = room_matters(program, machine, options.tiles);
  if (matters == 0) return {{}};
  std::vector<Policy> list;
  for (auto [tensors, weights] :
       {std::pair{0.02, 0.0}, {0.035, 0.3}, {0.0, 0.0}, {0.05, 0.3}, {0.01, 0.0}, {0.08, 1.0}})
    list.push_back({{tensors * matters, tensors * weights * matters}, 0.25});
  if (options.effort > 1)
    for (size_t i = 0; i < 6; ++i)
      for (double share : {0.125, 0.1875, 0.375}) list.push_back({list[i].price, share});
  else
    list.resize(3);
  return list;
}

struct Chosen {
  std::vector<Cut> cuts;
  TileProgram program;
};

// The best schedule of several by estimated cycles; the first at equal ones.
Result<Chosen> schedule(const ir::Graph& graph, const Program& program, const target::Machine& machine,
                        const Options& options) {
  Chosen best;
  double least = 0;
  for (const Policy& policy : policies(program, machine, options)) {
    std::vector<Cut> cuts = choose_cuts(program, machine, options.tiles, policy.price);
    MRVLC_ASSIGN(Built built, plan_tiles(graph, program, cuts, machine, options.tiles, policy.fetch_share));
    if (!best.cuts.empty() && built.cycles >= least) continue;
    least = built.cycles;
    best = {std::move(cuts), std::move(built.program)};
  }
  return best;
}

void name_uses(std::vector<OcmUse>& uses, const ir::Graph& graph, const partition::Region& region,
               const Program& program, uint32_t tiles) {
  for (OcmUse& u : uses) {
    u.tiles = static_cast<uint8_t>((1u << tiles) - 1);
    ir::ValueId value;
    if (!u.name.empty()) value = program.buffers[std::stoul(u.name)].value;
    u.name = value.valid() ? graph.value(value).name : graph.node(region.layers[u.layer].anchor).name;
  }
}

}  // namespace

Result<CompiledRegion> compile_region(const ir::Graph& graph, const partition::Region& region,
                                      const target::Machine& machine, const Options& options) {
  if (region.layers.empty()) return make_diag<DiagCode::MRV0007>("a region without layers");
  MRVLC_ASSIGN(Lowered lowered, Lowering(graph, region, machine).run());
  prune_unread_pixels(lowered.program);
  MemoryMap map = plan_memory(lowered.program, machine);
  if (map.end > int64_t{1} << 40) return make_diag<DiagCode::MRV0503>(map.end, int64_t{1} << 40);
  const Program& program = lowered.program;
  MRVLC_ASSIGN(Chosen chosen, schedule(graph, program, machine, options));
  const std::vector<Cut>& cuts = chosen.cuts;
  Emitted code = emit(std::move(chosen.program), static_cast<uint64_t>(program.weights.size()),
                      static_cast<uint64_t>(map.end));

  CompiledRegion out;
  isa::Binary& b = out.binary;
  b.architecture = options.architecture;
  b.name = options.name;
  b.tiles = static_cast<uint8_t>(options.tiles);
  b.layers = static_cast<uint32_t>(region.layers.size());
  b.ocm_bytes = static_cast<uint32_t>(code.ocm_peak);
  b.main = std::move(code.instructions);
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
  out.instructions = std::move(code.ranges);
  out.inputs = std::move(lowered.inputs);
  out.outputs = std::move(lowered.outputs);
  out.weights_bytes = static_cast<int64_t>(b.weights.size());
  out.ocm_peak_bytes = code.ocm_peak;
  name_uses(code.uses, graph, region, lowered.program, options.tiles);
  out.ocm_uses = std::move(code.uses);
  fill_bounds(out, graph, region, lowered, machine, options.tiles);
  for (LayerReport& l : out.layers) l.cut = "none";
  for (size_t i = 0; i < cuts.size(); ++i) {
    std::string& shown = out.layers[owner_of(lowered.program.primitives[i]).layer].cut;
    if (shown == "none") shown = describe(cuts[i]);  // of the layer's first operation
  }
  frame(out, region);
  return out;
}

}  // namespace mrvlc::accel

// Buffers in DDR: ports one after the other, scratch memory packed by live range.
#include "place/memory.h"

#include <algorithm>

#include "mrvlc/alloc/alloc.h"
#include "mrvlc/support/checked.h"

namespace mrvlc::accel {
namespace {

// The primitives that touch each buffer, as a half-open range.
std::vector<alloc::Item> live_ranges(const Program& program) {
  std::vector<alloc::Item> out(program.buffers.size(), alloc::Item{INT64_MAX, 0, 0});
  for (size_t i = 0; i < program.primitives.size(); ++i) {
    auto touch = [&](uint32_t buffer) {
      out[buffer].begin = std::min(out[buffer].begin, static_cast<int64_t>(i));
      out[buffer].end = static_cast<int64_t>(i) + 1;
    };
    if (const auto* g = std::get_if<PeGroup>(&program.primitives[i])) {
      for (const PeStage& s : g->stages)
        for (const PeOperand* o : {&s.dst, &s.a, &s.b})
          if (o->kind == PeOperand::Kind::External) touch(o->view.buffer);
    } else {
      const auto& w = std::get<WindowOp>(program.primitives[i]);
      for (uint32_t b : {w.x.buffer, w.out.buffer, w.residual.buffer, w.w.buffer}) touch(b);
    }
  }
  return out;
}

int64_t place_ports(Program& program, Buffer::Kind kind, int64_t at) {
  for (Buffer& b : program.buffers) {
    if (b.kind != kind) continue;
    b.ddr = at;
    at += b.bytes;
  }
  return at;
}

int64_t place_scratch(Program& program, int64_t base) {
  constexpr uint64_t kEffort = 2'000'000;  // DDR is plentiful
  std::vector<alloc::Item> items = live_ranges(program);
  for (size_t i = 0; i < items.size(); ++i) {
    const Buffer& b = program.buffers[i];
    if (b.kind == Buffer::Kind::Scratch) items[i].size = b.bytes;
  }
  alloc::Placement placement = alloc::minimise_peak(items, {.alignment = 1, .effort = kEffort});
  for (size_t i = 0; i < items.size(); ++i)
    if (program.buffers[i].kind == Buffer::Kind::Scratch)
      program.buffers[i].ddr = base + placement.offsets[i];
  return base + placement.peak;
}

}  // namespace

MemoryMap plan_memory(Program& program, const target::Machine& machine) {
  constexpr int64_t kScratchAlignment = 1024;
  int64_t port = machine.ocm_alignment;
  MemoryMap m;
  auto weights = std::max<int64_t>(1, program.buffers[kWeights].bytes);
  m.input_begin = round_up(weights, port);
  m.input_end = place_ports(program, Buffer::Kind::Input, m.input_begin);
  m.output_begin = round_up(m.input_end, port);
  m.output_end = place_ports(program, Buffer::Kind::Output, m.output_begin);
  m.scratch_begin = round_up(m.output_end, kScratchAlignment);
  m.end = place_scratch(program, m.scratch_begin);
  return m;
}

}  // namespace mrvlc::accel

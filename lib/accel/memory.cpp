#include "memory.h"

#include <algorithm>
#include <numeric>

#include "mrvlc/support/checked.h"

namespace mrvlc::accel {
namespace {

struct Life {
  int64_t first = INT64_MAX, last = -1;  // primitives that touch it
};

std::vector<Life> lives(const Program& program) {
  std::vector<Life> out(program.buffers.size());
  for (size_t i = 0; i < program.primitives.size(); ++i) {
    auto touch = [&](uint32_t buffer) {
      out[buffer].first = std::min(out[buffer].first, static_cast<int64_t>(i));
      out[buffer].last = static_cast<int64_t>(i);
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

// Largest first, each at the lowest offset free for its whole life.
int64_t place_scratch(Program& program, int64_t base) {
  std::vector<Life> life = lives(program);
  std::vector<size_t> order, placed;
  for (size_t i = 0; i < program.buffers.size(); ++i)
    if (program.buffers[i].kind == Buffer::Kind::Scratch) order.push_back(i);
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return program.buffers[a].bytes > program.buffers[b].bytes; });
  int64_t end = base;
  for (size_t i : order) {
    Buffer& b = program.buffers[i];
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (size_t j : placed)
      if (life[j].first <= life[i].last && life[i].first <= life[j].last)
        taken.emplace_back(program.buffers[j].ddr, program.buffers[j].ddr + program.buffers[j].bytes);
    std::ranges::sort(taken);
    b.ddr = base;
    for (const auto& [from, to] : taken) {
      if (b.ddr + b.bytes <= from) break;
      b.ddr = std::max(b.ddr, to);
    }
    end = std::max(end, b.ddr + b.bytes);
    placed.push_back(i);
  }
  return end;
}

}  // namespace

MemoryMap plan_memory(Program& program, const target::Machine& machine) {
  constexpr int64_t kScratchAlignment = 1024;
  int64_t port = machine.ocm_alignment;
  MemoryMap m;
  auto weights = std::max<int64_t>(1, static_cast<int64_t>(program.weights.size()));
  m.input_begin = round_up(weights, port);
  m.input_end = place_ports(program, Buffer::Kind::Input, m.input_begin);
  m.output_begin = round_up(m.input_end, port);
  m.output_end = place_ports(program, Buffer::Kind::Output, m.output_begin);
  m.scratch_begin = round_up(m.output_end, kScratchAlignment);
  m.end = place_scratch(program, m.scratch_begin);
  return m;
}

}  // namespace mrvlc::accel

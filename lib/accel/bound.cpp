#include "bound.h"

#include <algorithm>

#include "mrvlc/support/checked.h"

namespace mrvlc::accel {
namespace {

// Rate of a convolution on one tile, MAC/cycle; a matrix product of few rows waits for its weights.
uint64_t window_cycles(const WindowOp& op, const target::Machine& m, int64_t tiles) {
  if (op.kind == WindowOp::Kind::Pool) return 0;
  int64_t macs = 0, pixels = op.batch() * op.out_h * op.out_w;
  for (const WindowPhase& p : op.phases) {
    auto count = [](int64_t n, int64_t first, int64_t lattice) { return ceil_div(n - first, lattice); };
    int64_t outputs =
        op.batch() * count(op.out_h, p.first_h, op.lattice_h) * count(op.out_w, p.first_w, op.lattice_w);
    macs += outputs * p.kernel_h * p.kernel_w * op.group_in * op.out_channels();
  }
  int64_t rate = op.kind == WindowOp::Kind::Depthwise ? m.depthwise_macs : m.fp16_macs;
  int64_t least = macs / (tiles * rate);
  if (op.kind == WindowOp::Kind::Conv && pixels > 0) {
    // Each 16 x 16 weight block occupies the unit for so many cycles whatever the number of pixels.
    int64_t blocks = macs / pixels / 256;
    least = std::max(least, blocks * m.weight_block_cycles / tiles);
  }
  return static_cast<uint64_t>(least);
}

int64_t weight_bytes(const WindowOp& op) {
  if (op.kind == WindowOp::Kind::Pool || op.dynamic_weights) return 0;
  int64_t n = 0;
  for (const WindowPhase& p : op.phases) n += p.kernel_h * p.kernel_w * op.group_in * op.out_channels() * 2;
  return n;
}

// Bytes of each buffer that the primitive reading most of it touches: the least that must be fetched.
int64_t touched(const View& v) {
  int64_t n = isa::data_bytes(v.type);
  for (size_t d = 0; d < v.dims.size(); ++d)
    if (v.strides[d] != 0) n *= v.dims[d];
  return n;
}

int64_t touched(const WindowOp& op) {
  std::vector<int64_t> images = op.x.offsets;
  std::sort(images.begin(), images.end());
  auto distinct = std::unique(images.begin(), images.end()) - images.begin();
  const WindowPhase& p = op.phases[0];
  bool several = op.phases.size() > 1;
  int64_t rows = several ? 0 : std::min(op.in_h, op.out_h * p.kernel_h);
  int64_t cols = several ? 0 : std::min(op.in_w, op.out_w * p.kernel_w);
  return distinct * rows * cols * op.in_channels() * 2;
}

std::vector<int64_t> read_bytes(const Program& program) {
  std::vector<int64_t> out(program.buffers.size(), 0);
  for (const Primitive& p : program.primitives) {
    if (const auto* g = std::get_if<PeGroup>(&p)) {
      for (const PeStage& s : g->stages)
        for (const PeOperand* o : {&s.a, &s.b})
          if (o->kind == PeOperand::Kind::External)
            out[o->view.buffer] = std::max(out[o->view.buffer], touched(o->view));
    } else {
      const auto& op = std::get<WindowOp>(p);
      out[op.x.buffer] = std::max(out[op.x.buffer], touched(op));
    }
  }
  return out;
}

}  // namespace

void fill_bounds(CompiledRegion& out, const ir::Graph& graph, const partition::Region& region,
                 const Lowered& lowered, const target::Machine& machine, uint32_t tiles) {
  std::vector<int64_t> weights(region.layers.size(), 0);
  for (uint32_t i = 0; i < region.layers.size(); ++i) {
    out.layers.push_back({i, {}, lowered.layer_macs[i], lowered.layer_weight_bytes[i], 0});
    out.macs += lowered.layer_macs[i];
  }
  for (const Primitive& p : lowered.program.primitives) {
    const auto* op = std::get_if<WindowOp>(&p);
    if (op == nullptr) continue;
    out.layers[op->owner.layer].bound_cycles += window_cycles(*op, machine, tiles);
    weights[op->owner.layer] += weight_bytes(*op);
  }
  int64_t on_chip = int64_t{tiles} * machine.ocm_bytes, rest = 0, moved = 0;
  for (int64_t w : weights) rest += w;
  moved = rest;
  uint64_t arithmetic = 0, bound = 0;
  for (size_t k = 0; k < weights.size(); ++k) {
    arithmetic += out.layers[k].bound_cycles;
    rest -= weights[k];
    auto late = static_cast<uint64_t>(std::max<int64_t>(0, rest - on_chip)) / machine.ddr_bytes;
    bound = std::max(bound, arithmetic + late);
  }
  std::vector<int64_t> read = read_bytes(lowered.program);
  for (uint32_t b : lowered.input_buffers) moved += read[b];
  for (const PortLayout& port : out.outputs) moved += graph.value(port.value).type.elements() * 2;
  out.lower_bound_cycles = std::max(bound, static_cast<uint64_t>(moved) / machine.ddr_bytes);
}

}  // namespace mrvlc::accel

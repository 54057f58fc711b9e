// What a block of a WindowOp reads and writes in DDR.
#include "code/window_operands.h"

namespace mrvlc::accel {
namespace {

// Four bytes an output channel: bias, and scales of integers behind it, stand before the weights of their
// block.
std::vector<Transfer> bias_transfers(const WindowTask& task, const WindowBlock& b) {
  const WindowOp& op = task.op;
  if (op.bias < 0) return {};
  Transfer t;
  t.ddr = task.context.program.buffers[kWeights].ddr + op.bias;
  bool depthwise = op.kind == WindowOp::Kind::Depthwise;
  Span c = depthwise ? task.channels_in(b) : task.channels_out(b);
  t.ddr += c.begin * 4;
  t.run = c.size() * 4;
  if (depthwise) t.levels = {{op.group_out, op.groups * 4, t.run}};
  if (!op.integers) return {t};
  Transfer scales = t;
  scales.ddr += op.integers->scales - op.bias;
  scales.ocm = t.bytes();
  return {t, scales};
}

// Of one phase; `t` begins where its weights begin.
void add_phase(const WindowTask& task, const WindowBlock& b, const WindowPhase& phase, Transfer& t) {
  const WindowOp& op = task.op;
  const WindowGeometry& g = task.geometry;
  int64_t taps = phase.kernel_h * phase.kernel_w;
  if (op.kind == WindowOp::Kind::Depthwise) {
    Span c = task.channels_in(b);
    t.ddr += c.begin * op.weight_bytes();
    t.run = c.size() * op.weight_bytes();
    t.levels = {{op.group_out * taps, op.groups * op.weight_bytes(), t.run}};
    return;
  }
  int64_t blocks = b.units.size() * g.unit_blocks;
  int64_t whole = taps * g.all_channels * op.lane_bytes();  // of 16 output channels
  t.ddr += b.units.begin * g.unit_blocks * whole;
  t.run = blocks * whole;
  if (!task.plan.split) return;
  t.ddr += (b.tap * g.all_channels + b.k.begin) * op.lane_bytes();
  t.run = b.k.size() * op.lane_bytes();
  t.levels = {{blocks, whole, t.run}};
}

}  // namespace

Packed pack_image(const WindowTask& task, const WindowOp::Image& image, const WindowBlock& b, Span rows,
                  Span cols, Span channels, bool load) {
  int64_t element = image.offsets[static_cast<size_t>(b.image)] + rows.begin * image.stride_h +
                    cols.begin * image.stride_w + channels.begin;
  int64_t strides[] = {image.stride_h, image.stride_w, 1};
  int64_t extents[] = {rows.size(), cols.size(), channels.size()};
  int64_t bytes = image.element_bytes();
  return pack_box(task.context.program.buffers[image.buffer].ddr + element * bytes, strides, extents, bytes,
                  load);
}

Packed pack_dynamic_weights(const WindowTask& task, const WindowBlock& b) {
  const WindowOp::Image& w = task.op.w;
  int64_t element =
      w.offsets[static_cast<size_t>(b.image)] + b.k.begin * w.stride_h + b.units.begin * 16 * w.stride_w;
  int64_t strides[] = {w.stride_h, w.stride_w};
  int64_t extents[] = {b.k.size(), task.channels_out(b).size()};
  return pack_box(task.context.program.buffers[w.buffer].ddr + element * 2, strides, extents, 2, false);
}

std::vector<Transfer> weight_transfers(const WindowTask& task, const WindowBlock& b) {
  if (task.op.kind == WindowOp::Kind::Pool) return {};
  std::vector<Transfer> list = bias_transfers(task, b);
  if (task.op.dynamic_weights) return list;
  int64_t at = task.plan.bias_bytes;
  for (const WindowPhase& phase : task.op.phases) {
    Transfer t;
    t.ocm = at;
    t.ddr = task.context.program.buffers[kWeights].ddr + phase.weights;
    add_phase(task, b, phase, t);
    at += t.bytes();
    list.push_back(std::move(t));
  }
  return list;
}

}  // namespace mrvlc::accel

// A block of a WindowOp as instructions of the matrix unit (or, for pools, of the vector unit).
#include "code/window_instructions.h"

#include <algorithm>

#include "mrvlc/support/checked.h"
#include "primitive/cost_limits.h"

namespace mrvlc::accel {
namespace {

uint32_t u32(int64_t v) {
  return static_cast<uint32_t>(v);
}

// The points of a phase's lattice within a stretch of the output.
Span lattice_points(Span s, int64_t first, int64_t lattice) {
  return {ceil_div(std::max<int64_t>(s.begin - first, 0), lattice),
          s.end <= first ? 0 : ceil_div(s.end - first, lattice)};
}

}  // namespace

void WindowInstructions::compute(uint32_t tile, const WindowBlock& b, const SlotOffsets& at) {
  const WindowOp& op = t_.at(b);
  int64_t weights_at = 0;
  for (const WindowPhase& ph : op.phases) {
    phase({tile, b, at}, ph, weights_at);
    if (op.kind == WindowOp::Kind::Depthwise)
      weights_at += ph.kernel_h * ph.kernel_w * op.group_out * t_.channels_in(b).size() * op.weight_bytes();
    if (op.kind == WindowOp::Kind::Conv)
      weights_at += b.units.size() * t_.geometry.unit_blocks * t_.weight_block_bytes(ph, b.k.size());
  }
}

void WindowInstructions::send_rest(uint32_t tile, const WindowBlock& b) {
  if (!by_stripes()) exchange(tile, b, b.rows);
}

// Even stripes of rows, each of them `cols` columns at a time.
WindowInstructions::Pieces WindowInstructions::cut_to_accumulators(const WindowBlock& b, Span qh,
                                                                   Span qw) const {
  const target::Machine& machine = t_.context.writer.machine();
  // Half the accumulators: one block of channels drains while the next is computed.
  int64_t limit = machine.accumulator_pixels / (t_.plan.split ? 1 : 2);
  limit = std::min(limit, pixels_at_once(t_.op, t_.channels_out(b).size(), machine));
  Pieces pieces;
  pieces.cols = std::min(qw.size(), limit);
  int64_t rows = std::max<int64_t>(1, limit / pieces.cols);
  rows = ceil_div(qh.size(), ceil_div(qh.size(), rows));
  for (int64_t y = qh.begin; y < qh.end; y += rows) pieces.rows.push_back({y, std::min(qh.end, y + rows)});
  return pieces;
}

// The outputs of a phase within the block.
void WindowInstructions::phase(const Site& s, const WindowPhase& ph, int64_t weights_at) {
  const WindowOp& op = t_.op;
  const CodegenContext& c = t_.context;
  Span qh = lattice_points(s.block.rows, ph.first_h, op.lattice_h);
  Span qw = lattice_points(s.block.cols, ph.first_w, op.lattice_w);
  if (qh.empty() || qw.empty()) return;
  Pieces pieces = cut_to_accumulators(s.block, qh, qw);
  // Up and down in turn: what neighbours need first of this operation was made first, and the last of it is
  // what they need last.
  bool from_input = c.program.buffers[op.x.buffer].kind == Buffer::Kind::Input;  // arrives from the top
  if (c.primitive % 2 == 1 && !from_input) std::ranges::reverse(pieces.rows);
  for (Span y : pieces.rows) {
    for (int64_t x = qw.begin; x < qw.end; x += pieces.cols)
      piece(s, ph, weights_at, y, {x, std::min(qw.end, x + pieces.cols)});
    if (by_stripes() && s.block.last) exchange(s.tile, s.block, y);
  }
}

// Whether what a stripe makes is whole rows of the output, to be sent at once.
bool WindowInstructions::by_stripes() const {
  const WindowOp& op = t_.op;
  return !t_.streams.out && op.phases.size() == 1 && op.lattice_h == 1 && op.lattice_w == 1;
}

// Pixels lie row after row, so some columns of several rows are no rectangle: these rows go when their last
// columns are done, which come last (window_blocks).
void WindowInstructions::exchange(uint32_t tile, const WindowBlock& b, Span rows) {
  const WindowOp::Image& out = t_.op.out;
  const Span cols{rows.size() == 1 ? b.cols.begin : 0, b.cols.end};
  if (rows.size() > 1 && b.cols.end != t_.op.out_w) return;
  const Residence& h = t_.context.residences[out.buffer];
  t_.context.exchange(tile, out.buffer, image_rect(out, b.image, rows, cols, t_.channels_out(b), h.pitch));
}

// Of lattice point (y, x) of the phase from the block's first output, in bytes.
int64_t WindowInstructions::out_offset(const WindowBlock& b, const WindowPhase& ph, Span y, Span x,
                                       const Place& p) const {
  const WindowOp& op = t_.op;
  return p.at + (ph.first_h + y.begin * op.lattice_h - b.rows.begin) * p.row +
         (ph.first_w + x.begin * op.lattice_w - b.cols.begin) * p.col;
}

// Fields common to POD and PE instructions.
template <class I>
void WindowInstructions::window_fields(I& i, const Site& s, const WindowPhase& ph, Span y, Span x,
                                       const Place& in, const Place& out) const {
  const WindowOp& op = t_.at(s.block);
  const Span &in_rows = s.block.x_rows, &in_cols = s.block.x_cols;
  i.x = u32(in.at);
  i.x_row = u32(in.row);
  i.x_col = u32(in.col);
  i.in_h = u32(in_rows.size());
  i.in_w = u32(in_cols.size());
  i.y0 = static_cast<int32_t>(ph.y0 + y.begin * op.stride_h - in_rows.begin);
  i.x0 = static_cast<int32_t>(ph.x0 + x.begin * op.stride_w - in_cols.begin);
  i.kernel_h = u32(ph.kernel_h);
  i.kernel_w = u32(ph.kernel_w);
  i.stride_h = u32(op.stride_h);
  i.stride_w = u32(op.stride_w);
  i.dilation_h = u32(op.dilation_h);
  i.dilation_w = u32(op.dilation_w);
  i.out_h = u32(y.size());
  i.out_w = u32(x.size());
  i.out = u32(out_offset(s.block, ph, y, x, out));
  i.out_row = u32(op.lattice_h * out.row);
  i.out_col = u32(op.lattice_w * out.col);
}

void WindowInstructions::piece(const Site& s, const WindowPhase& ph, int64_t weights_at, Span y, Span x) {
  const WindowOp& op = t_.op;
  const WindowBlock& b = s.block;
  if (op.kind == WindowOp::Kind::Pool) return pool(s, ph, y, x);
  Place in = operands_.x(s.tile, b, s.at), out = operands_.out(s.tile, b, s.at);
  ItemRefs refs = {in.item, s.at.w_item, s.at.w_item, kNoItem, out.item, operands_.table()};
  isa::Conv i;
  i.first = b.first;
  i.last = b.last;
  if (b.last && op.bias >= 0) i.bias = u32(s.at.w);
  if (b.last) i.epilogue = epilogue_of(op.epilogue);
  i.w = u32(s.at.w + t_.plan.bias_bytes + weights_at);
  i.out_type = op.out.type;
  i.out_quantization = op.out.quantization;
  if (op.integers) set_integers(i, s);
  i.out_channel = u32(op.out.element_bytes());
  window_fields(i, s, ph, y, x, in, out);
  if (op.has_residual && b.last) refs[3] = set_residual(i, s, ph, y, x);
  if (op.kind == WindowOp::Kind::Depthwise) {
    depthwise(s, ph, i, refs);
  } else {
    groups(s, ph, i, refs);
  }
}

void WindowInstructions::pool(const Site& s, const WindowPhase& ph, Span y, Span x) {
  Place in = operands_.x(s.tile, s.block, s.at), out = operands_.out(s.tile, s.block, s.at);
  ItemRefs refs = {in.item, s.at.w_item, s.at.w_item, kNoItem, out.item, operands_.table()};
  isa::Pool i;
  i.op = t_.op.pool;
  i.x_type = t_.op.x.type;
  i.out_type = t_.op.out.type;
  i.x_quantization = t_.op.x.quantization;
  i.out_quantization = t_.op.out.quantization;
  i.alpha = t_.op.pool_alpha;
  i.channels = u32(t_.channels_in(s.block).size());
  i.epilogue = epilogue_of(t_.op.epilogue);
  window_fields(i, s, ph, y, x, in, out);
  t_.context.writer.emit(s.tile, isa::Queue::Pe, i, refs);
}

uint32_t WindowInstructions::set_residual(isa::Conv& i, const Site& s, const WindowPhase& ph, Span y,
                                          Span x) const {
  Place r = operands_.residual(s.tile, s.block, s.at);
  i.residual = u32(out_offset(s.block, ph, y, x, r));
  i.residual_row = u32(t_.op.lattice_h * r.row);
  i.residual_col = u32(t_.op.lattice_w * r.col);
  return r.item;
}

// Scales lie behind the bias of the block's channels.
void WindowInstructions::set_integers(isa::Conv& i, const Site& s) const {
  const WindowOp& op = t_.op;
  bool depthwise = op.kind == WindowOp::Kind::Depthwise;
  int64_t channels =
      depthwise ? t_.channels_in(s.block).size() * op.group_out : t_.channels_out(s.block).size();
  i.x_type = op.x.type;
  i.w_type = op.integers->w_type;
  i.x_zero = op.integers->x_zero;
  i.w_zero = op.integers->w_zero;
  i.w_k = u32(op.lane_bytes());
  i.w_n = u32(op.weight_bytes());
  if (s.block.last) i.scales = u32(s.at.w + channels * 4);
}

void WindowInstructions::depthwise(const Site& s, const WindowPhase& ph, isa::Conv i, const ItemRefs& refs) {
  uint32_t channels = u32(t_.channels_in(s.block).size()), multiplier = u32(t_.op.group_out);
  uint32_t taps = u32(ph.kernel_h * ph.kernel_w);
  i.depthwise = true;
  i.out_channels = channels;
  uint32_t bytes = u32(t_.op.weight_bytes());
  i.w_k = channels * bytes;
  i.w_n = bytes;
  uint32_t out_bytes = i.out_channel;
  i.out_channel *= multiplier;
  for (uint32_t j = 0; j < multiplier; ++j) {
    t_.context.writer.emit(s.tile, isa::Queue::Pod, i, refs);
    i.out += out_bytes;
    i.w += taps * channels * bytes;
    if (i.bias != isa::kNoAddress) i.bias += channels * 4;
    if (t_.op.integers && i.last) i.scales += channels * 4;
  }
}

void WindowInstructions::groups(const Site& s, const WindowPhase& ph, isa::Conv i, ItemRefs refs) {
  const WindowOp& op = t_.op;
  const WindowBlock& b = s.block;
  StepWriter& writer = t_.context.writer;
  i.channels = u32(b.k.size());
  i.w_block = u32(t_.weight_block_bytes(ph, b.k.size()));
  if (b.tap >= 0) {
    i.y0 += static_cast<int32_t>(b.tap / ph.kernel_w * t_.at(b).dilation_h);
    i.x0 += static_cast<int32_t>(b.tap % ph.kernel_w * op.dilation_w);
    i.kernel_h = i.kernel_w = 1;
  }
  if (op.dynamic_weights) refs[1] = set_dynamic_weights(i, s);
  if (op.groups == 1) {
    i.out_channels = u32(t_.channels_out(b).size());
    writer.emit(s.tile, isa::Queue::Pod, i, refs);
    return;
  }
  i.out_channels = u32(op.group_out);
  for (int64_t u = b.units.begin; u < b.units.end; ++u) {
    writer.emit(s.tile, isa::Queue::Pod, i, refs);
    if (t_.plan.split) return;  // a split reduction works on one group at a time
    i.x += u32(op.group_in * op.x.element_bytes());
    i.w += u32(t_.geometry.unit_blocks * t_.weight_block_bytes(ph, b.k.size()));
    i.out += u32(op.group_out * op.out.element_bytes());
    if (i.bias != isa::kNoAddress) i.bias += u32(op.group_out * 4);
    if (op.integers && i.last) i.scales += u32(op.group_out * 4);
    if (i.residual != isa::kNoAddress) i.residual += u32(op.group_out * 2);
  }
}

uint32_t WindowInstructions::set_dynamic_weights(isa::Conv& i, const Site& s) const {
  Place w = operands_.dynamic_weights(s.tile, s.block, s.at);
  i.w = u32(w.at);
  i.w_k = u32(w.row);
  i.w_n = u32(w.col);
  i.w_block = 16 * i.w_n;
  return w.item;
}

}  // namespace mrvlc::accel

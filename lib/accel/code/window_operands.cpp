// Slots of the workspace for the operands of a WindowOp that are streamed, and where a block's operands lie.
#include "code/window_operands.h"

#include <algorithm>

namespace mrvlc::accel {
namespace {

template <class F>
std::vector<std::vector<Transfer>> wanted(const std::vector<WindowBlock>& blocks, F transfers) {
  std::vector<std::vector<Transfer>> list(blocks.size());
  for (size_t t = 0; t < blocks.size(); ++t)
    if (!blocks[t].empty()) list[t] = transfers(blocks[t]);
  return list;
}

}  // namespace

WindowOperands::WindowOperands(WindowTask& task) : t_(task) {
  const WindowPlan& p = t_.plan;
  const WindowOp& op = t_.op;
  StepWriter& writer = t_.context.writer;
  Item item;
  item.bytes = p.workspace();
  uint32_t slots = item.bytes > 0 ? writer.add_item(std::move(item)) : kNoItem;
  int64_t at = 0;
  auto slot = [&](int64_t bytes, uint32_t depth) {
    InputSlot s(slots, at, bytes, depth);
    at += bytes * depth;
    return s;
  };
  if (op.dynamic_weights) dynamic_ = slot(p.w_bytes, p.w_depth);
  if (!p.weights_once) w_ = slot(p.bias_bytes + (op.dynamic_weights ? 0 : p.w_bytes), p.w_depth);
  x_ = slot(p.x_bytes, p.x_depth);
  residual_ = slot(p.residual_bytes, p.out_depth);
  out_ = {slots, at, p.out_bytes, p.out_depth};
  if (op.epilogue.table_bytes() > 0)
    table_ = t_.context.tables.item(op.epilogue, t_.context.primitive, writer);
}

void WindowOperands::fetch_weights(const std::vector<WindowBlock>& blocks, SlotOffsets& at) {
  if (!t_.has_weights()) return;
  StepWriter& writer = t_.context.writer;
  auto list = wanted(blocks, [&](const WindowBlock& b) { return weight_transfers(t_, b); });
  if (!t_.plan.weights_once) {
    at.w = w_.fetch(writer, std::move(list));
    at.w_item = w_.item();
    return;
  }
  if (!covers(held_, list)) {
    Item item;
    item.kind = backend::MemoryUse::Kind::Weights;
    item.prefetch = true;
    item.loads = multicast(list);
    for (const Load& l : item.loads) item.bytes = std::max(item.bytes, l.transfer.ocm + l.transfer.bytes());
    weights_ = writer.add_item(std::move(item));
    held_ = std::move(list);
  }
  at.w_item = weights_;
}

SlotOffsets WindowOperands::fetch(const std::vector<WindowBlock>& blocks) {
  using Transfers = std::vector<Transfer>;
  StepWriter& writer = t_.context.writer;
  const WindowOp& op = t_.op;
  SlotOffsets at;
  fetch_weights(blocks, at);
  if (op.dynamic_weights && t_.streams.w)
    at.dynamic_w = dynamic_.fetch(writer, wanted(blocks, [&](const WindowBlock& b) {
                                    return Transfers{pack_dynamic_weights(t_, b).transfer};
                                  }));
  if (t_.streams.x)
    at.x =
        x_.fetch(writer, wanted(blocks, [&](const WindowBlock& b) {
                   return Transfers{
                       pack_image(t_, t_.at(b).x, b, b.x_rows, b.x_cols, t_.channels_in(b), true).transfer};
                 }));
  bool last = std::ranges::any_of(blocks, [](const WindowBlock& b) { return !b.empty() && b.last; });
  if (op.has_residual && t_.streams.residual && last)
    at.residual = residual_.fetch(
        writer, wanted(blocks, [&](const WindowBlock& b) {
          return Transfers{
              pack_image(t_, t_.at(b).residual, b, b.rows, b.cols, t_.channels_out(b), true).transfer};
        }));
  if (t_.streams.out && last) at.out = out_.next();
  return at;
}

void WindowOperands::store(uint32_t tile, const WindowBlock& b, const SlotOffsets& at) {
  Packed out = pack_image(t_, t_.at(b).out, b, b.rows, b.cols, t_.channels_out(b), false);
  t_.context.writer.store(tile, out.transfer, out_.item(), at.out);
}

Place WindowOperands::place(const Source& source, uint32_t tile, const WindowBlock& b, Span rows, Span cols,
                            Span channels) const {
  const WindowOp::Image& image = source.image;
  if (source.streamed) {
    Packed p = pack_image(t_, image, b, rows, cols, channels, source.load);
    return {source.slot, source.offset, p.strides[0], p.strides[1]};
  }
  const Residence& h = t_.context.residences[image.buffer];
  int64_t element = image.offsets[static_cast<size_t>(b.image)] + rows.begin * image.stride_h +
                    cols.begin * image.stride_w + channels.begin;
  int64_t bytes = image.element_bytes();
  return {t_.context.tensor_item(image.buffer), h.offset(tile, element * bytes),
          h.stride(image.stride_h * bytes), h.stride(image.stride_w * bytes)};
}

Place WindowOperands::x(uint32_t tile, const WindowBlock& b, const SlotOffsets& at) const {
  Source source{t_.at(b).x, t_.streams.x, true, x_.item(), at.x};
  return place(source, tile, b, b.x_rows, b.x_cols, t_.channels_in(b));
}

Place WindowOperands::out(uint32_t tile, const WindowBlock& b, const SlotOffsets& at) const {
  Source source{t_.at(b).out, t_.streams.out, false, out_.item(), at.out};
  return place(source, tile, b, b.rows, b.cols, t_.channels_out(b));
}

Place WindowOperands::residual(uint32_t tile, const WindowBlock& b, const SlotOffsets& at) const {
  Source source{t_.at(b).residual, t_.streams.residual, true, residual_.item(), at.residual};
  return place(source, tile, b, b.rows, b.cols, t_.channels_out(b));
}

Place WindowOperands::dynamic_weights(uint32_t tile, const WindowBlock& b, const SlotOffsets& at) const {
  const WindowOp::Image& w = t_.op.w;
  if (t_.streams.w) {
    Packed packed = pack_dynamic_weights(t_, b);
    return {dynamic_.item(), at.dynamic_w, packed.strides[0], packed.strides[1]};
  }
  const Residence& h = t_.context.residences[w.buffer];
  int64_t element =
      w.offsets[static_cast<size_t>(b.image)] + b.k.begin * w.stride_h + b.units.begin * 16 * w.stride_w;
  return {t_.context.tensor_item(w.buffer), h.offset(tile, element * 2), h.stride(w.stride_h * 2),
          h.stride(w.stride_w * 2)};
}

}  // namespace mrvlc::accel

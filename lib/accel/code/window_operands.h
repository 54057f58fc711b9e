// Where the operands of a block are: in DDR, in a slot of the workspace, or in the window of a tensor on
// chip.
#pragma once
#include "code/window_block.h"

namespace mrvlc::accel {

// --- In DDR: the boxes and stretches that a block needs.

Packed pack_image(const WindowTask& task, const WindowOp::Image& image, const WindowBlock& block, Span rows,
                  Span cols, Span channels, bool load);
Packed pack_dynamic_weights(const WindowTask& task, const WindowBlock& block);
// Constant weights with their bias in front of them; the bias alone where weights are computed.
std::vector<Transfer> weight_transfers(const WindowTask& task, const WindowBlock& block);

// --- On chip.

// Of the first element of a tile's block: an item, the offset in it, and the strides of rows and columns in
// bytes.
struct Place {
  uint32_t item = kNoItem;
  int64_t at = 0, row = 0, col = 0;
};

// Of one step, for all tiles: offsets in the slots of streamed operands.
struct SlotOffsets {
  int64_t w = 0, x = 0, dynamic_w = 0, residual = 0, out = 0;
  uint32_t w_item = kNoItem;
};

// The slots of streamed operands, and what fills them.
class WindowOperands {
 public:
  explicit WindowOperands(WindowTask& task);
  // Loads what the step's blocks (one a tile) need and have not.
  SlotOffsets fetch(const std::vector<WindowBlock>& blocks);
  void store(uint32_t tile, const WindowBlock& block, const SlotOffsets& at);

  Place x(uint32_t tile, const WindowBlock& block, const SlotOffsets& at) const;
  Place out(uint32_t tile, const WindowBlock& block, const SlotOffsets& at) const;
  Place residual(uint32_t tile, const WindowBlock& block, const SlotOffsets& at) const;
  // Computed weights: strides of their rows and columns.
  Place dynamic_weights(uint32_t tile, const WindowBlock& block, const SlotOffsets& at) const;
  uint32_t table() const { return table_; }

 private:
  // How an image's block is found: streamed through `slot` at `offset`, or in the window of its tensor.
  struct Source {
    const WindowOp::Image& image;
    bool streamed = false, load = true;
    uint32_t slot = kNoItem;
    int64_t offset = 0;
  };
  Place place(const Source& source, uint32_t tile, const WindowBlock& block, Span rows, Span cols,
              Span channels) const;
  void fetch_weights(const std::vector<WindowBlock>& blocks, SlotOffsets& at);

  WindowTask& t_;
  InputSlot w_, dynamic_, x_, residual_;
  OutputSlot out_;
  uint32_t table_ = kNoItem, weights_ = kNoItem;
  std::vector<std::vector<Transfer>> held_;  // by the item of weights at hand
};

}  // namespace mrvlc::accel

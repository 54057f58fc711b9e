// The instructions of a block of a WindowOp.
#pragma once
#include "code/window_operands.h"

namespace mrvlc::accel {

class WindowInstructions {
 public:
  WindowInstructions(WindowTask& task, const WindowOperands& operands) : t_(task), operands_(operands) {}
  // Makes the block's results, in pieces that the accumulators hold; sends whole rows that are done to the
  // tiles that need them.
  void compute(uint32_t tile, const WindowBlock& block, const SlotOffsets& at);
  // What compute has not sent: the block's results to the tiles that need them.
  void send_rest(uint32_t tile, const WindowBlock& block);

 private:
  // What the instructions of one block have in common.
  struct Site {
    uint32_t tile;
    const WindowBlock& block;
    const SlotOffsets& at;
  };
  struct Pieces {
    std::vector<Span> rows;
    int64_t cols = 1;
  };
  Pieces cut_to_accumulators(const WindowBlock& block, Span rows, Span cols) const;
  void phase(const Site& site, const WindowPhase& phase, int64_t weights_at);
  void piece(const Site& site, const WindowPhase& phase, int64_t weights_at, Span y, Span x);
  void pool(const Site& site, const WindowPhase& phase, Span y, Span x);
  void depthwise(const Site& site, const WindowPhase& phase, isa::Conv instruction, const ItemRefs& refs);
  void groups(const Site& site, const WindowPhase& phase, isa::Conv instruction, ItemRefs refs);
  template <class I>
  void window_fields(I& i, const Site& site, const WindowPhase& phase, Span y, Span x, const Place& in,
                     const Place& out) const;
  uint32_t set_residual(isa::Conv& i, const Site& site, const WindowPhase& phase, Span y, Span x) const;
  void set_integers(isa::Conv& i, const Site& site) const;
  uint32_t set_dynamic_weights(isa::Conv& i, const Site& site) const;
  int64_t out_offset(const WindowBlock& b, const WindowPhase& phase, Span y, Span x, const Place& at) const;
  bool by_stripes() const;
  void exchange(uint32_t tile, const WindowBlock& block, Span rows);

  WindowTask& t_;
  const WindowOperands& operands_;
};

}  // namespace mrvlc::accel

// WindowOp -> steps. All tiles take the same steps: step i works on the i-th block of each tile, so that what
// two tiles need at the same time arrives in one multicast.
#include <algorithm>

#include "code/window_instructions.h"

namespace mrvlc::accel {
namespace {

class WindowCodegen {
 public:
  explicit WindowCodegen(WindowTask& task) : t_(task), operands_(task), instructions_(task, operands_) {}

  Status run() {
    MRVLC_ASSIGN(auto blocks, window_blocks(t_));
    size_t steps = 0;
    for (const auto& list : blocks) steps = std::max(steps, list.size());
    for (size_t i = 0; i < steps; ++i) {
      std::vector<WindowBlock> now;
      for (auto& list : blocks) now.push_back(i < list.size() ? list[i] : WindowBlock{});
      step(now);
    }
    return {};
  }

 private:
  // One block a tile; empty for a tile that stands still.
  void step(const std::vector<WindowBlock>& blocks) {
    t_.context.writer.begin_step();
    SlotOffsets at = operands_.fetch(blocks);
    const int64_t first = t_.context.writer.size();
    for (uint32_t t = 0; t < blocks.size(); ++t)
      if (!blocks[t].empty()) instructions_.compute(t, blocks[t], at);
    t_.context.writer.take_turns(first);
    for (uint32_t t = 0; t < blocks.size(); ++t)
      if (!blocks[t].empty() && blocks[t].last) deliver(t, blocks[t], at);
    t_.context.writer.end_step();
  }

  void deliver(uint32_t tile, const WindowBlock& block, const SlotOffsets& at) {
    if (t_.streams.out) {
      operands_.store(tile, block, at);
    } else {
      instructions_.send_rest(tile, block);
    }
  }

  WindowTask& t_;
  WindowOperands operands_;
  WindowInstructions instructions_;
};

}  // namespace

Status generate(const WindowOp& op, CodegenContext& c) {
  c.writer.set_owner(op.owner);
  Streams s;
  s.x = !c.on_chip(op.x.buffer);
  s.out = !c.on_chip(op.out.buffer);
  s.residual = op.has_residual && !c.on_chip(op.residual.buffer);
  s.w = op.dynamic_weights && !c.on_chip(op.w.buffer);
  const target::Machine& m = c.writer.machine();
  std::optional<WindowPlan> plan = plan_window(op, c.cuts[c.primitive], s, c.budget, m);
  if (!plan) return make_diag<DiagCode::MRV0501>(m.ocm_bytes);
  WindowTask task{op, *plan, s, c};
  return WindowCodegen(task).run();
}

}  // namespace mrvlc::accel

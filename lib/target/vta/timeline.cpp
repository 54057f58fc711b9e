// Clocks of the three units and of their tokens: an instruction begins when its unit, its tokens and its bits
// are there.
#include "timeline.h"

#include <algorithm>
#include <deque>

namespace vta {
namespace {

constexpr uint64_t kInstructionBytes = 16;

uint64_t steps_of(const Instruction& i) {
  return uint64_t{i.uop_end - i.uop_begin} * i.iter_out * i.iter_in;
}

uint64_t duration(const Instruction& i, const Board& board) {
  if (i.opcode == kFinish) return 1;
  if (i.moves()) {
    const uint64_t bytes = uint64_t{i.x} * i.y * kElementBytes[i.memory];
    return bytes ? kFill + (bytes + board.bus_bytes - 1) / board.bus_bytes : 1;
  }
  const uint64_t each = i.opcode == kGemm ? 1 : i.use_imm ? board.alu_immediate : board.alu_operands;
  return kFill + each * steps_of(i);
}

}  // namespace

Timeline timeline(const Stream& stream, const Board& board, uint32_t layers) {
  Timeline made;
  made.layers.assign(layers, {~uint64_t{0}, 0});
  std::deque<uint64_t> tokens[3][3];
  uint64_t free[3] = {0, 0, 0};
  for (size_t k = 0; k < stream.instructions.size(); ++k) {
    const Instruction& i = stream.instructions[k];
    const uint32_t unit = i.unit();
    uint64_t begin = std::max(free[unit], (k + 1) * kInstructionBytes / board.bus_bytes);
    const auto pop = [&](uint32_t from) {
      begin = std::max(begin, tokens[from][unit].front());
      tokens[from][unit].pop_front();
    };
    if (i.pop_prev) pop(unit - 1);
    if (i.pop_next) pop(unit + 1);
    const uint64_t end = begin + duration(i, board);
    free[unit] = end;
    if (i.push_prev) tokens[unit][unit - 1].push_back(end);
    if (i.push_next) tokens[unit][unit + 1].push_back(end);
    if (i.opcode == kGemm && !i.reset) made.products += steps_of(i);
    auto& layer = made.layers[stream.layer_of[k]];
    layer = {std::min(layer[0], begin), std::max(layer[1], end)};
    made.cycles = std::max(made.cycles, end);
  }
  return made;
}

}  // namespace vta

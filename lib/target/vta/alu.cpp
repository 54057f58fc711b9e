// Writes passes over accumulators with what all implementations have: MIN, MAX, ADD and shifts from -16
// to 15.
#include "alu.h"

#include <algorithm>

namespace vta::alu {
namespace {

constexpr int32_t kMostRight = 15, kMostLeft = 16;

// By more than an instruction can: several.
void shift(std::vector<Kernel>& out, uint32_t at, uint32_t count, int32_t by) {
  while (by != 0) {
    const int32_t part = std::clamp(by, -kMostLeft, kMostRight);
    out.push_back(immediate(kShr, at, count, part));
    by -= part;
  }
}

}  // namespace

Kernel loops(Opcode opcode, uint32_t outer, uint32_t inner) {
  Kernel k;
  k.instruction.opcode = opcode;
  k.instruction.iter_out = outer;
  k.instruction.iter_in = inner;
  return k;
}

void factors(Kernel& kernel, uint32_t dst_out, uint32_t dst_in, uint32_t src_out, uint32_t src_in) {
  Instruction& i = kernel.instruction;
  i.dst_out = dst_out, i.dst_in = dst_in, i.src_out = src_out, i.src_in = src_in;
}

Kernel reset(uint32_t at, uint32_t count) {
  Kernel k = loops(kGemm, 1, count);
  k.instruction.reset = 1;
  factors(k, 0, 1, 0, 0);
  k.uops = {encode(Uop{at, 0, 0})};
  return k;
}

Kernel operands(AluOp op, uint32_t at, uint32_t from, uint32_t count) {
  Kernel k = loops(kAlu, 1, count);
  k.instruction.alu = op;
  factors(k, 0, 1, 0, 1);
  k.uops = {encode(Uop{at, from, 0})};
  return k;
}

Kernel immediate(AluOp op, uint32_t at, uint32_t count, int32_t value) {
  Kernel k = operands(op, at, at, count);
  k.instruction.use_imm = 1;
  k.instruction.imm = static_cast<uint16_t>(value);
  return k;
}

Kernel add_bias(uint32_t at, uint32_t bias, uint32_t blocks, uint32_t pixels) {
  Kernel k = loops(kAlu, blocks, pixels);
  k.instruction.alu = kAdd;
  factors(k, pixels, 1, 1, 0);
  k.uops = {encode(Uop{at, bias, 0})};
  return k;
}

// Half a step rounds ties up. A sum with the half is a multiple of a step only at a tie; where the bit above
// is set then, the result is odd, and one less than the sum makes it even. Elsewhere one less changes
// nothing, as long as it is taken from what is no multiple.
void requantize(std::vector<Kernel>& out, const AluStep& step, uint32_t at, uint32_t count, uint32_t free,
                uint32_t scratch) {
  const auto by = static_cast<int32_t>(step.shift);
  for (uint32_t from = 0; by > 0 && from < count; from += scratch) {
    const uint32_t part = std::min(scratch, count - from);
    out.push_back(reset(free, part));
    out.push_back(operands(kAdd, free, at + from, part));
    shift(out, free, part, by - 31);
    out.push_back(immediate(kMax, free, part, -1));
    out.push_back(immediate(kMin, free, part, 0));
    out.push_back(operands(kAdd, at + from, free, part));
  }
  shift(out, at, count, by);
  out.push_back(immediate(kMin, at, count, step.high));
  out.push_back(immediate(kMax, at, count, step.low));
}

}  // namespace vta::alu

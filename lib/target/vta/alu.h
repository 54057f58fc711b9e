// Kernels of the ALU, and of GEMM without products.
#pragma once
#include "layer.h"
#include "program.h"

namespace vta::alu {

Kernel loops(Opcode opcode, uint32_t outer, uint32_t inner);
void factors(Kernel& kernel, uint32_t dst_out, uint32_t dst_in, uint32_t src_out, uint32_t src_in);
Kernel reset(uint32_t at, uint32_t count);
Kernel immediate(AluOp op, uint32_t at, uint32_t count, int32_t value);
Kernel operands(AluOp op, uint32_t at, uint32_t from, uint32_t count);
Kernel add_bias(uint32_t at, uint32_t bias, uint32_t blocks, uint32_t pixels);
// Of sums to which half a step has been added already; `scratch` accumulators are free at `free`.
void requantize(std::vector<Kernel>& out, const AluStep& step, uint32_t at, uint32_t count, uint32_t free,
                uint32_t scratch);

}  // namespace vta::alu

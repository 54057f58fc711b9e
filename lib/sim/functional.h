// What each instruction does to memory. Instructions are executed in program order, which is what the program
// means; whether the hardware would keep that order is the hazard detector's question.
#pragma once
#include "memory.h"
#include "mrvlc/isa/isa.h"

namespace mrvlc::sim {

// Buffers that keep their size from one instruction to the next.
struct Scratch {
  std::vector<float> x, w, acc, row_a, row_b;
  std::vector<const float*> pixels;
  std::vector<float*> sums;
  std::vector<int32_t> integer_acc;
  std::vector<int32_t*> integer_sums;
  std::vector<std::byte> bytes;
  uint32_t flags = 0;  // of all instructions so far, see Flag
};

void execute_conv(const isa::Conv& c, uint8_t tile, Memory& memory, Scratch& scratch);
void execute_dma(const isa::Dma& d, uint8_t tile, Memory& memory, Scratch& scratch);
void execute_elementwise(const isa::Elementwise& e, uint8_t tile, Memory& memory, Scratch& scratch);
void execute_reduce(const isa::Reduce& r, uint8_t tile, Memory& memory, Scratch& scratch);
void execute_pool(const isa::Pool& p, uint8_t tile, Memory& memory, Scratch& scratch);
void execute(const isa::Instruction& instruction, Memory& memory, Scratch& scratch);

}  // namespace mrvlc::sim

// Small programs by hand: a binary with one input, one output and a scratch range, and shorthands for
// instructions.
#pragma once
#include <cstring>

#include "mrvlc/sim/simulator.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::sim {

using isa::Instruction;
using isa::Queue;

constexpr uint64_t kInputAt = 4096, kOutputAt = 1 << 20, kScratchAt = 2 << 20, kRange = 1 << 19;

// Without code to fetch and full queues: what that takes has tests of its own.
inline target::Machine machine() {
  target::Machine m = *target::load_machine("cn10ka", {});
  m.fetch_buffer = m.queue_depth = 0;
  return m;
}

inline isa::Binary binary(std::vector<Instruction> main, uint8_t tiles = 1, uint32_t in = 1024,
                          uint32_t out = 1024) {
  isa::Binary b;
  b.tiles = tiles;
  b.ocm_bytes = 1 << 20;
  b.weights.assign(4096, '\0');
  b.main = std::move(main);
  b.inputs.push_back({"in", 7, 7, 1, 2, {1, 1, 1, in}, kInputAt});
  b.outputs.push_back({"out", 7, 7, 1, 2, {1, 1, 1, out}, kOutputAt});
  b.ddr_input_begin = kInputAt, b.ddr_input_end = kInputAt + kRange;
  b.ddr_output_begin = kOutputAt, b.ddr_output_end = kOutputAt + kRange;
  b.ddr_scratch_begin = kScratchAt, b.ddr_scratch_end = kScratchAt + kRange;
  return b;
}

// Contiguous copies.
inline Instruction load_ocm(uint64_t ddr, uint64_t ocm, uint32_t bytes, std::vector<isa::Wait> waits = {},
                            uint8_t tile = 0, uint8_t tiles = 0) {
  isa::Dma d;
  d.dst_tiles = tiles != 0 ? tiles : static_cast<uint8_t>(1u << tile);
  d.src = ddr, d.dst = ocm, d.run_bytes = bytes;
  return {tile, Queue::DmaIn, std::move(waits), d};
}

inline Instruction store_ddr(uint64_t ocm, uint64_t ddr, uint32_t bytes, std::vector<isa::Wait> waits = {},
                             uint8_t tile = 0) {
  isa::Dma d;
  d.src_space = isa::Space::Ocm, d.dst_space = isa::Space::Ddr;
  d.src = ocm, d.dst = ddr, d.run_bytes = bytes;
  return {tile, Queue::DmaOut, std::move(waits), d};
}

inline isa::Operand row(uint32_t address, isa::DataType type = isa::DataType::F16) {
  return {address, type, {0, 0, 0, 0, static_cast<int32_t>(isa::data_bytes(type))}};
}

inline isa::Elementwise ew(isa::EwOp op, uint32_t n, uint32_t dst, uint32_t a, uint32_t b = 0) {
  isa::Elementwise e;
  e.op = op;
  e.dims[4] = n;
  e.dst = row(dst), e.a = row(a), e.b = row(b);
  return e;
}

// Dense NHWC convolution with packed weights.
inline isa::Conv conv(uint32_t h, uint32_t w, uint32_t c, uint32_t n, uint32_t kernel = 1) {
  isa::Conv v;
  v.in_h = h, v.in_w = w, v.channels = c, v.x_col = c * 2, v.x_row = w * c * 2;
  v.kernel_h = v.kernel_w = kernel;
  v.y0 = v.x0 = -static_cast<int32_t>(kernel / 2);
  v.w_block = kernel * kernel * c * 32;
  v.out_h = h, v.out_w = w, v.out_channels = n, v.out_col = n * 2, v.out_row = w * n * 2;
  return v;
}

inline std::string halves(const std::vector<float>& values) {
  std::string s(values.size() * 2, '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t h = float_to_half(values[i]);
    std::memcpy(s.data() + 2 * i, &h, 2);
  }
  return s;
}

inline std::vector<uint16_t> bits(const std::string& s) {
  std::vector<uint16_t> out(s.size() / 2);
  std::memcpy(out.data(), s.data(), s.size());
  return out;
}

// Runs with `input` padded to the port's size; the output port's bytes.
inline std::string run(const isa::Binary& b, std::string input, Report* report = nullptr) {
  auto sim = Simulator::create(b, machine());
  if (!sim) return "create: " + sim.error().message;
  input.resize(b.inputs[0].elements() * 2);
  auto bytes = std::as_bytes(std::span(input.data(), input.size()));
  std::vector<std::span<const std::byte>> inputs = {bytes};
  std::vector<std::string> outputs;
  auto r = sim->run(inputs, outputs);
  if (!r) return "run: " + r.error().message;
  if (report != nullptr) *report = *r;
  return outputs[0];
}

}  // namespace mrvlc::sim

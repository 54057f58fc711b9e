// Transfers between DDR and on-chip memories.
#include <cstring>

#include "functional.h"

namespace mrvlc::sim {
namespace {

// f(offset in the source, offset in the destination) for every run, outermost dimension first.
template <class F>
void each_run(const isa::Dma& d, F f) {
  for (int64_t i = 0; i < d.dims[0]; ++i)
    for (int64_t j = 0; j < d.dims[1]; ++j)
      for (int64_t k = 0; k < d.dims[2]; ++k)
        f(static_cast<uint64_t>(i * d.src_strides[0] + j * d.src_strides[1] + k * d.src_strides[2]),
          static_cast<uint64_t>(i * d.dst_strides[0] + j * d.dst_strides[1] + k * d.dst_strides[2]));
}

}  // namespace

// Everything is read before anything is written, so that a tile can shift data within its own memory.
void execute_dma(const isa::Dma& d, uint8_t tile, Memory& memory, Scratch& scratch) {
  scratch.bytes.resize(size_t{d.dims[0]} * d.dims[1] * d.dims[2] * d.run_bytes);
  std::byte* buffer = scratch.bytes.data();
  each_run(d, [&](uint64_t src, uint64_t) {
    uint64_t at = d.src + src;
    std::memcpy(buffer, d.src_space == isa::Space::Ddr ? memory.read_ddr(at) : memory.ocm(tile, at),
                d.run_bytes);
    buffer += d.run_bytes;
  });
  for (uint8_t t = 0; t < isa::kMaxTiles; ++t) {
    bool ddr = d.dst_space == isa::Space::Ddr;
    if (ddr ? t != 0 : (d.dst_tiles >> t & 1) == 0) continue;
    buffer = scratch.bytes.data();
    each_run(d, [&](uint64_t, uint64_t dst) {
      uint64_t at = d.dst + dst;
      std::memcpy(ddr ? memory.write_ddr(at) : memory.ocm(t, at), buffer, d.run_bytes);
      buffer += d.run_bytes;
    });
  }
}

void execute(const isa::Instruction& instruction, Memory& memory, Scratch& scratch) {
  uint8_t tile = instruction.tile;
  if (const auto* d = std::get_if<isa::Dma>(&instruction.body)) execute_dma(*d, tile, memory, scratch);
  if (const auto* c = std::get_if<isa::Conv>(&instruction.body)) execute_conv(*c, tile, memory, scratch);
  if (const auto* e = std::get_if<isa::Elementwise>(&instruction.body))
    execute_elementwise(*e, tile, memory, scratch);
  if (const auto* r = std::get_if<isa::Reduce>(&instruction.body)) execute_reduce(*r, tile, memory, scratch);
  if (const auto* p = std::get_if<isa::Pool>(&instruction.body)) execute_pool(*p, tile, memory, scratch);
}

}  // namespace mrvlc::sim

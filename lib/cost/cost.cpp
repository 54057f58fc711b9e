// What each instruction costs, opcode by opcode.
#include "mrvlc/cost/cost.h"

#include <algorithm>

namespace mrvlc::cost {
namespace {

using target::Machine;

constexpr uint64_t kBlock = 16;  // the matrix unit is 16 x 16: part of the instruction set, not of a target

constexpr uint64_t ceil_div(uint64_t a, uint64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

// Reduction elements that the unit takes at once: as many bytes of integers as of fp16.
uint64_t depth_of(const isa::Conv& c) {
  return c.of_integers() ? 2 * kBlock : kBlock;
}

// Blocks of reduction elements: the input of a kernel row is one run of memory when its pixels are adjacent.
uint64_t reduction_blocks(const isa::Conv& c) {
  bool one_run =
      c.kernel_w == 1 || (c.dilation_w == 1 && c.x_col == uint64_t{c.channels} * isa::data_bytes(c.x_type));
  uint64_t row = one_run ? ceil_div(uint64_t{c.kernel_w} * c.channels, depth_of(c))
                         : c.kernel_w * ceil_div(c.channels, depth_of(c));
  return c.kernel_h * row;
}

uint64_t output_bytes(const isa::Conv& c, uint64_t pixels) {
  return c.last ? pixels * c.out_channels * isa::data_bytes(c.out_type) : 0;
}

uint64_t epilogue_reads(const isa::Conv& c, uint64_t pixels) {
  if (!c.last) return 0;
  uint64_t bytes = 0;
  if (c.bias != isa::kNoAddress) bytes += uint64_t{c.out_channels} * 4;
  if (c.of_integers()) bytes += uint64_t{c.out_channels} * 4;  // scales
  if (c.residual != isa::kNoAddress) bytes += pixels * c.out_channels * 2;
  bytes += isa::table_bytes(c.epilogue.activation);
  return bytes;
}

// Pixels that the matrix unit spends cycles on.
uint64_t pixels_taken(const isa::Conv& c, const Machine& m) {
  return ceil_div(uint64_t{c.out_h} * c.out_w, m.pixel_block) * m.pixel_block;
}

// Cycles of 16 output channels: a reduction block adds to the sums of the one before, which must be there.
uint64_t reduction_cycles(const isa::Conv& c, const Machine& m, uint64_t step) {
  return step + (reduction_blocks(c) - 1) * std::max<uint64_t>(step, m.reduction_gap);
}

// Computing one block of output channels and draining the one before overlap as long as both fit the
// accumulators.
uint64_t with_drain(const isa::Conv& c, const Machine& m, uint64_t blocks, uint64_t compute) {
  if (!c.last) return blocks * compute;
  const uint64_t pixels = pixels_taken(c, m);
  uint64_t drain = ceil_div(pixels * kBlock, m.pe_lanes);
  if (pixels * 2 > m.accumulator_pixels) return blocks * (compute + drain);
  return compute + (blocks - 1) * std::max(compute, drain) + drain;
}

Cost conv_cost(const isa::Conv& c, const Machine& m) {
  Cost r;
  uint64_t pixels = uint64_t{c.out_h} * c.out_w, blocks = ceil_div(c.out_channels, kBlock);
  uint64_t k = uint64_t{c.kernel_h} * c.kernel_w * c.channels;
  const uint64_t element = isa::data_bytes(c.w_type);
  bool packed = c.w_n == element && c.w_k == element * kBlock;
  uint64_t weight_cycles = packed ? m.weight_block_cycles : m.strided_weight_block_cycles;
  const uint64_t rate = c.of_integers() ? m.int8_macs : m.fp16_macs;
  uint64_t step =
      std::max<uint64_t>(ceil_div(pixels_taken(c, m) * depth_of(c) * kBlock, rate), weight_cycles);
  r.engine_cycles = with_drain(c, m, blocks, reduction_cycles(c, m, step)) + m.accumulation_fill;
  r.macs = pixels * k * c.out_channels;
  r.integers = c.of_integers();
  r.read_bytes = blocks * pixels * k * element + k * c.out_channels * element + epilogue_reads(c, pixels);
  r.write_bytes = output_bytes(c, pixels);
  return r;
}

// Each kernel row reads the pixels under it once; its taps share them.
Cost depthwise_cost(const isa::Conv& c, const Machine& m) {
  Cost r;
  uint64_t pixels = uint64_t{c.out_h} * c.out_w, blocks = ceil_div(c.out_channels, kBlock);
  uint64_t taps = uint64_t{c.kernel_h} * c.kernel_w;
  const uint64_t rate = c.of_integers() ? m.int8_depthwise_macs : m.depthwise_macs;
  const uint64_t element = isa::data_bytes(c.x_type);
  r.engine_cycles =
      with_drain(c, m, blocks, ceil_div(pixels_taken(c, m) * kBlock * taps, rate)) + m.accumulation_fill;
  r.macs = pixels * taps * c.out_channels;
  r.integers = c.of_integers();
  uint64_t span = (uint64_t{c.out_w} - 1) * c.stride_w + (uint64_t{c.kernel_w} - 1) * c.dilation_w + 1;
  uint64_t row = std::min(span, uint64_t{c.out_w} * c.kernel_w);
  r.read_bytes = c.kernel_h * c.out_h * row * c.out_channels * element + taps * c.out_channels * element +
                 epilogue_reads(c, pixels);
  r.write_bytes = output_bytes(c, pixels);
  return r;
}

// Elements fetched through the port: one repeated along the innermost dimensions is fetched once.
uint64_t fetched(const isa::Operand& o, const std::array<uint32_t, 5>& dims) {
  uint64_t n = 1;
  bool repeats = true;
  for (size_t k = 5; k-- > 0;) {
    repeats = repeats && (o.strides[k] == 0 || dims[k] == 1);
    if (!repeats) n *= dims[k];
  }
  return n * isa::data_bytes(o.type);
}

uint64_t volume(const std::array<uint32_t, 5>& d) {
  return saturating_product(d[0], d[1], d[2], d[3], d[4]);
}

uint64_t table_bytes(const isa::Epilogue& e) {
  return isa::table_bytes(e.activation);
}

Cost elementwise_cost(const isa::Elementwise& e, const Machine& m) {
  Cost r;
  bool slow = e.op == isa::EwOp::Div || e.op == isa::EwOp::Sqrt || e.op == isa::EwOp::Reciprocal;
  r.engine_cycles = ceil_div(volume(e.dims), m.pe_lanes) * (slow ? m.pe_slow_factor : 1);
  int operands = isa::operand_count(e.op);
  if (operands >= 1) r.read_bytes += fetched(e.a, e.dims);
  if (operands >= 2) r.read_bytes += fetched(e.b, e.dims);
  r.read_bytes += table_bytes(e.epilogue);
  r.write_bytes = volume(e.dims) * isa::data_bytes(e.dst.type);
  return r;
}

Cost reduce_cost(const isa::Reduce& v, const Machine& m) {
  Cost r;
  r.engine_cycles = ceil_div(volume(v.dims), m.pe_lanes);
  r.read_bytes = fetched(v.a, v.dims) + table_bytes(v.epilogue);
  uint64_t results = 1;
  for (size_t k = 0; k < 5; ++k) results *= v.dst.strides[k] == 0 ? 1 : v.dims[k];
  r.write_bytes = results * isa::data_bytes(v.dst.type);
  return r;
}

Cost pool_cost(const isa::Pool& p, const Machine& m) {
  Cost r;
  uint64_t outputs = uint64_t{p.out_h} * p.out_w * p.channels, visited = outputs * p.kernel_h * p.kernel_w;
  r.engine_cycles = ceil_div(visited, m.pe_lanes);
  r.read_bytes = visited * isa::data_bytes(p.x_type) + table_bytes(p.epilogue);
  r.write_bytes = outputs * isa::data_bytes(p.out_type);
  return r;
}

// Runs that follow each other without a gap are one; every run then takes whole bursts.
uint64_t burst_bytes(const isa::Dma& d, const std::array<int64_t, 3>& strides, uint64_t burst) {
  uint64_t run = d.run_bytes, count = 1;
  bool joined = true;
  for (size_t k = 3; k-- > 0;) {
    if (d.dims[k] == 1) continue;
    joined = joined && strides[k] >= 0 && static_cast<uint64_t>(strides[k]) == run;
    (joined ? run : count) *= d.dims[k];
  }
  return count * ceil_div(run, burst) * burst;
}

Cost dma_cost(const isa::Dma& d, const Machine& m) {
  Cost r;
  uint64_t bytes = uint64_t{d.dims[0]} * d.dims[1] * d.dims[2] * d.run_bytes;
  if (d.src_space == isa::Space::Ddr) r.ddr_read_bytes = burst_bytes(d, d.src_strides, m.ddr_burst);
  if (d.dst_space == isa::Space::Ddr) r.ddr_write_bytes = burst_bytes(d, d.dst_strides, m.ddr_burst);
  if (d.src_space == isa::Space::Ocm) r.read_bytes = bytes;
  r.link_tiles = d.dst_tiles;
  r.write_bytes = d.dst_space == isa::Space::Ocm ? bytes : 0;
  uint64_t ddr = r.ddr_read_bytes + r.ddr_write_bytes;
  r.engine_cycles = ddr > 0 ? m.ddr_cycles(ddr) : ceil_div(bytes, m.tile_link_bytes);
  return r;
}

}  // namespace

Cost cost_of(const isa::Instruction& instruction, const target::Machine& machine) {
  if (const auto* d = std::get_if<isa::Dma>(&instruction.body)) return dma_cost(*d, machine);
  if (const auto* c = std::get_if<isa::Conv>(&instruction.body))
    return c->depthwise ? depthwise_cost(*c, machine) : conv_cost(*c, machine);
  if (const auto* e = std::get_if<isa::Elementwise>(&instruction.body)) return elementwise_cost(*e, machine);
  if (const auto* r = std::get_if<isa::Reduce>(&instruction.body)) return reduce_cost(*r, machine);
  if (const auto* p = std::get_if<isa::Pool>(&instruction.body)) return pool_cost(*p, machine);
  return {};
}

}  // namespace mrvlc::cost

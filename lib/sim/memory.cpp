// DDR segments, OCM and accumulators of each tile, filled with NaN until they are written.
#include "memory.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace mrvlc::sim {
namespace {

constexpr std::byte kUnwritten{0xff};  // a quiet NaN in fp16 and fp32
constexpr float kNoSum = std::numeric_limits<float>::quiet_NaN();

}  // namespace

Memory::Memory(const isa::Binary& b, const target::Machine& machine) : weights_(b.weights) {
  auto segment = [&](uint64_t begin, uint64_t end) {
    segments_.push_back({begin, std::vector<std::byte>(end - begin, kUnwritten)});
  };
  segment(b.ddr_input_begin, b.ddr_input_end);
  segment(b.ddr_output_begin, b.ddr_output_end);
  segment(b.ddr_scratch_begin, b.ddr_scratch_end);
  ocm_.assign(b.tiles, std::vector<std::byte>(b.ocm_bytes, kUnwritten));
  accumulators_.assign(b.tiles,
                       {std::vector<float>(size_t{machine.accumulator_pixels} * 16, kNoSum), {}, false});
}

const std::byte* Memory::read_ddr(uint64_t address) const {
  if (address < weights_.size()) return reinterpret_cast<const std::byte*>(weights_.data()) + address;
  for (const Segment& s : segments_)
    if (address >= s.begin && address - s.begin < s.bytes.size()) return s.bytes.data() + (address - s.begin);
  return nullptr;
}

std::byte* Memory::write_ddr(uint64_t address) {
  for (Segment& s : segments_)
    if (address >= s.begin && address - s.begin < s.bytes.size()) return s.bytes.data() + (address - s.begin);
  return nullptr;
}

void Memory::forget_accumulators(uint8_t tile) {
  Accumulators& a = accumulators_[tile];
  if (std::exchange(a.written, false)) std::ranges::fill(a.sums, kNoSum);
}

}  // namespace mrvlc::sim

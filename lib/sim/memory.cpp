// DDR segments, OCM and accumulators of each tile, filled with NaN until they are written.
#include "memory.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "mrvlc/support/checked.h"

namespace mrvlc::sim {
namespace {

constexpr std::byte kUnwritten{0xff};  // a quiet NaN in fp16 and fp32
constexpr float kNoSum = std::numeric_limits<float>::quiet_NaN();

// The pages of OCM that an operand may touch: a program of one small layer leaves most of them alone.
void fill_touched(const isa::Binary& b, const std::vector<std::unique_ptr<std::byte[]>>& ocm) {
  constexpr uint64_t kPage = 4096;
  std::vector<std::vector<bool>> filled(ocm.size(), std::vector<bool>(ceil_div(b.ocm_bytes, kPage)));
  const auto fill = [&](const isa::Access& a) {
    for (uint64_t page = a.begin / kPage; page * kPage < a.end; ++page) {
      if (filled[a.tile][page]) continue;
      filled[a.tile][page] = true;
      const uint64_t begin = page * kPage;
      std::fill_n(ocm[a.tile].get() + begin, std::min(kPage, b.ocm_bytes - begin), kUnwritten);
    }
  };
  for (const auto* program : {&b.init, &b.main, &b.finish})
    for (const isa::Instruction& i : *program)
      for (const isa::Access& a : isa::accesses(i))
        if (a.space == isa::Space::Ocm) fill(a);
}

}  // namespace

Memory::Memory(const isa::Binary& b, const target::Machine& machine)
    : weights_(b.weights), sums_(size_t{machine.accumulator_pixels} * 16) {
  auto segment = [&](uint64_t begin, uint64_t end) {
    segments_.push_back({begin, std::vector<std::byte>(end - begin, kUnwritten)});
  };
  segment(b.ddr_input_begin, b.ddr_input_end);
  segment(b.ddr_output_begin, b.ddr_output_end);
  segment(b.ddr_scratch_begin, b.ddr_scratch_end);
  for (unsigned t = 0; t < b.tiles; ++t)
    ocm_.push_back(std::make_unique_for_overwrite<std::byte[]>(b.ocm_bytes));
  fill_touched(b, ocm_);
  accumulators_.resize(b.tiles);
}

std::vector<float>& Memory::accumulators(uint8_t tile) {
  Accumulators& a = accumulators_[tile];
  a.written = true;
  a.sums.resize(sums_, kNoSum);
  return a.sums;
}

std::vector<int32_t>& Memory::integer_accumulators(uint8_t tile) {
  Accumulators& a = accumulators_[tile];
  a.written = true;
  a.integers.resize(sums_, -1);
  return a.integers;
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

#include "emitter.h"

#include <algorithm>
#include <bit>

#include "mrvlc/support/checked.h"

namespace mrvlc::accel {

void Emitter::append(isa::Instruction instruction) {
  auto before = static_cast<uint32_t>(instructions_.size());
  tracker_.append(std::move(instruction), instructions_);
  auto after = static_cast<uint32_t>(instructions_.size());
  if (!ranges_.empty() && ranges_.back().layer == owner_.layer && ranges_.back().expr == owner_.expr) {
    ranges_.back().end = after;
    return;
  }
  ranges_.push_back({InstructionRange::Section::Main, before, after, owner_.layer, owner_.expr});
}

void Emitter::load(uint8_t tiles, const Transfer& transfer, uint32_t address) {
  auto n = static_cast<uint32_t>(std::popcount(tiles));
  uint32_t skip = rotate_++ % n;
  uint32_t tile = 0;
  for (;; ++tile) {
    if ((tiles >> tile & 1) == 0) continue;
    if (skip == 0) break;
    --skip;
  }
  for (const isa::Dma& d : load_dmas(transfer, address, tiles)) emit(tile, isa::Queue::DmaIn, d);
}

void Emitter::store(uint32_t tile, const Transfer& transfer, uint32_t address) {
  for (const isa::Dma& d : store_dmas(transfer, address)) emit(tile, isa::Queue::DmaOut, d);
}

uint32_t Emitter::reserve(int64_t bytes) {
  if (ocm_next_ + bytes > machine_.ocm_bytes) ocm_next_ = 0;
  int64_t at = ocm_next_;
  ocm_next_ += aligned(bytes, machine_);
  ocm_peak_ = std::max(ocm_peak_, at + bytes);
  return static_cast<uint32_t>(at);
}

uint32_t InputSlot::fetch(Emitter& emitter, std::vector<std::vector<Transfer>> wanted) {
  if (wanted == held_) return current_;
  current_ = base_ + static_cast<uint32_t>(bytes_) * next_;
  next_ = (next_ + 1) % depth_;
  std::vector<bool> served(wanted.size(), false);
  for (size_t t = 0; t < wanted.size(); ++t) {
    if (served[t] || wanted[t].empty()) continue;
    uint8_t mask = 0;
    for (size_t u = t; u < wanted.size(); ++u) {
      if (served[u] || wanted[u] != wanted[t]) continue;
      served[u] = true;
      mask = static_cast<uint8_t>(mask | 1u << u);
    }
    for (const Transfer& x : wanted[t]) emitter.load(mask, x, current_);
  }
  held_ = std::move(wanted);
  return current_;
}

Span part_of(int64_t total, int64_t parts, int64_t index, int64_t align) {
  int64_t share = round_up(ceil_div(total, parts), align);
  return {std::min(total, index * share), std::min(total, (index + 1) * share)};
}

isa::Epilogue epilogue_at(const EpilogueSpec& spec, uint32_t table_address) {
  isa::Epilogue e;
  e.activation = spec.activation;
  e.alpha = spec.alpha;
  e.beta = spec.beta;
  if (spec.activation == isa::Activation::Table) e.table = table_address;
  return e;
}

Transfer table_transfer(const EpilogueSpec& spec) {
  Transfer t;
  t.ddr = spec.table;
  t.run = isa::kTableBytes;
  return t;
}

}  // namespace mrvlc::accel

// Strided transfers between DDR and on-chip memory, and the dense on-chip layout of a box of a stored tensor.
#pragma once
#include <span>

#include "mrvlc/isa/isa.h"
#include "mrvlc/target/machine.h"
#include "primitive/program.h"

namespace mrvlc::accel {

struct Level {
  int64_t count = 1, ddr_stride = 0, ocm_stride = 0;  // bytes
  bool operator==(const Level&) const = default;
};

// `levels` (outermost first) repetitions of a run of contiguous bytes; the on-chip address is relative to a
// slot.
struct Transfer {
  int64_t ddr = 0, ocm = 0;
  int64_t run = 0;
  std::vector<Level> levels;
  bool operator==(const Transfer&) const = default;
  int64_t bytes() const;
  // Bytes on the bus when every run is rounded up to bursts.
  int64_t burst_bytes(int64_t burst) const;
};

// How a box of a view lies in a slot: element i at origin + sum of i_k * strides[k] bytes.
struct Packed {
  Transfer transfer;
  Dims strides;
  int64_t origin = 0;
  int64_t bytes = 0;
};

// The box of `extents` whose first element stands at byte `ddr`. A load may fetch small gaps between elements
// along; a store may not.
Packed pack_box(int64_t ddr, std::span<const int64_t> strides, std::span<const int64_t> extents,
                int64_t element_bytes, bool load);

// Bytes of on-chip memory, rounded up to what addresses are multiples of.
inline int64_t aligned(int64_t bytes, const target::Machine& machine) {
  int64_t a = machine.ocm_alignment;
  return (bytes + a - 1) / a * a;
}

// The DMA instructions of a transfer; more than one when it has more levels than an instruction has
// dimensions.
std::vector<isa::Dma> load_dmas(const Transfer& transfer, uint32_t ocm, uint8_t tiles);
std::vector<isa::Dma> store_dmas(const Transfer& transfer, uint32_t ocm);

}  // namespace mrvlc::accel

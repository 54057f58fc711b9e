// Where stored tensors live: on chip, each tile holding the window of it that its work touches, or in DDR.
#pragma once
#include <vector>

#include "mrvlc/target/machine.h"
#include "plan/cut.h"

namespace mrvlc::accel {

struct Residence {
  bool on_chip = false;
  int64_t pitch = 1;         // bytes of a row of the buffer
  int64_t local = 1;         // bytes of a row of the windows
  std::vector<Rect> window;  // by tile: what it holds
  std::vector<Rect> need;    // by tile: what its work reads; the others send it what they make of it
  std::vector<Rect> made;    // by tile: what its work writes
  size_t last_write = 0;     // primitive
  // Several primitives write it, and what a tile makes lies apart from what others make: it goes to DDR in
  // one piece.
  bool collected = false;
  int64_t bytes = 0;             // of the largest window
  size_t first = 0, last = 0;    // primitives that touch it
  uint32_t shares = UINT32_MAX;  // takes over the memory of this buffer, which ends where this one begins
  uint32_t heir = UINT32_MAX;    // the buffer that takes over from this one
  std::vector<uint32_t> copies;  // buffers that are further windows of this one

  // Of byte `byte` of the buffer in the window of a tile.
  int64_t offset(uint32_t tile, int64_t byte) const {
    const Rect& w = window[tile];
    return (byte / pitch - w.row0) * local + (byte % pitch - w.byte0);
  }
  int64_t offset(uint32_t tile, const Rect& r) const {
    return (r.row0 - window[tile].row0) * local + (r.byte0 - window[tile].byte0);
  }
  // A stride of the buffer, in bytes, as it is in a window.
  int64_t stride(int64_t bytes_apart) const {
    return bytes_apart % pitch == 0 ? bytes_apart / pitch * local : bytes_apart;
  }
};

// `spilled[b]`: buffer b must live in DDR.
std::vector<Residence> choose_residency(const Program& program, const std::vector<Cut>& cuts,
                                        const target::Machine& machine, uint32_t tiles,
                                        const std::vector<bool>& spilled);

}  // namespace mrvlc::accel

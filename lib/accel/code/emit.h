// The placed tile program as instructions with waits.
#pragma once
#include "code/tile_program.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::accel {

inline constexpr uint32_t kNoPrimitive = UINT32_MAX;

// Instructions of init and main in the order of the steps, and what each of main belongs to.
struct Draft {
  std::vector<isa::Instruction> init, instructions;
  std::vector<Owner> init_owners, owners;
  std::vector<uint32_t> primitives;                 // kNoPrimitive: fetched ahead
  std::vector<std::pair<uint32_t, uint32_t>> uses;  // instruction, and an item that it works on
  std::vector<Item> items;
  int64_t ocm_peak = 0;
};
Draft draft(TileProgram&& program, uint64_t ddr_end);

struct Use {
  backend::MemoryUse use;        // without its name
  uint32_t buffer = UINT32_MAX;  // the stored tensor, if it is one
};

struct Stretch {
  uint32_t begin = UINT32_MAX, end = 0;
};
// Where the instructions of a primitive's steps lie in main: of all tiles, of those that make its part in
// one.
struct PrimitiveCode {
  Stretch all;
  std::array<Stretch, isa::kMaxTiles> by_tile;
};

struct Emitted {
  std::vector<isa::Instruction> init, instructions;  // of the sections init and main
  std::vector<backend::CodeRange> init_ranges, ranges;
  std::vector<Use> uses;  // by first instruction, then address
  int64_t ocm_peak = 0;
  std::vector<PrimitiveCode> primitives;
};
// `order`: of main's instructions (interleave.h); empty: as they are.
Emitted emit(Draft&& draft, const std::vector<uint32_t>& order);

// list[order[0]], list[order[1]], ...
template <class T>
std::vector<T> in_order(std::vector<T>&& list, const std::vector<uint32_t>& order) {
  std::vector<T> out;
  out.reserve(list.size());
  for (uint32_t i : order) out.push_back(std::move(list[i]));
  return out;
}

}  // namespace mrvlc::accel

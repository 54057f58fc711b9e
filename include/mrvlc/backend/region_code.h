// What a back end makes of a region: its files, how the host hands values over, and which piece of the
// program belongs to which ONNX operator.
#pragma once
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mrvlc/ir/graph.h"
#include "mrvlc/support/diag.h"

namespace mrvlc::backend {

// How the host hands a value of the region to the device: dimensions permuted. stored dim i is logical dim
// perm[i].
struct Port {
  ir::ValueId value;
  std::vector<int64_t> perm;            // identity: row-major as in ONNX
  ElementType type = ElementType::F16;  // or F32
};

inline std::vector<int64_t> row_major(size_t rank) {
  std::vector<int64_t> perm(rank);
  for (size_t d = 0; d < rank; ++d) perm[d] = static_cast<int64_t>(d);
  return perm;
}

// Parts of a program, which run one after the other: once when it is loaded, at each inference, behind it.
enum class Section : uint8_t { Init, Main, Finish };
inline constexpr std::array<std::string_view, 3> kSectionNames{"init", "main", "finish"};

// Instructions [begin, end) of a section, counted as the back end counts them, belong to a layer and one of
// its expressions.
struct CodeRange {
  Section section = Section::Main;
  uint32_t begin = 0, end = 0;
  uint32_t layer = 0;  // index into Region::layers
  ir::NodeId expr;
};

struct LayerReport {
  uint32_t layer = 0;
  std::string cut;   // "rows x 8", "channels x 4"
  int64_t macs = 0;  // ops::macs of its nodes, whatever of them is executed
  int64_t weight_bytes = 0;
  uint64_t bound_cycles = 0;  // least cycles of arithmetic on all tiles
};

// What holds a range of on-chip memory, and while which instructions of main: the memory map over time.
struct MemoryUse {
  enum class Kind : uint8_t { Activation, Weights, Workspace } kind = Kind::Activation;
  std::string name;              // of the ONNX value or node
  uint8_t tiles = 0;             // bit t: in tile t, the same range in each
  uint32_t begin = 0, end = 0;   // bytes
  uint32_t first = 0, last = 0;  // instruction indices in main, inclusive
  uint32_t layer = 0;            // index into Region::layers
};

// Tells a binary from every other one; a stub runs no other than its own.
using Identity = std::array<uint8_t, 32>;

// An activation that a region keeps in memory, and as what: every one of them is rounded to that.
struct StoredValue {
  ir::ValueId value;
  ElementType type = ElementType::F16;
};

// Where an activation lies once it has been made. Element (i0, i1, ...) is byte `offset` + the sum of
// i_k * strides[k] of its buffer, which has rows of `pitch` bytes. A piece holds bytes [byte0, byte1) of rows
// [row0, row1), rows `local` bytes apart from `address` on; between them nothing else is said. What
// instructions [begin, end) of main wrote there is part of the value when `end` is reached.
struct PlacedValue {
  struct Piece {
    uint32_t begin = 0, end = 0;
    uint32_t space = 0;  // 0: DDR, 1 + t: on-chip memory of tile t
    int64_t address = 0, row0 = 0, row1 = 0, byte0 = 0, byte1 = 0, local = 1;
  };
  ir::ValueId value;
  ElementType type = ElementType::F16;
  int64_t offset = 0, pitch = 1;
  std::vector<int64_t> strides;
  std::vector<Piece> pieces;
};

struct RegionCode {
  std::string bytes;  // NAME.region<i>.mrvl: what the device loads; empty: that is made of `files` elsewhere
  std::vector<std::pair<std::string, std::string>> files = {};  // NAME_region<i> with the ending: texts
  Identity identity{};
  // Where it is set, `bytes` and `identity` are made by it, and nothing of the graph is needed for them any
  // more: so that the weights of a large region are not there three times.
  std::function<void(RegionCode&)> encode = {};
  uint32_t accelerator = 0;           // whose it is: Backend::part()
  uint32_t tiles = 1;                 // units that it runs on
  std::vector<Port> inputs, outputs;  // in order of Region::inputs / outputs
  // As Backend::stored_values() says while the constants are there; who compiles the region asks.
  std::vector<StoredValue> stored = {};
  std::vector<PlacedValue> places = {};      // for `mrvlc prove`; values may be left out
  std::vector<CodeRange> instructions;       // cover every instruction of every section, in order
  std::array<uint32_t, 3> section_counts{};  // instructions of each
  std::vector<LayerReport> layers;
  int64_t macs = 0;  // of the layers
  int64_t weights_bytes = 0;
  uint64_t lower_bound_cycles = 0;  // facts of the machine only; 0: not known
  uint64_t estimated_cycles = 0;    // of main, by the model that chose the schedule; 0: not known
  // A tile: most bytes held at once by tensors, workspaces and weights; and how far up memory is used (what
  // is fetched lies at the top, so this says nothing of how much is needed).
  int64_t ocm_peak_bytes = 0, ocm_highest_address_bytes = 0;
  // Of tensors and workspaces alone, and the least that any placement of them needs.
  int64_t ocm_tensor_peak_bytes = 0, ocm_tensor_lower_bound_bytes = 0;
  std::vector<MemoryUse> memory_uses;  // by first instruction, then address
  std::vector<Diag> warnings;          // about numbers; they name the node
  std::vector<std::string> texts;      // of the stages that were asked for
};

}  // namespace mrvlc::backend

// What lowering produces and code generation reads: primitive operations on stored tensors. A stored tensor
// is a strided view of a buffer in DDR, so transposition, slicing and broadcasting cost nothing until
// somebody computes with them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mrvlc/ir/graph.h"
#include "mrvlc/isa/isa.h"

namespace mrvlc::accel {

using Dims = std::vector<int64_t>;

// A range of DDR. Weights is buffer 0, at offset 0; the others are placed by plan_memory (memory.h).
struct Buffer {
  enum class Kind : uint8_t { Weights, Input, Output, Scratch } kind = Kind::Scratch;
  int64_t bytes = 0;
  int64_t ddr = 0;    // byte offset in the model's address space
  int64_t pitch = 1;  // bytes of a row: of the innermost dimension as stored
  int64_t rows = 1;   // of `pitch` bytes, in use
  int64_t grain = 1;  // rows that belong together: pixels of an image row when channels are stored last
  ir::ValueId value;  // that it was made for; invalid: an intermediate of lowering
  // Of a stripe: the buffer whose rows from `first_row` on it holds.
  uint32_t part_of = UINT32_MAX;
  int64_t first_row = 0;
  // Another window of that buffer's bytes: who makes a part of it sends it here too (second_window.h).
  uint32_t copy_of = UINT32_MAX;
};
inline constexpr uint32_t kWeights = 0;

// Element (i0, i1, ...) at offset + sum of i_k * strides[k], counted in elements from the buffer's start.
struct View {
  uint32_t buffer = kWeights;
  isa::DataType type = isa::DataType::F16;
  int64_t offset = 0;
  Dims dims, strides;
  isa::Quantization quantization = {};  // of integers: what they stand for
  bool operator==(const View&) const = default;
};

// isa::Epilogue with the table still in DDR: its byte offset in the weights, or -1.
struct EpilogueSpec {
  isa::Activation activation = isa::Activation::None;
  float alpha = 0, beta = 0;
  int64_t table = -1;
  int64_t table_bytes() const { return isa::table_bytes(activation); }
};

struct Owner {
  uint32_t layer = 0;
  ir::NodeId expr;
};

// --- Vector unit: a chain of element-wise and reducing stages over one iteration space.

struct PeOperand {
  enum class Kind : uint8_t { None, External, Temp } kind = Kind::None;
  View view;  // External; dims are those of the group, strides 0 where repeated (or reduced, of a result)
  uint32_t temp = 0;  // Temp: index into PeGroup::temps
};

// A value that lives in on-chip memory between stages; it spans the dimensions of `spans`.
struct PeTemp {
  std::vector<bool> spans;
  isa::DataType type = isa::DataType::F32;  // no integers
};

struct PeStage {
  bool reduce = false;  // dimensions that dst does not span are reduced
  isa::EwOp op = isa::EwOp::Copy;
  isa::ReduceOp reduce_op = isa::ReduceOp::Sum;
  float alpha = 0, beta = 0;
  PeOperand dst, a, b;
  EpilogueSpec epilogue;
  ir::NodeId expr;
};

struct PeGroup {
  Owner owner;
  Dims dims;
  std::vector<PeTemp> temps;
  std::vector<PeStage> stages;
  // Where the result lies, for cutting it like its neighbours: index i of dimension d advances by steps[d]
  // rows of the result's buffer from row `origin` of `rows`. No rows: the iteration space itself is cut.
  // Filled by simplify.
  struct Result {
    Dims steps;
    int64_t origin = 0, rows = 0, grain = 1;
  };
  Result result = {};
};

// --- Sliding windows: convolution, depthwise convolution, pooling, matrix products (a 1x1 convolution over
// rows).

// Outputs of one residue class of a transposed convolution (an ordinary one has a single class): output row
// first_h + q * lattice_h reads input rows y0 + q * stride_h + r * dilation_h.
struct WindowPhase {
  int64_t first_h = 0, first_w = 0;
  int64_t y0 = 0, x0 = 0;
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t weights = 0;  // byte offset in the weights buffer
};

struct WindowOp {
  enum class Kind : uint8_t { Conv, Depthwise, Pool } kind = Kind::Conv;
  Owner owner;
  isa::PoolOp pool = isa::PoolOp::Max;
  float pool_alpha = 1;
  int64_t in_h = 1, in_w = 1, out_h = 1, out_w = 1;
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t lattice_h = 1, lattice_w = 1;
  int64_t grain = 1;  // rows that belong together (pixels of an image row) when height and width were joined
  std::vector<WindowPhase> phases;
  // Conv: `groups` groups of group_in -> group_out channels. Depthwise: group_in = 1, group_out the channel
  // multiplier. Pool: as depthwise with multiplier 1.
  int64_t groups = 1, group_in = 1, group_out = 1;
  // Images: element offsets of each in the three buffers; strides of (h, w), channels are contiguous.
  struct Image {
    uint32_t buffer = kWeights;
    int64_t stride_h = 0, stride_w = 0;
    std::vector<int64_t> offsets;             // one a batch entry
    isa::DataType type = isa::DataType::F16;  // of `out` also F32; x and out also integers
    isa::Quantization quantization = {};      // of integers: of `out`, and of x of a pool
    int64_t element_bytes() const { return isa::data_bytes(type); }
  };
  Image x, out, residual;
  bool has_residual = false;
  // Conv with computed weights (a product of two activations): element (k, n) at offsets[b] + k * stride_h +
  // n * stride_w.
  bool dynamic_weights = false;
  Image w;
  int64_t bias = -1;  // byte offset in the weights buffer, fp32; of integers int32
  // Products of integers, which always have a bias.
  struct Integers {
    isa::DataType w_type = isa::DataType::I8;
    int16_t x_zero = 0, w_zero = 0;
    int64_t scales = 0;  // byte offset in the weights buffer: fp32, one an output channel
  };
  std::optional<Integers> integers;
  EpilogueSpec epilogue;

  int64_t batch() const { return static_cast<int64_t>(x.offsets.size()); }
  int64_t weight_bytes() const { return integers ? 1 : 2; }   // an element
  int64_t lane_bytes() const { return 16 * weight_bytes(); }  // one element of 16 output channels
  // Bias, and of integers scales, of so many output channels.
  int64_t constant_bytes(int64_t channels) const { return bias < 0 ? 0 : channels * (integers ? 8 : 4); }
  int64_t in_channels() const { return groups * group_in; }
  int64_t out_channels() const { return groups * group_out; }
};

using Primitive = std::variant<PeGroup, WindowOp>;

inline const Owner& owner_of(const Primitive& p) {
  return std::visit([](const auto& v) -> const Owner& { return v.owner; }, p);
}

struct Program {
  Program() : buffers(1) { buffers[kWeights].kind = Buffer::Kind::Weights; }
  std::vector<Buffer> buffers;
  std::string weights;
  int64_t images = 1;                 // of the batch, where all inputs and outputs have as many
  std::vector<Primitive> primitives;  // in order of execution
};

}  // namespace mrvlc::accel

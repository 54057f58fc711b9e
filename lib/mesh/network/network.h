// What a mesh computes: layers on stored tensors, made of the graph behind the integer passes. A
// DequantizeLinear is no layer: who reads its result reads the integers. Element-wise operators and a
// QuantizeLinear behind are one layer.
#pragma once
#include "mrvlc/ir/graph.h"
#include "mrvlc/mesh/plan.h"

namespace mrvlc::mesh {

// One operation on numbers in float32; operands are results of earlier steps.
struct Step {
  enum class Op : uint8_t { Load, Dequantize, Constant, Add, Sub, Mul, Div, Min, Max, Relu, Neg };
  Op op = Op::Load;
  uint32_t a = 0, b = 0;       // steps; of Load and Dequantize `a` is the operand
  float scale = 1;             // Dequantize
  int32_t zero = 0;            // Dequantize
  std::vector<float> numbers;  // Constant: one, or one for each channel
};

// How numbers become integers of 8 bits: saturate(round to even(v / scale) + zero).
struct Rounding {
  float scale = 1;
  int32_t zero = 0, low = -128, high = 127;
};

struct ConvData {
  std::vector<int8_t> weights;  // [result channel][kernel row][kernel column][channel of the group]
  int32_t weight_zero = 0, input_zero = 0;
  std::vector<int32_t> bias;   // by result channel
  std::vector<float> factors;  // the same; empty: the sums are the result
  int64_t group_channels = 1;  // operand channels of a group
};

// Along x; along rows it is PlannedLayer::window.
struct Columns {
  int64_t kernel = 1, stride = 1, dilation = 1, pad = 0;
};

// Copies elements from an operand: loops from the outermost, strides in elements of the stored tensors.
struct Copy {
  struct Loop {
    int64_t count = 1, from = 0, to = 0;
  };
  std::vector<Loop> loops;
  int64_t from = 0, to = 0;
};

struct Layer {
  PlannedLayer planned;
  Columns columns;
  ConvData conv;
  bool is_max = false, count_pad = false;  // pools
  std::vector<Step> steps;  // Map: the last is the result; Pool, Softmax: how the operand is read
  std::optional<Rounding>
      rounding;                // none: the result is float32 (Conv: 32-bit sums; max pools: the elements)
  std::vector<uint8_t> table;  // Map: by the operand's byte, in place of the steps
  std::vector<Copy> copies;    // Move: by operand
  int64_t macs = 0;            // of the whole layer
};

struct NetworkOf {
  std::vector<Tensor3> tensors;
  std::vector<HostPort> inputs, outputs;
  std::vector<Layer> layers;
};

// MRV1303 at the node that a mesh cannot compute.
Result<NetworkOf> network_of(const ir::Graph& graph);

}  // namespace mrvlc::mesh

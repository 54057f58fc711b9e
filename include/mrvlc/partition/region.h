// What an accelerator computes. Layers are what the rules matched: one accelerator operation each. Regions
// are convex sets of layers, as large as correctness allows.
#pragma once
#include "mrvlc/ir/graph.h"
#include "mrvlc/ops/layer_kind.h"
#include "mrvlc/partition/precision.h"

namespace mrvlc::partition {

// What a name of a rule stands for in a layer.
struct LayerCapture {
  std::string name;        // as in the rule, without '%'; of a list once for each of its values
  ir::NodeId node = {};    // invalid: an operand, or an operator that is not there
  ir::ValueId value = {};  // the operand, or what the node makes; invalid: not given
};

// Kinds a rule can make (the `layer` word of rule files). Semantics are those of the anchor operator plus the
// epilogue chain.
//   conv            Conv with constant weights, any group (depthwise included), 1-D and 2-D
//   conv_transpose  ConvTranspose with constant weights
//   fc              Gemm or MatMul with a constant right operand
//   matmul          MatMul of two activations, or of one and a constant that is no matrix
//   qlinear_conv    QLinearConv with constant weights, scales and zero points, 1-D and 2-D
//   integer_conv    ConvInteger with constant weights and zero points, Cast to float and Mul by constants
//   dequantize      DequantizeLinear of one scale: integers as the numbers they stand for
//   pool            MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool
//   elementwise     one element-wise operator, unary or binary, broadcasting
//   reduce          ReduceMean/Sum/SumSquare/Prod/Max/Min
//   softmax         Softmax, LogSoftmax
//   norm            LayerNormalization, InstanceNormalization, BatchNormalization that could not be folded
//   resize          Resize, Upsample (nearest, linear)
//   concat, move    Concat; Split, Slice, Pad, Transpose, Expand, Tile, DepthToSpace, SpaceToDepth
//   reshape         Reshape, Flatten, Squeeze, Unsqueeze, Identity: same bytes when the layout allows
struct Layer {
  std::string rule;               // rule that matched
  LayerKind kind{};               // one of the above
  std::vector<ir::NodeId> nodes;  // topological order, anchor included
  ir::NodeId anchor;  // the operator that names the kind; nodes after it are its epilogue: a chain of
                      // element-wise operators, each reading the previous one's only output and constants or
                      // one other activation of the same shape (residual)
  uint32_t accelerator = 0;                 // that computes it: index into Accelerator::parts()
  std::vector<LayerCapture> captures = {};  // of the rule's match; none where it matched before the passes
};

struct Region {
  uint32_t id = 0;
  std::vector<Layer> layers;         // an execution order
  std::vector<ir::ValueId> inputs;   // activations from outside, in order of first use
  std::vector<ir::ValueId> outputs;  // activations used outside or graph outputs
  Precisions precisions;             // of its values, those that are not plain
  uint32_t accelerator = 0;          // as of its layers
};

}  // namespace mrvlc::partition

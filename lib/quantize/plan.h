// What of a network becomes integers.
#pragma once
#include "mrvlc/ir/graph.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::quantize {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

// A product with constant weights.
struct Layer {
  ir::NodeId node;
  ir::ValueId data;    // what it reads
  ir::ValueId result;  // behind an activation that belongs to it
};

struct Plan {
  std::vector<Layer> layers;  // in program order
  // Values that are stored as integers. Those of a group share scale and zero point, as nothing between them
  // changes a number.
  std::vector<std::vector<ir::ValueId>> groups;
  std::vector<uint32_t> group_of;  // by value; kNone

  static constexpr uint32_t kNone = UINT32_MAX;
  bool is_integer(ir::ValueId v) const { return v.valid() && group_of[v.index()] != kNone; }
};

// A convolution or matrix product of floats with constant weights that integers can have.
bool is_layer(const ir::Graph& graph, const ir::Node& node);
// `is_float`, by node index: those that stay as they are.
Plan make_plan(const ir::Graph& graph, const std::vector<bool>& is_float);

}  // namespace mrvlc::quantize

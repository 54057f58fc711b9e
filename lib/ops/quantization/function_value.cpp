// The value of a function of one operand, the others constant: what tables of 256 bytes are made of.
#include <cmath>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/quantized.h"

namespace mrvlc::ops {

float function_value(const ir::Graph& graph, const ir::Node& node, ir::ValueId operand, float x) {
  std::vector<double> operands;
  for (size_t i = 0; i < node.inputs.size() || (node.is(Op::Clip) && i < 3); ++i) {
    const ir::ValueId v = i < node.inputs.size() ? node.inputs[i] : ir::ValueId();
    if (v.valid()) {
      operands.push_back(v == operand ? double{x} : graph.constant(v)->as_double(0));
    } else {
      operands.push_back(i == 1 ? -INFINITY : INFINITY);  // bounds of a Clip
    }
  }
  return static_cast<float>(op_def(node).scalar->eval(operands.data(), *node.op, node.attrs));
}

}  // namespace mrvlc::ops

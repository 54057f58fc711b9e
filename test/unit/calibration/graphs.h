// Small graphs that tests of calibration look at.
#pragma once
#include "mrvlc/ir/graph.h"
#include "mrvlc/ops/op.h"

namespace mrvlc::calibration_test {

// y = op(x) ..., inputs "x" (float32) and "n" (uint8) of the given shape, a value for each operator: "v0",
// "v1", ...
inline ir::Graph chain(const std::vector<std::string>& operators, const Shape& shape) {
  ir::Graph graph;
  const TensorType type{ElementType::F32, shape};
  ir::ValueId value = graph.add_input("x", type);
  graph.add_input("n", {ElementType::U8, shape});
  for (size_t i = 0; i < operators.size(); ++i) {
    const ir::OpSchema& op = *ops::find_op("", operators[i]);
    const std::string name = "node" + std::to_string(i);
    const ir::SourceId source = graph.add_source({"main/" + std::to_string(i), name, operators[i], "", {}});
    const ir::NodeId node = graph.add_node(op, name, {value}, ir::default_attrs(op), {type},
                                           {"v" + std::to_string(i)}, {{source}, {}, "import", {}});
    value = graph.node(node).outputs[0];
  }
  graph.add_output(value);
  return graph;
}

inline Tensor floats(const Shape& shape, const std::vector<double>& values) {
  return Tensor::of<double>(ElementType::F32, shape, values);
}

}  // namespace mrvlc::calibration_test

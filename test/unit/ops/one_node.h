// A graph of one node, for tests of operators.
#pragma once
#include <catch2/catch.hpp>

#include "mrvlc/interp/interp.h"
#include "mrvlc/ops/op.h"

namespace mrvlc::test {

using E = ElementType;
using AttrList = std::vector<std::pair<std::string_view, ir::Attr>>;

inline Tensor f32(Shape shape, const std::vector<double>& values) {
  return Tensor::of(E::F32, std::move(shape), values);
}
inline Tensor i64(Shape shape, const std::vector<int64_t>& values) {
  return Tensor::of(E::I64, std::move(shape), values);
}
inline Tensor i32(Shape shape, const std::vector<int64_t>& values) {
  return Tensor::of(E::I32, std::move(shape), values);
}
inline Tensor booleans(Shape shape, const std::vector<int64_t>& values) {
  return Tensor::of(E::Bool, std::move(shape), values);
}

// Of whichever domain has it first.
inline const ops::OpDef& op_of(std::string_view name) {
  for (const ops::OpDef* op : ops::all_ops()) {
    if (op->name == name) return *op;
  }
  FAIL("no operator " << name);
  std::abort();
}

inline std::vector<ir::Attr> slots_of(const ir::OpSchema& op, const AttrList& attrs) {
  std::vector<ir::Attr> slots = ir::default_attrs(op);
  for (const auto& [name, value] : attrs) ir::set_attr(op, slots, name, value);
  return slots;
}

struct Operand {
  Tensor tensor;
  bool constant = false;  // known at compile time
};

// Types and slots of a node before it exists.
struct OneNode {
  ir::Graph graph;
  std::vector<Tensor> inputs;  // of the graph
  Status error;

  // An undefined tensor is an optional input not given.
  OneNode(std::string_view op_name, const std::vector<Operand>& operands, const AttrList& attrs = {},
          size_t outputs = 1) {
    const ops::OpDef& op = op_of(op_name);
    std::vector<ir::Attr> slots = slots_of(op, attrs);
    ops::InferContext context;
    context.op = &op;
    context.attrs = &slots;
    context.num_outputs = outputs;
    for (const Operand& o : operands) {
      bool given = o.tensor.elem() != E::Undefined;
      context.types.push_back(given ? &o.tensor.type() : nullptr);
      context.constants.push_back(given && o.constant ? &o.tensor : nullptr);
    }
    auto types = ops::infer_types(op, context);
    if (!types.ok()) {
      error = types.error();
      return;
    }
    build(op, operands, slots, *types);
  }

  const ir::Node& node() const { return graph.node(graph.topological_order()[0]); }

  // One a position of the node; nullptr: not given.
  std::vector<const Tensor*> operands() const {
    std::vector<const Tensor*> list;
    size_t next = 0;
    for (ir::ValueId v : node().inputs) {
      const Tensor* known = v.valid() ? graph.constant(v) : nullptr;
      list.push_back(v.valid() && known == nullptr ? &inputs[next++] : known);
    }
    return list;
  }

  Result<std::vector<Tensor>> run() const {
    if (!error.ok()) return error.error();
    return interp::run(graph, inputs);
  }

 private:
  void build(const ops::OpDef& op, const std::vector<Operand>& operands, const std::vector<ir::Attr>& slots,
             const std::vector<TensorType>& types) {
    ir::SourceId source = graph.add_source({"main/0", "n", std::string(op.name), "", {}});
    std::vector<ir::ValueId> ids;
    for (const Operand& o : operands) {
      std::string name = "x" + std::to_string(ids.size());
      if (o.tensor.elem() == E::Undefined) {
        ids.emplace_back();
      } else if (o.constant) {
        ids.push_back(graph.add_constant(name, o.tensor));
      } else {
        ids.push_back(graph.add_input(name, o.tensor.type()));
        inputs.push_back(o.tensor);
      }
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < types.size(); ++i) names.push_back("y" + std::to_string(i));
    ir::NodeId id = graph.add_node(op, "n", ids, slots, types, names, {{source}, {}, "import", {}});
    for (ir::ValueId out : graph.node(id).outputs) graph.add_output(out);
  }
};

// The only result of a node, which must be legal.
inline Tensor result_of(std::string_view op, const std::vector<Operand>& operands,
                        const AttrList& attrs = {}) {
  auto results = OneNode(op, operands, attrs).run();
  if (!results.ok()) FAIL(op << ": " << results.error().message);
  return results.value().at(0);
}

// Code of the error a node must be refused with.
inline DiagId refusal_of(std::string_view op, const std::vector<Operand>& operands,
                         const AttrList& attrs = {}) {
  auto results = OneNode(op, operands, attrs).run();
  if (results.ok()) FAIL(op << " was accepted");
  return results.error().code;
}

inline void check_close(const Tensor& actual, const std::vector<double>& expected, double tolerance = 1e-6) {
  REQUIRE(static_cast<size_t>(actual.elements()) == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    double value = actual.as_double(static_cast<int64_t>(i));
    if (std::isnan(expected[i])) {
      CHECK(std::isnan(value));
    } else if (std::isinf(expected[i])) {
      CHECK(value == expected[i]);
    } else {
      CHECK(value == Approx(expected[i]).margin(tolerance).epsilon(tolerance));
    }
  }
}

}  // namespace mrvlc::test

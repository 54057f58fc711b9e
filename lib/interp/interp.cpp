// Nodes in topological order, results checked against their types, memory freed after the last use.
#include "mrvlc/interp/interp.h"

#include <deque>

#include "mrvlc/interp/visit.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/ir.h"
#include "mrvlc/support/diag/sim.h"

namespace mrvlc::interp {
namespace {

// The bytes alive during a run: graph inputs and results until their last use; constants belong to the graph.
class Room {
 public:
  Room(const ir::Graph& graph, const std::vector<ir::NodeId>& order, int64_t max_bytes)
      : graph_(graph), max_bytes_(max_bytes), bytes_(graph.value_slots(), 0), uses_(graph.value_slots(), 0) {
    for (ir::ValueId id : graph.outputs()) ++uses_[id.index()];
    for (ir::NodeId node : order) {
      for (ir::ValueId input : graph_.node(node).inputs) {
        if (input.valid()) ++uses_[input.index()];
      }
    }
  }

  // For values of these types, asked for before they are there.
  Status reserve(const std::vector<ir::ValueId>& values) const {
    int64_t needed = live_bytes_;
    for (ir::ValueId id : values) {
      needed = checked_add(needed, graph_.value(id).type.bytes()).value_or(INT64_MAX);
    }
    if (needed > max_bytes_) return make_diag<DiagCode::MRV0008>(needed, max_bytes_);
    return {};
  }

  // False: nobody reads it.
  bool take(ir::ValueId id, int64_t bytes) {
    if (uses_[id.index()] == 0) return false;
    live_bytes_ += bytes;
    bytes_[id.index()] = bytes;
    return true;
  }

  // True: that was the last use.
  bool used(ir::ValueId id) {
    if (!id.valid() || graph_.is_constant(id) || --uses_[id.index()] != 0) return false;
    live_bytes_ -= bytes_[id.index()];
    return true;
  }

 private:
  const ir::Graph& graph_;
  int64_t max_bytes_, live_bytes_ = 0;
  std::vector<int64_t> bytes_;
  std::vector<uint32_t> uses_;
};

// The tensors themselves.
class Values {
 public:
  Values(const ir::Graph& graph, Room room)
      : graph_(graph), room_(std::move(room)), tensors_(graph.value_slots()) {}

  const Tensor* get(ir::ValueId id) const {
    if (!id.valid()) return nullptr;
    const Tensor* constant = graph_.constant(id);
    return constant != nullptr ? constant : &tensors_[id.index()];
  }

  Status reserve(const std::vector<ir::ValueId>& values) const { return room_.reserve(values); }

  void set(ir::ValueId id, Tensor tensor) {
    if (room_.take(id, tensor.type().bytes())) tensors_[id.index()] = std::move(tensor);
  }

  void used(ir::ValueId id) {
    if (room_.used(id)) tensors_[id.index()] = Tensor();
  }

 private:
  const ir::Graph& graph_;
  Room room_;
  std::vector<Tensor> tensors_;
};

ops::EvalContext eval_context(const ir::Node& node, const std::vector<const Tensor*>& inputs,
                              std::vector<Tensor>& out) {
  ops::EvalContext context;
  context.op = node.op;
  context.attrs = &node.attrs;
  context.inputs = inputs;
  context.outputs = &out;
  context.run = [](const ir::Graph& body, const std::vector<Tensor>& given) { return run(body, given); };
  return context;
}

Diag bad_type(const ir::Value& value, std::string_view given) {
  return make_diag<DiagCode::MRV0801>(fmt::format("value '{}' has type {}, its operator gives {}",
                                                  printable(value.name), to_string(value.type), given));
}

// Allocates the results with the types that inference finds for these very inputs; they must suit those of
// the graph. What depends on data alone is left to the operator.
Status allocate(const ir::Graph& graph, const ir::Node& node, const ops::EvalContext& context) {
  MRVLC_ASSIGN(auto types, ops::infer_types(ops::op_def(node), context.infer_view()));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ir::Value& value = graph.value(node.outputs[i]);
    if (i >= types.size()) return bad_type(value, "nothing");
    if (!types[i].is_static()) continue;
    if (!admits(value.type, types[i])) return bad_type(value, to_string(types[i]));
    (*context.outputs)[i] = Tensor(types[i]);
  }
  return {};
}

Status check_results(const ir::Graph& graph, const ir::Node& node, const std::vector<Tensor>& results) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ir::Value& value = graph.value(node.outputs[i]);
    if (!admits(value.type, results[i].type())) return bad_type(value, to_string(results[i].type()));
  }
  return {};
}

Status check_inputs(const ir::Graph& graph, const std::vector<Tensor>& inputs) {
  if (inputs.size() != graph.inputs().size()) {
    return make_diag<DiagCode::MRV0707>(inputs.size(), graph.inputs().size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Value& value = graph.value(graph.inputs()[i]);
    if (admits(value.type, inputs[i].type())) continue;
    return make_diag<DiagCode::MRV0004>(fmt::format("input '{}' is {}, the model takes {}",
                                                    printable(value.name), to_string(inputs[i].type()),
                                                    to_string(value.type)));
  }
  return {};
}

Status run_node(const ir::Graph& graph, const ir::Node& node, Values& values, const Visit& visit,
                bool visit_constants) {
  std::vector<const Tensor*> inputs;
  std::deque<Tensor> constants;
  for (ir::ValueId id : node.inputs) {
    inputs.push_back(values.get(id));
    if (!visit_constants || !id.valid() || !graph.is_constant(id)) continue;
    inputs.back() = &constants.emplace_back(*inputs.back());
    visit(id, constants.back());
  }
  MRVLC_TRY(values.reserve(node.outputs));
  MRVLC_ASSIGN(std::vector<Tensor> results, evaluate(graph, node, inputs));
  for (size_t i = 0; i < results.size(); ++i) {
    if (visit) visit(node.outputs[i], results[i]);
    values.set(node.outputs[i], std::move(results[i]));
  }
  for (ir::ValueId id : node.inputs) values.used(id);
  return {};
}

}  // namespace

Result<std::vector<Tensor>> evaluate(const ir::Graph& graph, const ir::Node& node,
                                     const std::vector<const Tensor*>& inputs, const RunBody& run_body) {
  std::vector<Tensor> results(node.outputs.size());
  ops::EvalContext context = eval_context(node, inputs, results);
  if (run_body) context.run = run_body;
  Status status = allocate(graph, node, context);
  if (status.ok()) status = ops::op_def(node).eval(context);
  if (status.ok()) status = check_results(graph, node, results);
  if (!status.ok()) return at_node(std::move(status).error(), node.name, node.op->name);
  return results;
}

Status check_memory(const ir::Graph& graph, const Options& options) {
  const std::vector<ir::NodeId> order = graph.topological_order();
  Room room(graph, order, options.max_bytes);
  const auto take = [&](const std::vector<ir::ValueId>& values) {
    for (ir::ValueId id : values) {
      const TensorType& type = graph.value(id).type;
      room.take(id, type.is_static() ? type.bytes() : 0);  // who knows how large it will be
    }
  };
  MRVLC_TRY(room.reserve(graph.inputs()));
  take(graph.inputs());
  for (ir::NodeId id : order) {
    const ir::Node& node = graph.node(id);
    Status status = room.reserve(node.outputs);
    if (!status.ok()) return at_node(std::move(status).error(), node.name, node.op->name);
    take(node.outputs);
    for (ir::ValueId input : node.inputs) room.used(input);
  }
  return {};
}

Result<std::vector<Tensor>> run(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                                const Options& options) {
  return run_visited(graph, inputs, nullptr, false, options);
}

Result<std::vector<Tensor>> run_visited(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                                        const Visit& visit, bool visit_constants, const Options& options) {
  MRVLC_TRY(check_inputs(graph, inputs));
  std::vector<ir::NodeId> order = graph.topological_order();
  Values values(graph, Room(graph, order, options.max_bytes));
  MRVLC_TRY(values.reserve(graph.inputs()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor input = inputs[i];
    if (visit) visit(graph.inputs()[i], input);
    values.set(graph.inputs()[i], std::move(input));
  }
  for (ir::NodeId id : order) {
    const ir::Node& node = graph.node(id);
    Status status = run_node(graph, node, values, visit, visit_constants);
    if (!status.ok()) return at_node(std::move(status).error(), node.name, node.op->name);
  }
  std::vector<Tensor> outputs;
  for (ir::ValueId id : graph.outputs()) outputs.push_back(*values.get(id));
  return outputs;
}

}  // namespace mrvlc::interp

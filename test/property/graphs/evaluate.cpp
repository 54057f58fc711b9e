// What operators make of data: the reference semantics for operators, and the loops of control flow as ONNX
// describes them (If-23, Loop-23, Scan-23), independent of the importer and of the interpreter's bodies.
#include <algorithm>
#include <cstring>

#include "model.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::graphs {
namespace {

// A slice of dimension 0, without it.
Tensor row(const Tensor& tensor, int64_t i) {
  Shape shape(tensor.shape().begin() + 1, tensor.shape().end());
  const auto size = static_cast<size_t>(element_count(shape) * byte_size(tensor.elem()));
  const auto* from = reinterpret_cast<const char*>(tensor.bytes().data()) + static_cast<size_t>(i) * size;
  return Tensor({tensor.elem(), shape}, std::string(from, size));
}

Tensor stack(const std::vector<Tensor>& rows) {
  TensorType type = rows.front().type();
  type.shape.insert(type.shape.begin(), static_cast<int64_t>(rows.size()));
  std::string bytes;
  for (const Tensor& t : rows)
    bytes.append(reinterpret_cast<const char*>(t.bytes().data()), t.bytes().size());
  return Tensor(type, std::move(bytes));
}

Tensor scalar(ElementType elem, int64_t value) {
  return Tensor::of<int64_t>(elem, {}, {value});
}

std::vector<Tensor> given(const std::vector<const Tensor*>& inputs, size_t from) {
  std::vector<Tensor> out;
  for (size_t i = from; i < inputs.size(); ++i) out.push_back(*inputs[i]);
  return out;
}

// Loop(trips, cond, carried...): body(iteration, cond, carried...) -> cond, carried..., scanned...
Result<std::vector<Tensor>> run_loop(const Node& node, const std::vector<const Tensor*>& inputs,
                                     const std::vector<Tensor>& outer) {
  std::vector<Tensor> carried = given(inputs, 2);
  const size_t scans = node.outputs.size() - carried.size();
  std::vector<std::vector<Tensor>> scanned(scans);
  Tensor go_on = inputs[1] != nullptr ? *inputs[1] : scalar(ElementType::Bool, 1);
  for (int64_t i = 0; i < inputs[0]->as_int(0) && go_on.as_int(0) != 0; ++i) {
    std::vector<Tensor> in = {scalar(ElementType::I64, i), go_on};
    in.insert(in.end(), carried.begin(), carried.end());
    MRVLC_ASSIGN(auto out, evaluate_body(*node.bodies[0].second, in, outer));
    go_on = out[0];
    for (size_t k = 0; k < carried.size(); ++k) carried[k] = out[1 + k];
    for (size_t k = 0; k < scans; ++k) scanned[k].push_back(out[1 + carried.size() + k]);
  }
  for (const auto& rows : scanned) {
    if (rows.empty()) return make_diag<DiagCode::MRV0007>("a loop without iterations");
    carried.push_back(stack(rows));
  }
  return carried;
}

// Scan over dimension 0 of its scanned inputs, forward.
Result<std::vector<Tensor>> run_scan(const Node& node, const std::vector<const Tensor*>& inputs,
                                     const std::vector<Tensor>& outer) {
  const auto count =
      std::get<int64_t>(node.attrs[static_cast<size_t>(node.op->attr_index("num_scan_inputs"))]);
  const size_t states = inputs.size() - static_cast<size_t>(count);
  std::vector<Tensor> state = given(inputs, 0);
  state.resize(states);
  std::vector<std::vector<Tensor>> scanned(node.outputs.size() - states);
  for (int64_t i = 0; i < inputs[states]->shape()[0]; ++i) {
    std::vector<Tensor> in = state;
    for (size_t k = states; k < inputs.size(); ++k) in.push_back(row(*inputs[k], i));
    MRVLC_ASSIGN(auto out, evaluate_body(*node.bodies[0].second, in, outer));
    for (size_t k = 0; k < states; ++k) state[k] = out[k];
    for (size_t k = 0; k < scanned.size(); ++k) scanned[k].push_back(out[states + k]);
  }
  for (const auto& rows : scanned) state.push_back(stack(rows));
  return state;
}

}  // namespace

Result<std::vector<Tensor>> evaluate_op(const ops::OpDef& op, const std::vector<ir::Attr>& attrs,
                                        const std::vector<const Tensor*>& inputs, size_t outputs) {
  std::vector<Tensor> out(outputs);
  ops::EvalContext context;
  context.op = &op;
  context.attrs = &attrs;
  context.inputs = inputs;
  context.outputs = &out;
  ops::InferContext infer = context.infer_view();
  infer.num_outputs = outputs;
  MRVLC_ASSIGN(auto types, ops::infer_types(op, infer));
  for (size_t i = 0; i < outputs && i < types.size(); ++i) {
    if (types[i].is_static()) out[i] = Tensor(types[i]);
  }
  MRVLC_TRY(op.eval(context));
  return out;
}

Result<std::vector<Tensor>> evaluate_control(const Node& node, const std::vector<const Tensor*>& inputs,
                                             const std::vector<Tensor>& outer) {
  if (node.op->name == "Loop") return run_loop(node, inputs, outer);
  if (node.op->name == "Scan") return run_scan(node, inputs, outer);
  const std::string_view branch = inputs[0]->as_int(0) != 0 ? "then_branch" : "else_branch";
  return evaluate_body(*node.bodies[node.bodies[0].first == branch ? 0 : 1].second, {}, outer);
}

Result<std::vector<Tensor>> evaluate_body(const Model& body, const std::vector<Tensor>& inputs,
                                          const std::vector<Tensor>& outer) {
  std::vector<Tensor> held;
  for (const Value& value : body.values)
    held.push_back(value.kind == Kind::Outer      ? outer[static_cast<size_t>(value.outer)]
                   : value.kind == Kind::Constant ? value.data
                                                  : Tensor());
  for (size_t i = 0; i < inputs.size(); ++i) held[static_cast<size_t>(body.inputs[i])] = inputs[i];
  for (const Node& node : body.nodes) {
    std::vector<const Tensor*> in;
    for (int v : node.inputs) in.push_back(v < 0 ? nullptr : &held[static_cast<size_t>(v)]);
    MRVLC_ASSIGN(auto out, node.bodies.empty() ? evaluate_op(*node.op, node.attrs, in, node.outputs.size())
                                               : evaluate_control(node, in, held));
    for (size_t i = 0; i < out.size(); ++i) held[static_cast<size_t>(node.outputs[i])] = std::move(out[i]);
  }
  std::vector<Tensor> out;
  for (int v : body.outputs) out.push_back(held[static_cast<size_t>(v)]);
  return out;
}

size_t data_sets(const Model& model) {
  size_t sets = 1;
  for (const Value& value : model.values) sets = std::max(sets, 1 + value.others.size());
  return sets;
}

void prune(Model& model) {
  std::vector<bool> needed(model.values.size(), false);
  for (int v : model.outputs) needed[static_cast<size_t>(v)] = true;
  std::vector<Node> kept;
  for (size_t n = model.nodes.size(); n-- > 0;) {
    Node& node = model.nodes[n];
    bool used = false;
    for (int v : node.outputs) used = used || needed[static_cast<size_t>(v)];
    if (!used) continue;
    for (int v : node.inputs)
      if (v >= 0) needed[static_cast<size_t>(v)] = true;
    for (const auto& [name, body] : node.bodies) {
      for (const Value& value : body->values)
        if (value.kind == Kind::Outer) needed[static_cast<size_t>(value.outer)] = true;
    }
    kept.insert(kept.begin(), std::move(node));
  }
  model.nodes = std::move(kept);
  std::erase_if(model.inputs, [&](int v) { return !needed[static_cast<size_t>(v)]; });
  // Values keep their numbers; what nothing reads is not written.
  for (size_t v = 0; v < needed.size(); ++v) {
    Value& value = model.values[v];
    if (!needed[v] && value.kind == Kind::Constant) value.kind = Kind::Result;
  }
}

}  // namespace mrvlc::graphs

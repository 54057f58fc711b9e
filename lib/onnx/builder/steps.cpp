// Nodes that an operator's `upgrade` wants around the operator itself: they are part of the same ONNX node.
#include "builder/builder.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::onnx {

// Puts a Reshape in front of input `at`; it is part of the same ONNX node.
Status Builder::reshape_input(const Site& site, size_t at, const Shape& shape, Pending& pending) {
  if (at >= pending.inputs.size() || !pending.inputs[at].valid())
    return make_diag<DiagCode::MRV0007>("an operator's upgrade reshapes a missing input");
  const std::string prefix = fmt::format("{}.reshape{}", graph_->sources()[site.source.index()].id, at);
  const TensorType& from = graph_->value(pending.inputs[at]).type;
  if (element_count(from.shape) != element_count(shape))
    return make_diag<DiagCode::MRV0007>("an operator's upgrade reshapes to another size");
  TensorType type{from.elem, shape};
  ir::ValueId target =
      graph_->add_constant(unique_name(prefix + ".shape"),
                           Tensor::of(ElementType::I64, {static_cast<int64_t>(shape.size())}, shape));
  const ir::OpSchema& reshape = ops::op_def(Op::Reshape);
  std::vector<ir::Attr> slots = ir::default_attrs(reshape);
  ir::set_attr(reshape, slots, "allowzero", int64_t{1});  // a dimension of 0 is one
  ir::NodeId id = graph_->add_node(reshape, site.node.name(), {pending.inputs[at], target}, std::move(slots),
                                   {std::move(type)}, {unique_name(prefix)}, lineage(site));
  pending.inputs[at] = graph_->node(id).outputs[0];
  learn(id);
  return {};
}

// A node whose results are inferred, between those that the model names.
Result<ir::ValueId> Builder::add_step(const Site& site, const ops::OpDef& op, std::vector<ir::ValueId> inputs,
                                      std::vector<ir::Attr> slots, std::string_view suffix) {
  Pending step;
  step.inputs = std::move(inputs);
  step.slots = std::move(slots);
  MRVLC_TRY(infer_inputs(op, step));
  const std::string& prefix = graph_->sources()[site.source.index()].id;
  ir::NodeId id = graph_->add_node(op, site.node.name(), std::move(step.inputs), std::move(step.slots),
                                   std::move(step.types), {unique_name(fmt::format("{}.{}", prefix, suffix))},
                                   lineage(site));
  learn(id);
  return graph_->node(id).outputs[0];
}

// Input 0 as a matrix whose rows are the dimensions from `axis` on.
Status Builder::flatten_input(const Site& site, int64_t axis, Pending& pending) {
  if (pending.inputs.empty() || !pending.inputs[0].valid()) {
    pending.raw.rows_from.reset();  // inference says what is missing
    return {};
  }
  const ops::OpDef& flatten = ops::op_def(Op::Flatten);
  std::vector<ir::Attr> slots = ir::default_attrs(flatten);
  ir::set_attr(flatten, slots, "axis", axis);
  pending.whole = pending.inputs[0];
  MRVLC_ASSIGN(pending.inputs[0], add_step(site, flatten, {pending.whole}, std::move(slots), "rows"));
  return {};
}

// The operator on the matrix, and its result in the shape that the input had.
Status Builder::restore_shape(const Site& site, const ops::OpDef& op, Pending& pending) {
  const TensorType type = graph_->value(pending.whole).type;
  MRVLC_ASSIGN(ir::ValueId rows, add_step(site, op, pending.inputs, pending.slots, "result"));
  const std::string& prefix = graph_->sources()[site.source.index()].id;
  ir::ValueId shape;
  if (type.is_static()) {
    shape = graph_->add_constant(unique_name(prefix + ".shape"),
                                 Tensor::of(ElementType::I64, {type.rank()}, type.shape));
  } else {
    const ops::OpDef& shape_of = ops::op_def(Op::Shape);
    MRVLC_ASSIGN(shape, add_step(site, shape_of, {pending.whole}, ir::default_attrs(shape_of), "shape"));
  }
  const ops::OpDef& reshape = ops::op_def(Op::Reshape);
  Pending last;
  last.inputs = {rows, shape};
  last.slots = ir::default_attrs(reshape);
  ir::set_attr(reshape, last.slots, "allowzero", int64_t{1});  // a dimension of 0 is one
  last.types = {type};
  insert(site, reshape, std::move(last));
  return {};
}

}  // namespace mrvlc::onnx

// Whether a node has shapes known at run time only; bytes of strings and sequences in memory.
#include "mrvlc/ops/dynamic_shapes.h"

#include <algorithm>

#include "mrvlc/ops/op.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {

bool has_data_dependent_shape(const ir::OpSchema& op) {
  return static_cast<const OpDef&>(op).traits.data_dependent_shape;
}

bool has_dynamic_shapes(const ir::Graph& graph, const ir::Node& node) {
  auto dynamic = [&](ir::ValueId v) { return v.valid() && !graph.value(v).type.is_static(); };
  if (std::any_of(node.inputs.begin(), node.inputs.end(), dynamic)) return true;
  if (std::any_of(node.outputs.begin(), node.outputs.end(), dynamic)) return true;
  const OpDef& def = op_def(node);
  if (def.emit_dynamic == nullptr && def.infer_dynamic == nullptr) return false;
  // Inference need not be asked where values never decide about shapes, or those that may are constants.
  if (def.scalar != nullptr || !def.emit_kernel.empty()) return false;
  auto may_decide = [&](size_t i) {
    const ir::ValueId v = node.inputs[i];
    if (!v.valid() || graph.is_constant(v)) return false;
    return i > 0 || !is_float(graph.value(v).type.elem) || has_data_dependent_shape(def);
  };
  bool asked = node.inputs.empty();
  for (size_t i = 0; i < node.inputs.size() && !asked; ++i) asked = may_decide(i);
  if (!asked) return false;
  auto types = def.infer(infer_context(graph, node));
  if (!types.ok()) return types.error().code == DiagCode::MRV0207;
  return !std::all_of(types->begin(), types->end(), [](const TensorType& type) { return type.is_static(); });
}

int64_t slot_bytes(const TensorType& sequence) {
  constexpr int64_t kAlign = 64;
  return (memory_bytes(item_type(sequence)) + kAlign - 1) / kAlign * kAlign;
}

int64_t memory_bytes(const TensorType& type) {
  // An address and a size; seven dimensions and the rank, of eight bytes each.
  constexpr int64_t kString = 16, kDims = 64;
  if (holds_sequence(type)) return type.length * (kDims + slot_bytes(type));
  return type.elem == ElementType::String ? type.elements() * kString : type.bytes();
}

TensorType with_dim(TensorType type, int64_t axis, int64_t dim, bool dynamic) {
  type.shape.insert(type.shape.begin() + axis, dim);
  const uint32_t low = type.dynamic & ((1u << axis) - 1);
  type.dynamic = low | (type.dynamic >> axis << (axis + 1)) | (dynamic ? 1u << axis : 0u);
  return type;
}

TensorType without_dim(TensorType type, int64_t axis) {
  type.shape.erase(type.shape.begin() + axis);
  const uint32_t low = type.dynamic & ((1u << axis) - 1);
  type.dynamic = low | (type.dynamic >> (axis + 1) << axis);
  return type;
}

bool is_optional(const TensorType& type) {
  return type.wrapper == Wrapper::Optional || type.wrapper == Wrapper::OptionalSequence;
}

bool holds_sequence(const TensorType& type) {
  return type.wrapper == Wrapper::Sequence || type.wrapper == Wrapper::OptionalSequence;
}

TensorType item_type(TensorType sequence) {
  sequence.wrapper = Wrapper::None;
  sequence.length = 0;
  return sequence;
}

TensorType sequence_type(TensorType item, int64_t length) {
  item.wrapper = Wrapper::Sequence;
  item.length = length;
  return item;
}

}  // namespace mrvlc::ops

// Type inference of one node with the checks every operator shares, and of a whole graph.
#include "common/dynamic_util.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/ir.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

Status check_arity(const OpDef& op, const InferContext& c) {
  auto given = static_cast<int64_t>(c.num_inputs());
  if (given < op.min_inputs || (op.max_inputs >= 0 && given > op.max_inputs)) {
    std::string range = op.max_inputs < 0 ? fmt::format("at least {}", op.min_inputs)
                        : op.min_inputs == op.max_inputs
                            ? fmt::format("{}", op.min_inputs)
                            : fmt::format("{} to {}", op.min_inputs, op.max_inputs);
    return make_diag<DiagCode::MRV0201>(range, given);
  }
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    bool required = i < static_cast<size_t>(op.min_inputs) || op.max_inputs < 0;
    if (required && !c.has(i)) return make_diag<DiagCode::MRV0208>(fmt::format("input {} is required", i));
  }
  auto outputs = static_cast<int64_t>(c.num_outputs);
  if (outputs < op.min_outputs || (op.max_outputs >= 0 && outputs > op.max_outputs)) {
    return make_diag<DiagCode::MRV0208>(fmt::format("{} outputs are asked for, {} gives {} to {}", outputs,
                                                    op.name, op.min_outputs, op.max_outputs));
  }
  return {};
}

Status check_attrs(const OpDef& op, const InferContext& c) {
  if (c.attrs == nullptr || c.attrs->size() != op.attrs.size()) {
    return make_diag<DiagCode::MRV0007>(std::string("attribute slots do not fit the operator"));
  }
  for (size_t i = 0; i < op.attrs.size(); ++i) {
    const ir::AttrSpec& spec = op.attrs[i];
    const ir::Attr& value = (*c.attrs)[i];
    if (!ir::is_set(value)) {
      if (spec.required || ir::is_set(spec.default_value))
        return make_diag<DiagCode::MRV0204>(spec.name, "is required");
    } else if (ir::kind_of(value) != spec.kind) {
      return make_diag<DiagCode::MRV0204>(spec.name, "is of the wrong kind");
    }
  }
  return {};
}

Status check_ranks(const OpDef& op, const InferContext& c) {
  if (c.has(0) && op.types.bits != 0 && !op.types.has(c.type(0).elem)) {
    return make_diag<DiagCode::MRV0202>(0, name(c.type(0).elem), op.name);
  }
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    if (c.has(i) && c.type(i).rank() > kMaxRank) {
      return make_diag<DiagCode::MRV0203>(i, c.type(i).rank(), fmt::format("at most {}", kMaxRank));
    }
  }
  return {};
}

Status check_output(const TensorType& type) {
  if (type.rank() > kMaxRank) {
    return make_diag<DiagCode::MRV0208>(
        fmt::format("the result has rank {}; at most {} is supported", type.rank(), kMaxRank));
  }
  for (int64_t d = 0; d < type.rank(); ++d) {
    int64_t dim = type.shape[static_cast<size_t>(d)];
    bool no_bound = type.is_dynamic(d) && dim == kNoBound;
    if (dim < 0 && !no_bound)
      return make_diag<DiagCode::MRV0208>(fmt::format("the result would have dimension {}", dim));
  }
  return check_size(type);
}

bool all_static(const InferContext& context) {
  for (const TensorType* type : context.types) {
    if (type != nullptr && !type->is_static()) return false;
  }
  return true;
}

Result<std::vector<TensorType>> infer_any(const OpDef& op, const InferContext& context) {
  if (!all_static(context))
    return op.infer_dynamic != nullptr ? op.infer_dynamic(context) : infer_by_samples(op, context);
  auto types = op.infer(context);
  bool unknown = !types.ok() && types.error().code == DiagCode::MRV0207;
  return unknown && op.infer_dynamic != nullptr ? op.infer_dynamic(context) : types;
}

// Is there a type of which both could be the type of a value? A value may be known better than inference
// knows, from the model's declaration, or worse, where a pass made an operand constant.
bool agree(const TensorType& value, const TensorType& inferred) {
  if (value.elem != inferred.elem || value.wrapper != inferred.wrapper) return false;
  // A tensor out of a sequence of tensors that differ in rank: the model says which rank it expects.
  if (!inferred.has_rank() && inferred.wrapper == Wrapper::None) return true;
  if (value.rank() != inferred.rank()) return false;
  for (int64_t d = 0; d < value.rank(); ++d) {
    int64_t x = value.shape[static_cast<size_t>(d)], y = inferred.shape[static_cast<size_t>(d)];
    if (value.is_dynamic(d) && inferred.is_dynamic(d)) continue;
    bool fits = value.is_dynamic(d)      ? x == kNoBound || y <= x
                : inferred.is_dynamic(d) ? y == kNoBound || x <= y
                                         : x == y;
    if (!fits) return false;
  }
  return true;
}

// A mismatch between a value and what inference says of it.
Status compare_types(const ir::Graph& graph, const ir::Node& node, const std::vector<TensorType>& inferred) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ir::Value& value = graph.value(node.outputs[i]);
    if (i < inferred.size() && agree(value.type, inferred[i])) continue;
    std::string expected = i < inferred.size() ? to_string(inferred[i]) : std::string("nothing");
    Diag diag =
        make_diag<DiagCode::MRV0801>(fmt::format("value '{}' has type {}, inference gives {}",
                                                 printable(value.name), to_string(value.type), expected));
    return at_node(std::move(diag), node.name, node.op->name);
  }
  return {};
}

}  // namespace

Result<std::vector<TensorType>> infer_types(const OpDef& op, const InferContext& context) {
  MRVLC_TRY(check_arity(op, context));
  MRVLC_TRY(check_attrs(op, context));
  MRVLC_TRY(check_ranks(op, context));
  MRVLC_ASSIGN(std::vector<TensorType> types, infer_any(op, context));
  for (const TensorType& type : types) MRVLC_TRY(check_output(type));
  return types;
}

InferContext infer_context(const ir::Graph& graph, const ir::Node& node) {
  InferContext context;
  context.op = node.op;
  context.attrs = &node.attrs;
  context.num_outputs = node.outputs.size();
  for (ir::ValueId id : node.inputs) {
    context.types.push_back(id.valid() ? &graph.value(id).type : nullptr);
    context.constants.push_back(graph.constant(id));
  }
  return context;
}

Status verify_types(const ir::Graph& graph) {
  for (ir::NodeId id : graph.topological_order()) {
    const ir::Node& node = graph.node(id);
    auto types = infer_types(op_def(node), infer_context(graph, node));
    if (types.ok()) {
      MRVLC_TRY(compare_types(graph, node, *types));
    } else if (types.error().code != DiagCode::MRV0207) {
      return at_node(std::move(types).error(), node.name, node.op->name);
    }
  }
  return {};
}

Result<std::vector<TensorType>> infer_types_sampled(const OpDef& op, const InferContext& context,
                                                    const std::vector<const SampledValue*>& sampled) {
  MRVLC_TRY(check_arity(op, context));
  MRVLC_TRY(check_attrs(op, context));
  MRVLC_TRY(check_ranks(op, context));
  MRVLC_ASSIGN(std::vector<TensorType> types, infer_by_samples(op, context, sampled));
  for (const TensorType& type : types) MRVLC_TRY(check_output(type));
  return types;
}

}  // namespace mrvlc::ops

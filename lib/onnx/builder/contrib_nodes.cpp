// Operators of ONNX Runtime: the nodes of a decomposition inlined as a function's.
#include "builder/builder.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {

// nullptr: the operator table has the node, or nobody has.
const ContribOp* Builder::contrib_op(const Site& site) const {
  const std::string_view domain = canonical_domain(site.node.domain());
  auto opset = site.scope.opsets->find(domain);
  if (opset == site.scope.opsets->end()) return nullptr;
  const ops::OpDef* op = ops::find_op(domain, site.node.op_type());
  if (op != nullptr && opset->second >= op->since_min) return nullptr;
  return find_contrib(domain, site.node.op_type());
}

// The types of the operands, which `inner` binds to the names that the decomposition uses; false when one is
// poison.
bool Builder::read_contrib_operands(const Site& site, Scope& inner, std::vector<const TensorType*>& types,
                                    std::vector<const Tensor*>& values, std::vector<std::string>& names) {
  std::vector<ir::ValueId> inputs;
  if (!gather_inputs(site, inputs)) return false;
  for (size_t k = 0; k < inputs.size(); ++k) names.push_back(fmt::format("in{}", k));
  for (size_t k = 0; k < inputs.size(); ++k) {
    types.push_back(inputs[k].valid() ? &graph_->value(inputs[k]).type : nullptr);
    values.push_back(inputs[k].valid() ? known(inputs[k]) : nullptr);
    if (inputs[k].valid()) inner.values.emplace(names[k], Binding{Binding::State::Value, inputs[k]});
  }
  return true;
}

// Checks what every decomposition expects, and has it written.
Status Builder::write_contrib(const Site& site, const ContribOp& op, Decomposition& decomposition) {
  auto count_text = [&] {
    return op.max_inputs == kAnyInputs      ? fmt::format("{} or more", op.min_inputs)
           : op.min_inputs == op.max_inputs ? fmt::format("{}", op.min_inputs)
                                            : fmt::format("{} to {}", op.min_inputs, op.max_inputs);
  };
  if (decomposition.inputs() < op.min_inputs || decomposition.inputs() > op.max_inputs)
    return make_diag<DiagCode::MRV0201>(count_text(), decomposition.inputs());
  for (size_t k = 0; k < decomposition.inputs(); ++k) {
    if (decomposition.has(k) && decomposition.type(k).wrapper != Wrapper::None)
      return make_diag<DiagCode::MRV0208>(fmt::format("input {} is no tensor", k));
  }
  MRVLC_TRY(op.expand(decomposition));
  if (const auto* unread = decomposition.unread())
    return make_diag<DiagCode::MRV0140>(printable(unread->name()), "is not supported");
  for (int k = 0; k < site.node.output_size(); ++k) {
    if (decomposition.wants(k) && decomposition.results()[static_cast<size_t>(k)].empty())
      return make_diag<DiagCode::MRV0208>(fmt::format("output {} is not supported", k));
  }
  return {};
}

void Builder::inline_contrib(const Site& site, const ContribOp& op) {
  static const Opsets kOpsets = {{"", kContribOpset}};
  Scope inner;
  std::vector<const TensorType*> types;
  std::vector<const Tensor*> values;
  std::vector<std::string> names;
  if (!enter(site, inner)) return;
  // The names are those of keys: they are not to move.
  names.reserve(static_cast<size_t>(site.node.input_size()));
  if (!read_contrib_operands(site, inner, types, values, names)) return;
  Decomposition decomposition(site.node, types, std::move(values),
                              [&](std::string_view name) { return find_attribute(site, name); });
  Status written = write_contrib(site, op, decomposition);
  if (!written.ok()) return report(site, std::move(written).error());
  for (const Diag& remark : decomposition.remarks()) report(site, remark);
  inner.id = fmt::format("{}:{}", graph_->sources()[site.source.index()].id, op.name);
  inner.opsets = &kOpsets;
  inner.stands_for = site.source;
  std::vector<std::string_view> formals(decomposition.results().begin(), decomposition.results().end());
  for (int k = 0; k < site.node.output_size(); ++k) {
    if (decomposition.wants(k))
      inner.result_names.try_emplace(formals[static_cast<size_t>(k)],
                                     ir_name(site.scope, site.node.output(k)));
  }
  add_nodes(inner, decomposition.nodes());
  bind_results(site, inner, formals);
}

}  // namespace mrvlc::onnx

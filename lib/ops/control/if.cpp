// If (ONNX If-16).
#include "control/body.h"
#include "mrvlc/ops/control_flow.h"

namespace mrvlc::ops {

using namespace spec;

namespace {

// A branch that is not there cannot run with the shapes of the model, see MRV0146.
Body branch_of(const InferContext& context, std::string_view attr) {
  const ir::Attr& value = context.attr(attr);
  return ir::is_set(value) ? std::get<Body>(value) : nullptr;
}

Result<std::vector<TensorType>> infer_if(const InferContext& context) {
  MRVLC_TRY(check_elem(context, 0, types_of({E::Bool})));
  if (context.type(0).elements() != 1) return bad_operands("the condition must be one truth value");
  Body then_body = branch_of(context, "then_branch"), else_body = branch_of(context, "else_branch");
  if (then_body == nullptr && else_body == nullptr) return bad_attr("then_branch", "is required");
  if (then_body == nullptr || else_body == nullptr) return result_types(then_body ? *then_body : *else_body);
  auto types = result_types(*then_body), others = result_types(*else_body);
  if (types.size() != others.size()) return bad_operands("the branches have different numbers of outputs");
  for (size_t i = 0; i < types.size(); ++i) {
    auto joined = join_types(types[i], others[i]);
    if (!joined) {
      return bad_operands(fmt::format("output {} is {} in one branch and {} in the other", i,
                                      to_string(types[i]), to_string(others[i])));
    }
    types[i] = *joined;
  }
  return types;
}

Status eval_if(const EvalContext& context) {
  InferContext view = context.infer_view();
  Body then_body = branch_of(view, "then_branch"), else_body = branch_of(view, "else_branch");
  const bool taken = context.in(0).as_int(0) != 0;
  const Body& body = taken ? then_body : else_body;
  if (body == nullptr) return bad_operands("the branch that is taken cannot run with these shapes");
  const size_t first = 1 + (taken || then_body == nullptr ? 0 : then_body->inputs().size());
  MRVLC_ASSIGN(auto results, context.run(*body, inputs_from(context, first, body->inputs().size())));
  for (size_t i = 0; i < context.outputs->size(); ++i) context.out(i) = std::move(results[i]);
  return {};
}

}  // namespace

const OpDef& def_If() {
  static const OpDef def = [] {
    OpDef d = control_flow_def("If");
    d.attrs = {optional("then_branch", ir::AttrKind::Graph), optional("else_branch", ir::AttrKind::Graph)};
    d.infer = d.infer_dynamic = infer_if;
    d.eval = eval_if;
    d.traits = {.data_dependent_shape = true};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops

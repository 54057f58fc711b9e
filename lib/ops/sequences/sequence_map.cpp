// SequenceMap (ONNX SequenceMap-17).
#include "control/body.h"
#include "sequences/sequence.h"

namespace mrvlc::ops {

using namespace spec;

namespace {

Body map_body(const InferContext& context) {
  const ir::Attr& value = context.attr("body");
  return ir::is_set(value) ? std::get<Body>(value) : nullptr;
}

Result<std::vector<TensorType>> infer_map(const InferContext& context) {
  auto body = map_body(context);
  if (body == nullptr || body->inputs().size() != context.num_inputs())
    return bad_attr("body", "does not take the inputs of the node");
  MRVLC_TRY(check_sequence(context, 0));
  std::vector<TensorType> types;
  for (ir::ValueId v : body->outputs()) {
    if (body->value(v).type.wrapper != Wrapper::None) return bad_attr("body", "must give back tensors");
    types.push_back(sequence_type(body->value(v).type, context.type(0).length));
  }
  return types;
}

Status eval_map(const EvalContext& context) {
  InferContext view = context.infer_view();
  auto body = map_body(view);
  const auto formals = static_cast<size_t>(view.int_attr("formals"));
  std::vector<std::vector<Tensor>> results(context.outputs->size());
  for (size_t i = 0; i < context.in(0).items().size(); ++i) {
    std::vector<Tensor> inputs;
    for (size_t k = 0; k < context.inputs.size(); ++k) {
      const bool each = k < formals && is_sequence(context.in(k).type());
      if (each && i >= context.in(k).items().size()) return bad_operands("the sequences differ in length");
      inputs.push_back(each ? context.in(k).items()[i] : context.in(k));
    }
    MRVLC_ASSIGN(auto values, context.run(*body, inputs));
    for (size_t k = 0; k < results.size(); ++k) results[k].push_back(std::move(values[k]));
  }
  for (size_t k = 0; k < results.size(); ++k) {
    const ElementType elem = body->value(body->outputs()[k]).type.elem;
    context.out(k) = make_sequence(elem, std::move(results[k]));
  }
  return {};
}

}  // namespace

const OpDef& def_SequenceMap() {
  static const OpDef def = [] {
    OpDef d = sequence_def("SequenceMap", 17, 1, -1, infer_map, eval_map, nullptr);
    d.attrs = {optional("body", ir::AttrKind::Graph), with_int("formals", 0)};
    d.max_outputs = -1;
    d.declined = "accelerator: no jumps; the C of bodies is made by the host code generator";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops

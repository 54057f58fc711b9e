// Identity.
#include "common/dynamic_util.h"
#include "sequences/sequence.h"

namespace mrvlc::ops {
namespace {

Result<std::vector<TensorType>> infer_identity(const InferContext& c) {
  return std::vector<TensorType>{c.type(0)};
}

Status eval_identity(const EvalContext& c) {
  c.out() = c.in(0);
  return {};
}

Status emit_identity(EmitContext& c) {
  if (c.in_type(0).wrapper != Wrapper::None) return emit_wrapped_copy(c);
  c.set_dims(0, in_dims(c, 0));
  emit_same_elements(c);
  return {};
}

}  // namespace

const OpDef& def_Identity() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "Identity";
    d.traits = {.moves = Moves::Same, .work = Work::Linear, .passes_size_on = true};
    d.infer = d.infer_dynamic = infer_identity;
    d.eval = eval_identity;
    d.emit = d.emit_dynamic = emit_identity;
    d.accel = {LayerKind::Reshape};
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops

// Identity, and Dropout as inference sees it.
#include "infer_util.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

Result<std::vector<TensorType>> infer_identity(const InferContext& c) {
  return std::vector<TensorType>{c.type(0)};
}

Status eval_identity(const EvalContext& c) {
  c.out() = c.in(0);
  return {};
}

void emit_copy(EmitContext& c) {
  int64_t bytes = c.out_type(0).bytes();
  if (bytes != 0) c.line(fmt::format("memcpy({}, {}, {});", c.out(0), c.in(0), bytes));
}

Status emit_identity(EmitContext& c) {
  if (c.out_type(0).elem == ElementType::String) return bad_operands("strings have no C emission");
  emit_copy(c);
  return {};
}

Status upgrade_dropout(RawNode& node) {
  node.take("consumed_inputs");
  node.take("is_test");
  node.take("ratio");  // has no effect at inference
  return {};
}

Result<std::vector<TensorType>> infer_dropout(const InferContext& c) {
  if (c.has(2)) {
    const Tensor* training = c.constant(2);
    if (training == nullptr) return make_diag<DiagCode::MRV0207>(2);
    if (training->elements() != 1 || training->elem() != ElementType::Bool) {
      return bad_operands("training_mode must be one bool");
    }
    if (training->as_int(0) != 0)
      return bad_operands("training_mode must be false: only inference is compiled");
  }
  std::vector<TensorType> types{c.type(0)};
  if (c.num_outputs > 1) types.push_back({ElementType::Bool, c.type(0).shape});
  return types;
}

Status eval_dropout(const EvalContext& c) {
  c.out() = c.in(0);
  if (c.outputs->size() > 1) std::ranges::fill(c.out(1).mutable_data<uint8_t>(), uint8_t{1});
  return {};
}

Status emit_dropout(EmitContext& c) {
  emit_copy(c);
  int64_t kept = c.out_type(0).elements();
  if (c.node().outputs.size() > 1 && kept != 0) c.line(fmt::format("memset({}, 1, {});", c.out(1), kept));
  return {};
}

}  // namespace

const OpDef& def_Identity() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "Identity";
    d.infer = infer_identity;
    d.eval = eval_identity;
    d.emit = emit_identity;
    d.accel = "reshape";
    return d;
  }();
  return op;
}

const OpDef& def_Dropout() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "Dropout";
    d.attrs = {spec::with_int("seed", 0)};
    d.max_inputs = 3;
    d.max_outputs = 2;
    d.types = spec::kFloats;
    d.upgrade = upgrade_dropout;
    d.infer = infer_dropout;
    d.eval = eval_dropout;
    d.emit = emit_dropout;
    d.declined = "accelerator: the identity at inference, removed before partitioning";
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops

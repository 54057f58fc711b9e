// Clip: bounds are optional scalar inputs since opset 11, attributes before.
#include "common/bulk.h"
#include "common/dynamic_util.h"
#include "elementwise/elementwise.h"
#include "mrvlc/ops/quantized.h"

namespace mrvlc::ops {
namespace {

template <class T>
T clip(const T* x, const ir::OpSchema&, const Attrs&) {
  T raised = x[0] < x[1] ? x[1] : x[0];
  return raised > x[2] ? x[2] : raised;
}

Result<std::vector<TensorType>> infer_clip(const InferContext& c) {
  for (size_t i = 1; i < c.num_inputs(); ++i) {
    if (!c.has(i)) continue;
    MRVLC_TRY(check_same_elem(c, i));
    if (c.type(i).elements() != 1 || c.type(i).rank() > 1)
      return bad_operands(fmt::format("input {} must be a scalar", i));
  }
  return std::vector<TensorType>{c.type(0)};
}

Status eval_clip(const EvalContext& c) {
  Tensor low = c.has(1) ? c.in(1).reshaped({}) : extreme_value(c.in(0).elem(), false);
  Tensor high = c.has(2) ? c.in(2).reshaped({}) : extreme_value(c.in(0).elem(), true);
  return eval_scalar(*static_cast<const OpDef&>(*c.op).scalar, c, {&c.in(0), &low, &high}, false);
}

// A byte is never beyond it, which C compilers warn of.
bool bounds_nothing(const EmitContext& c, size_t i, ElementType elem) {
  const Tensor* bound = c.constant(i);
  if (bound == nullptr || bound->elements() != 1 || !is_byte(elem)) return false;
  const IntRange all = range_of(elem);
  return bound->as_int(0) == (i == 1 ? all.low : all.high);
}

std::string clip_text(EmitContext& c, const std::vector<std::string>& x, ElementType elem) {
  std::string value = x[0];
  if (c.has(1) && !bounds_nothing(c, 1, elem)) value = fmt::format("({0} < {1} ? {1} : {0})", value, x[1]);
  if (c.has(2) && !bounds_nothing(c, 2, elem)) value = fmt::format("({0} > {1} ? {1} : {0})", value, x[2]);
  return expand_pattern("{x}", c, {value}, elem);
}

Result<std::vector<TensorType>> infer_dynamic_clip(const InferContext& c) {
  MRVLC_TRY(check_tensors(c));
  return infer_clip(c);
}

Status emit_clip(EmitContext& c) {
  for (size_t i : {size_t{1}, size_t{2}}) {
    if (c.has(i)) require_equal(c, "1", product_text(in_dims(c, i)));
  }
  return emit_elementwise(c);
}

Status upgrade_clip(RawNode& node) {
  node.take("consumed_inputs");
  if (node.opset >= 11) return {};
  const TensorType* x = node.input_type(0);
  ElementType elem = x != nullptr ? x->elem : ElementType::F32;
  for (size_t position : {size_t{1}, size_t{2}}) {
    ir::Attr bound = node.take(position == 1 ? "min" : "max");
    const auto* value = std::get_if<float>(&bound);
    if (value != nullptr) node.add_constant_input(position, Tensor::of<float>(elem, {}, {*value}));
  }
  return {};
}

}  // namespace

const OpDef& def_Clip() {
  static constexpr ScalarOp scalar{clip<double>, clip<int64_t>, clip_text, clip<uint64_t>};
  static const OpDef op = [] {
    OpDef d = elementwise("Clip", 3, spec::kNumeric, scalar);
    d.min_inputs = 1;
    d.upgrade = upgrade_clip;
    d.infer = infer_clip;
    d.eval = eval_clip;
    d.infer_dynamic = infer_dynamic_clip;
    d.emit = d.emit_dynamic = emit_clip;
    d.traits = {.work = Work::Linear};
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops

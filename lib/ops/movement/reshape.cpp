// Reshape (ONNX Reshape-14), Flatten, Squeeze and Unsqueeze (-13): the same elements in the same order.
#include <algorithm>

#include "common/dynamic_facets.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Status eval_reshape(const EvalContext& context) {
  context.out() = context.in(0).reshaped(context.out().shape());
  return {};
}

// Before opset 5 the shape is an attribute.
Status upgrade_reshape(RawNode& node) {
  node.take("consumed_inputs");
  return node.opset < 5 ? attr_to_input(node, "shape", 1) : Status();
}

Status upgrade_axes(RawNode& node) {
  return node.opset < 13 ? attr_to_input(node, "axes", 1) : Status();
}

// Replaces the one -1 by what is left of the elements.
Status fill_unknown(Shape& shape, int64_t elements) {
  auto unknown = std::find(shape.begin(), shape.end(), -1);
  if (unknown != shape.end()) *unknown = 1;
  auto known = checked_product(shape);
  if (!known || std::find(shape.begin(), shape.end(), -1) != shape.end()) {
    return bad_operands(fmt::format("cannot reshape to {}", to_string(shape)));
  }
  if (unknown != shape.end()) {
    if (*known == 0 ? elements != 0 : elements % *known != 0) {
      return bad_operands(
          fmt::format("{} elements do not fill a shape of {} times something", elements, *known));
    }
    *unknown = *known == 0 ? 0 : elements / *known;
  } else if (*known != elements) {
    return bad_operands(fmt::format("{} elements do not fill the shape {}", elements, to_string(shape)));
  }
  return {};
}

Result<std::vector<TensorType>> infer_reshape(const InferContext& context) {
  MRVLC_ASSIGN(auto shape, known_ints(context, 1, "shape", kMaxRank));
  const TensorType& x = context.type(0);
  bool zero_means_zero = context.int_attr("allowzero") != 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < -1) return bad_operands(fmt::format("the shape has the entry {}", shape[d]));
    if (shape[d] != 0 || zero_means_zero) continue;
    if (d >= x.shape.size())
      return bad_operands(fmt::format("entry {} of the shape is 0, but the input has rank {}", d, x.rank()));
    shape[d] = x.shape[d];
  }
  MRVLC_TRY(fill_unknown(shape, x.elements()));
  return one_type(x.elem, shape);
}

// Axes known at run time only are checked then.
Result<std::vector<TensorType>> infer_squeeze(const InferContext& context) {
  if (context.has(1)) MRVLC_TRY(known_ints(context, 1, "axes", kMaxRank));
  return infer_dynamic_squeeze(context);
}

Result<std::vector<TensorType>> infer_unsqueeze(const InferContext& context) {
  MRVLC_TRY(known_ints(context, 1, "axes", kMaxRank));
  return infer_dynamic_unsqueeze(context);
}

OpDef reshape_def(std::string_view name, Result<std::vector<TensorType>> (*infer)(const InferContext&),
                  int inputs, int max_inputs) {
  OpDef d;
  d.name = name;
  d.traits = {.moves = Moves::Same, .work = Work::Linear, .passes_size_on = true};
  d.min_inputs = inputs;
  d.max_inputs = max_inputs;
  d.types = kMovable;
  d.infer = infer;
  d.eval = eval_reshape;
  d.accel = {LayerKind::Reshape};
  return d;
}

}  // namespace

const OpDef& def_Reshape() {
  static const OpDef def = [] {
    OpDef d = reshape_def("Reshape", infer_reshape, 2, 2);
    d.attrs = {with_int("allowzero", 0)};
    d.infer_dynamic = infer_dynamic_reshape;
    d.emit = d.emit_dynamic = emit_reshape;
    d.upgrade = upgrade_reshape;
    return d;
  }();
  return def;
}

const OpDef& def_Flatten() {
  static const OpDef def = [] {
    OpDef d = reshape_def("Flatten", infer_dynamic_flatten, 1, 1);
    d.attrs = {with_int("axis", 1)};
    d.infer_dynamic = infer_dynamic_flatten;
    d.emit = d.emit_dynamic = emit_flatten;
    return d;
  }();
  return def;
}

const OpDef& def_Squeeze() {
  static const OpDef def = [] {
    OpDef d = reshape_def("Squeeze", infer_squeeze, 1, 2);
    d.infer_dynamic = infer_dynamic_squeeze;
    d.emit = d.emit_dynamic = emit_squeeze;
    d.upgrade = upgrade_axes;
    return d;
  }();
  return def;
}

const OpDef& def_Unsqueeze() {
  static const OpDef def = [] {
    OpDef d = reshape_def("Unsqueeze", infer_unsqueeze, 2, 2);
    d.infer_dynamic = infer_dynamic_unsqueeze;
    d.emit = d.emit_dynamic = emit_unsqueeze;
    d.upgrade = upgrade_axes;
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops

// Pad (ONNX Pad-21): constant, reflect, edge, wrap; negative padding crops.
#include <algorithm>

#include "common/dynamic_facets.h"
#include "common/mapped_copy.h"
#include "common/strided_copy.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Opset 1 has the attribute `paddings`, opset 2 to 10 `pads` and `value`.
Status upgrade_pad(RawNode& node) {
  if (node.opset >= 11) return {};
  MRVLC_TRY(attr_to_input(node, node.find("paddings") != nullptr ? "paddings" : "pads", 1));
  ir::Attr value = node.take("value");
  if (!ir::is_set(value)) return {};
  const float* number = std::get_if<float>(&value);
  if (number == nullptr) return bad_attr("value", "must be a number");
  const TensorType* data = node.input_type(0);
  if (data == nullptr) return bad_operands("the data is missing");
  node.add_constant_input(2, Tensor::of<double>(data->elem, {}, {static_cast<double>(*number)}));
  return {};
}

Result<std::vector<TensorType>> infer_pad(const InferContext& context) {
  if (context.has(2)) {
    MRVLC_TRY(check_same_elem(context, 2));
    if (context.type(2).elements() != 1) return bad_operands("constant_value must be one element");
  }
  MRVLC_ASSIGN(PadParams p, pad_params(context));
  TensorType type = context.type(0);
  for (size_t d = 0; d < type.shape.size(); ++d) {
    type.shape[d] += p.begin[d] + p.end[d];
    MRVLC_TRY(check_dim(type.shape[d], "a dimension of the result"));
  }
  return std::vector<TensorType>{type};
}

// What is kept of the input, placed in the output.
StridedCopy interior(const PadParams& p, const Shape& in, const Shape& out) {
  StridedCopy copy{in, row_major_strides(in), row_major_strides(out), 0, 0};
  for (size_t d = 0; d < in.size(); ++d) {
    copy.size[d] += std::min<int64_t>(p.begin[d], 0) + std::min<int64_t>(p.end[d], 0);
    copy.in_offset += std::max<int64_t>(-p.begin[d], 0) * copy.in[d];
    copy.out_offset += std::max<int64_t>(p.begin[d], 0) * copy.out[d];
  }
  return copy;
}

// Position within n kept elements that stands for position i outside or inside of them.
int64_t source(const std::string& mode, int64_t i, int64_t n) {
  if (mode == "edge") return std::clamp<int64_t>(i, 0, n - 1);
  if (mode == "wrap") return (i % n + n) % n;
  if (n == 1) return 0;
  int64_t period = 2 * (n - 1), k = (i % period + period) % period;
  return k < n ? k : period - k;
}

MappedCopy mapped(const PadParams& p, const Shape& in, const Shape& out) {
  MappedCopy copy{in, {}};
  for (size_t d = 0; d < in.size(); ++d) {
    int64_t crop = std::max<int64_t>(-p.begin[d], 0), kept = in[d] - crop + std::min<int64_t>(p.end[d], 0);
    copy.from.push_back(index_table(out[d], [&](int64_t o) {
      return crop + source(p.mode, o - std::max<int64_t>(p.begin[d], 0), kept);
    }));
  }
  return copy;
}

void fill(Tensor& out, const Tensor* value) {
  if (value == nullptr) return;  // zero-filled
  for (int64_t i = 0; i < out.elements(); ++i) {
    is_float(out.elem()) ? out.set_double(i, value->as_double(0)) : out.set_int(i, value->as_int(0));
  }
}

Status eval_pad(const EvalContext& context) {
  MRVLC_ASSIGN(PadParams p, pad_params(context.infer_view()));
  const Tensor& x = context.in(0);
  Tensor& y = context.out();
  if (y.elements() == 0) return {};
  if (p.mode != "constant") {
    MRVLC_TRY(check_table_sizes(y.shape()));
    run_mapped_copy(mapped(p, x.shape(), y.shape()), x, y);
    return {};
  }
  fill(y, context.has(2) ? &context.in(2) : nullptr);
  run_copy(interior(p, x.shape(), y.shape()), x, y);
  return {};
}

Status emit_pad(EmitContext& context) {
  MRVLC_ASSIGN(PadParams p, pad_params(emit_view(context)));
  const TensorType &x = context.in_type(0), &y = context.out_type(0);
  if (y.elements() == 0) return {};
  if (p.mode != "constant") {
    MRVLC_TRY(check_table_sizes(y.shape));
    emit_mapped_copy(context, mapped(p, x.shape, y.shape));
    return {};
  }
  const Tensor* known = context.has(2) ? context.constant(2) : nullptr;
  std::string value = "0";
  if (context.has(2))
    value = known != nullptr ? element_literal(*known, 0) : fmt::format("*{}", context.in(2));
  context.line(
      fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) {}[i] = {};", y.elements(), context.out(0), value));
  emit_copy(context, interior(p, x.shape, y.shape), context.in(0), context.out(0), x.elem);
  return {};
}

}  // namespace

const OpDef& def_Pad() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Pad";
    d.traits = {.moves = Moves::Copied, .work = Work::Linear, .passes_size_on = true};
    d.attrs = {with_string("mode", "constant")};
    d.min_inputs = 2;
    d.max_inputs = 4;
    d.types = kFixedSize;
    d.upgrade = upgrade_pad;
    d.infer = infer_pad;
    d.eval = eval_pad;
    d.emit = emit_pad;
    d.infer_dynamic = infer_dynamic_pad;
    d.emit_dynamic = emit_dynamic_pad;
    d.accel = {LayerKind::Move};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops

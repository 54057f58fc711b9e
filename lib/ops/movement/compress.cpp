// Compress (ONNX Compress-11): the slices along an axis, or the elements, that a condition selects.
#include <algorithm>

#include "common/dims.h"
#include "common/slices.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// The axis; nullopt: the data are seen as one line.
Result<std::optional<int64_t>> compress_axis(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 1, 1, 1));
  MRVLC_TRY(check_elem(context, 1, types_of({E::Bool})));
  MRVLC_TRY(check_rank(context, 0, 1));
  if (!is_attr_set(context, "axis")) return std::optional<int64_t>();
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), context.type(0).rank()));
  return std::optional<int64_t>(axis);
}

struct CompressSizes : AxisSizes {
  Shape result;
  std::vector<int64_t> selected;
};

Result<CompressSizes> compress_sizes(const InferContext& context) {
  MRVLC_ASSIGN(auto axis, compress_axis(context));
  const Shape& x = context.type(0).shape;
  CompressSizes s{axis ? axis_sizes(x, *axis) : AxisSizes{1, element_count(x), 1}, {}, {}};
  const Tensor* condition = context.constant(1);
  if (condition == nullptr) return make_diag<DiagCode::MRV0207>("1 (condition)");
  if (condition->elements() > s.dim)
    return bad_operands(fmt::format("a condition of {} for {} slices", condition->elements(), s.dim));
  for (int64_t i = 0; i < condition->elements(); ++i) {
    if (condition->as_int(i) != 0) s.selected.push_back(i);
  }
  auto count = static_cast<int64_t>(s.selected.size());
  s.result = axis ? x : Shape{count};
  if (axis) s.result[at(*axis)] = count;
  return s;
}

Result<std::vector<TensorType>> infer_compress(const InferContext& context) {
  MRVLC_ASSIGN(CompressSizes s, compress_sizes(context));
  return one_type(context.type(0).elem, s.result);
}

Result<std::vector<TensorType>> infer_compress_dynamic(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_ASSIGN(auto axis, compress_axis(context));
  Dims x = dims_of(context.type(0));
  Dim line = axis ? x[at(*axis)] : all_elements(context.type(0)), condition = dims_of(context.type(1))[0];
  int64_t bound = line.bound;
  if (condition.bound != kNoBound)
    bound = bound == kNoBound ? condition.bound : std::min(bound, condition.bound);
  Dims result = axis ? x : Dims{Dim{}};
  result[axis ? at(*axis) : 0] = {bound, true};
  return std::vector<TensorType>{type_of(context.type(0).elem, result, context.type(0).capacity)};
}

Status eval_compress(const EvalContext& context) {
  MRVLC_ASSIGN(CompressSizes s, compress_sizes(context.infer_view()));
  context.out() = Tensor(TensorType{context.in(0).elem(), s.result});
  take_slices(s, s.selected, context.in(0), context.out());
  return {};
}

// Declares outer, dim, inner and n, the length of the condition.
Status emit_compress_sizes(EmitContext& context) {
  MRVLC_ASSIGN(auto axis, compress_axis(emit_view(context)));
  Texts x = in_sizes(context, 0);
  size_t a = axis ? at(*axis) : 0, past = axis ? a + 1 : x.size();
  context.line(fmt::format("const ptrdiff_t outer = {}, dim = {}, inner = {}, n = {};", size_product(x, 0, a),
                           size_product(x, a, past), size_product(x, past, x.size()),
                           in_sizes(context, 1)[0]));
  return {};
}

// Counts what the condition selects.
Status set_compressed_dims(EmitContext& context) {
  MRVLC_ASSIGN(auto axis, compress_axis(emit_view(context)));
  context.fail_if("n > dim");
  context.line("int64_t count = 0;");
  context.line(fmt::format("for (ptrdiff_t i = 0; i < n; ++i) count += {}[i] != 0;", context.in(1)));
  Texts dims = axis ? in_dims(context, 0) : Texts{"count"};
  if (axis) dims[at(*axis)] = "count";
  context.set_dims(0, dims);
  return {};
}

Status emit_compress(EmitContext& context) {
  const bool dynamic = is_dynamic(context);
  if (!dynamic && context.out_type(0).elements() == 0) return {};
  MRVLC_TRY(emit_compress_sizes(context));
  if (dynamic) MRVLC_TRY(set_compressed_dims(context));
  context.line(fmt::format("{}* y = {};", c_type(context.in_type(0).elem), context.out(0)));
  context.open("for (ptrdiff_t i = 0; i < outer * n; ++i)");
  context.line(fmt::format("if (!{}[i % n]) continue;", context.in(1)));
  context.line(fmt::format("memcpy(y, {} + (i / n * dim + i % n) * inner, (size_t)inner * sizeof *y);",
                           context.in(0)));
  context.line("y += inner;");
  context.close();
  return {};
}

}  // namespace

const OpDef& def_Compress() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Compress";
    d.traits = {.moves = Moves::Selected, .work = Work::Linear, .data_dependent_shape = true};
    d.since_min = 9;
    d.attrs = {optional("axis", ir::AttrKind::Int)};
    d.min_inputs = d.max_inputs = 2;
    d.types = kFixedSize;
    d.infer = infer_compress;
    d.infer_dynamic = infer_compress_dynamic;
    d.eval = eval_compress;
    d.emit = d.emit_dynamic = emit_compress;
    d.declined = "the accelerator has no shapes that depend on values";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops

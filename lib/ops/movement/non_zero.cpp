// NonZero (ONNX NonZero-13): coordinates of the elements that are not zero, none for each of a scalar.
#include <algorithm>

#include "common/dims.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Result<std::vector<int64_t>> non_zero(const InferContext& context) {
  const Tensor* x = context.constant(0);
  if (x == nullptr) return make_diag<DiagCode::MRV0207>("0 (its values decide the shape of the result)");
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < x->elements(); ++i) {
    if (x->as_double(i) != 0) positions.push_back(i);
  }
  return positions;
}

Result<std::vector<TensorType>> infer_non_zero(const InferContext& context) {
  MRVLC_ASSIGN(auto positions, non_zero(context));
  return one_type(E::I64, Shape{context.type(0).rank(), static_cast<int64_t>(positions.size())});
}

Result<std::vector<TensorType>> infer_non_zero_dynamic(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  Dim all = all_elements(context.type(0));
  Dims dims = {{context.type(0).rank(), false}, {all.bound, true}};
  return std::vector<TensorType>{type_of(E::I64, dims)};
}

// One row a dimension of the input, one column a non-zero element.
Result<Tensor> coordinates(const InferContext& context) {
  MRVLC_ASSIGN(auto positions, non_zero(context));
  Shape shape = context.type(0).shape;
  auto count = static_cast<int64_t>(positions.size());
  Tensor out(TensorType{E::I64, {static_cast<int64_t>(shape.size()), count}});
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = positions[at(i)];
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      out.set_int(static_cast<int64_t>(d) * count + i, rest % shape[d]);
  }
  return out;
}

Status eval_non_zero(const EvalContext& context) {
  MRVLC_ASSIGN(context.out(), coordinates(context.infer_view()));
  return {};
}

Status emit_non_zero(EmitContext& context) {
  MRVLC_ASSIGN(Tensor value, coordinates(emit_view(context)));
  emit_constant_output(context, value);
  return {};
}

// C condition that the element is not zero; the float types that are held as bits have a negative zero.
std::string test_text(ElementType elem, const std::string& x) {
  switch (elem) {
    case E::F16:
    case E::BF16:
      return fmt::format("({} & 0x7fff) != 0", x);
    case E::F8E4M3FN:
    case E::F8E5M2:
      return fmt::format("({} & 0x7f) != 0", x);
    case E::F4E2M1:
      return fmt::format("({} & 7) != 0", x);
    case E::F8E8M0:  // has no zero
      return "1";
    default:
      return fmt::format("{} != 0", x);
  }
}

Status emit_non_zero_dynamic(EmitContext& context) {
  const Texts dims = in_sizes(context, 0);
  const std::string test = test_text(context.in_type(0).elem, context.in(0) + (dims.empty() ? "[0]" : "[i]"));
  if (dims.empty()) {
    context.set_dims(0, {"0", fmt::format("{} ? 1 : 0", test)});
    return {};
  }
  context.line(
      fmt::format("const ptrdiff_t n = {}, dim[{}] = {};", size_product(dims), dims.size(), list_text(dims)));
  context.line("ptrdiff_t count = 0, k = 0;");
  context.line(fmt::format("for (ptrdiff_t i = 0; i < n; ++i) count += {};", test));
  context.set_dims(0, {fmt::format("{}", dims.size()), "count"});
  context.open("for (ptrdiff_t i = 0; i < n; ++i)");
  context.line(fmt::format("if (!({})) continue;", test));
  context.line("ptrdiff_t rest = i;");
  context.open(fmt::format("for (ptrdiff_t d = {}; d >= 0; --d)", dims.size() - 1));
  context.line(fmt::format("{}[d * count + k] = rest % dim[d];", context.out(0)));
  context.line("rest /= dim[d];");
  context.close();
  context.line("++k;");
  context.close();
  return {};
}

}  // namespace

const OpDef& def_NonZero() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "NonZero";
    d.traits = {.work = Work::Linear, .data_dependent_shape = true};
    d.since_min = 9;
    d.types = kOrdinary;
    d.infer = infer_non_zero;
    d.infer_dynamic = infer_non_zero_dynamic;
    d.eval = eval_non_zero;
    d.emit = emit_non_zero;
    d.emit_dynamic = emit_non_zero_dynamic;
    d.declined = "the accelerator has no shapes that depend on values";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops

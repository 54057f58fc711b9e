// FeatureVectorizer (ai.onnx.ml -1): rows of the inputs one after the other, as float.

#include "ml/ml.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Result<std::vector<ml::Rows>> vectorizer_parts(const InferContext& context) {
  const auto& sizes = context.ints_attr("inputdimensions");
  if (!sizes.empty() && sizes.size() != context.num_inputs())
    return bad_attr("inputdimensions", "must be one number an input");
  std::vector<ml::Rows> parts;
  for (size_t i = 0; i < context.num_inputs(); ++i) {
    if (!context.has(i)) return bad_operands("an input is missing");
    MRVLC_TRY(check_same_elem(context, i));
    MRVLC_ASSIGN(ml::Rows part, ml::rows_of(context, i));
    if (!parts.empty() && part.rows != parts[0].rows) return bad_operands("inputs differ in their rows");
    if (!sizes.empty() && sizes[i] != part.cols)
      return bad_attr("inputdimensions", "differs from the shape of an input");
    parts.push_back(part);
  }
  return parts;
}

int64_t total_columns(const std::vector<ml::Rows>& parts) {
  int64_t sum = 0;
  for (const auto& part : parts) sum += part.cols;
  return sum;
}

Result<std::vector<TensorType>> infer_dynamic_vectorizer(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  const auto& sizes = context.ints_attr("inputdimensions");
  if (!sizes.empty() && sizes.size() != context.num_inputs())
    return bad_attr("inputdimensions", "must be one number an input");
  Dims result{kAnyDim, {0, false}};
  for (size_t i = 0; i < context.num_inputs(); ++i) {
    if (!context.has(i)) return bad_operands("an input is missing");
    MRVLC_TRY(check_same_elem(context, i));
    MRVLC_TRY(check_rank(context, i, 1, 2));
    Dims x = dims_of(context.type(i));
    Dim rows = x.size() == 1 ? Dim{} : x[0], &columns = x.back();
    if (!rows.dynamic && !result[0].dynamic && rows.bound != result[0].bound)
      return bad_operands("inputs differ in their rows");
    if (!sizes.empty() && (columns.dynamic ? sizes[i] < 0 : sizes[i] != columns.bound))
      return bad_attr("inputdimensions", "differs from the shape of an input");
    if (!sizes.empty()) columns = {sizes[i], false};
    result = {equal_dim(result[0], rows), sum(result[1], columns)};
  }
  return one_type(E::F32, result);
}

Result<std::vector<TensorType>> infer_vectorizer(const InferContext& context) {
  MRVLC_ASSIGN(auto parts, vectorizer_parts(context));
  return one_type(E::F32, {parts[0].rows, total_columns(parts)});
}

Status eval_vectorizer(const EvalContext& context) {
  MRVLC_ASSIGN(auto parts, vectorizer_parts(context.infer_view()));
  int64_t width = total_columns(parts), first = 0;
  for (size_t k = 0; k < parts.size(); first += parts[k++].cols) {
    for (int64_t i = 0; i < parts[k].rows * parts[k].cols; ++i)
      context.out().set_double(i / parts[k].cols * width + first + i % parts[k].cols,
                               context.in(k).as_double(i));
  }
  return {};
}

Status emit_vectorizer(EmitContext& context) {
  const auto& sizes = emit_view(context).ints_attr("inputdimensions");
  Texts widths;
  for (size_t k = 0; k < context.node().inputs.size(); ++k) {
    widths.push_back(ml::column_text(context, k));
    if (k > 0) require_equal(context, ml::row_text(context, k), ml::row_text(context));
    if (!sizes.empty()) require_equal(context, widths.back(), fmt::format("{}", sizes[k]));
  }
  context.set_dims(0, {ml::row_text(context), fmt::format("{}", fmt::join(widths, " + "))});
  if (context.out_type(0).elements() == 0) return {};
  context.line(fmt::format("float* y = {};", context.out(0)));
  for (size_t k = 0; k < widths.size(); ++k) {
    open_loop(context, "r", ml::row_text(context, k));
    context.line(fmt::format("for (ptrdiff_t c = 0; c < {0}; ++c) y[r * {1} + c] = (float){2}[r * {0} + c];",
                             widths[k], context.out_dim(0, 1), context.in(k)));
    context.close();
    context.line(fmt::format("y += {};", widths[k]));
  }
  return {};
}

}  // namespace

const OpDef& def_FeatureVectorizer() {
  static const OpDef op = [] {
    OpDef d = ml::op("FeatureVectorizer");
    d.attrs = {optional("inputdimensions", ir::AttrKind::Ints)};
    d.max_inputs = -1;
    d.infer = infer_vectorizer;
    d.infer_dynamic = infer_dynamic_vectorizer;
    d.eval = eval_vectorizer;
    d.emit = d.emit_dynamic = emit_vectorizer;
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops

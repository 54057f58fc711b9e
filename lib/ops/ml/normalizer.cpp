// Normalizer (ai.onnx.ml -1): rows divided by their maximum, sum of absolute values, or Euclidean norm,
// unless that is 0.
#include <algorithm>
#include <cmath>

#include "ml/ml.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

enum class Norm : uint8_t { Max, L1, L2 };

Result<Norm> norm_of(const InferContext& context) {
  const std::string& name = context.string_attr("norm");
  if (name == "MAX") return Norm::Max;
  if (name == "L1") return Norm::L1;
  if (name == "L2") return Norm::L2;
  return bad_attr("norm", "is none of MAX, L1, L2");
}

Result<std::vector<TensorType>> infer_normalizer(const InferContext& context) {
  MRVLC_TRY(norm_of(context));
  MRVLC_TRY(ml::rows_of(context));
  return one_type(E::F32, context.type(0).shape);
}

double norm_value(Norm norm, const std::vector<double>& row) {
  double n = norm == Norm::Max ? -INFINITY : 0;
  for (double v : row) {
    if (norm == Norm::Max) n = std::fmax(n, v);
    if (norm == Norm::L1) n += std::abs(v);
    if (norm == Norm::L2) n += v * v;
  }
  return norm == Norm::L2 ? std::sqrt(n) : n;
}

Status eval_normalizer(const EvalContext& context) {
  MRVLC_ASSIGN(Norm norm, norm_of(context.infer_view()));
  MRVLC_ASSIGN(ml::Rows m, ml::rows_of(context.infer_view()));
  std::vector<double> row(at(m.cols));
  for (int64_t r = 0; r < m.rows; ++r) {
    for (int64_t c = 0; c < m.cols; ++c) row[at(c)] = context.in(0).as_double(r * m.cols + c);
    double n = norm_value(norm, row);
    for (int64_t c = 0; c < m.cols; ++c)
      context.out().set_double(r * m.cols + c, n == 0 ? row[at(c)] : row[at(c)] / n);
  }
  return {};
}

Status emit_normalizer(EmitContext& context) {
  set_same_dims(context);
  MRVLC_ASSIGN(Norm norm, norm_of(emit_view(context)));
  if (context.out_type(0).elements() == 0) return {};
  const std::string columns = ml::column_text(context);
  open_loop(context, "r", ml::row_text(context));
  context.line(
      fmt::format("const {}* x = {} + r * {};", c_type(context.in_type(0).elem), context.in(0), columns));
  context.line(fmt::format("float* y = {} + r * {};", context.out(0), columns));
  context.line(fmt::format("float n = {};", norm == Norm::Max ? "-INFINITY" : "0.0f"));
  constexpr std::string_view kSteps[] = {"n = (float)x[c] > n ? (float)x[c] : n;", "n += fabsf((float)x[c]);",
                                         "n += (float)x[c] * (float)x[c];"};
  context.line(
      fmt::format("for (ptrdiff_t c = 0; c < {}; ++c) {}", columns, kSteps[static_cast<size_t>(norm)]));
  if (norm == Norm::L2) context.line("n = sqrtf(n);");
  context.line("if (n == 0.0f) n = 1.0f;");
  context.line(fmt::format("for (ptrdiff_t c = 0; c < {}; ++c) y[c] = (float)x[c] / n;", columns));
  context.close();
  return {};
}

}  // namespace

const OpDef& def_Normalizer() {
  static const OpDef op = [] {
    OpDef d = ml::op("Normalizer");
    d.attrs = {with_string("norm", "MAX")};
    d.infer = infer_normalizer;
    d.eval = eval_normalizer;
    d.emit = d.emit_dynamic = emit_normalizer;
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops

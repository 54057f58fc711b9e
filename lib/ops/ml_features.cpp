// Operators of ai.onnx.ml that prepare features: ArrayFeatureExtractor, Binarizer, FeatureVectorizer,
// Imputer, Normalizer, Scaler (all of version 1).
#include <cmath>

#include "index_util.h"
#include "ml.h"
#include "slices.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// -- ArrayFeatureExtractor: elements of the last dimension by index; a vector is one row

struct Extraction {
  int64_t rows, dim, count;
  Shape result;
};

Result<Extraction> extraction(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_elem(context, 1, types_of({E::I64})));
  const Shape& x = context.type(0).shape;
  Extraction e{1, x.back(), element_count(context.type(1).shape), Shape(x.begin(), x.end() - 1)};
  e.rows = element_count(e.result);
  if (x.size() == 1) e.result = {1};
  e.result.push_back(e.count);
  return e;
}

Result<std::vector<TensorType>> infer_extractor(const InferContext& context) {
  MRVLC_ASSIGN(Extraction e, extraction(context));
  if (const Tensor* indices = context.constant(1)) MRVLC_TRY(read_indices(*indices, e.dim));
  return one_type(context.type(0).elem, e.result);
}

Status eval_extractor(const EvalContext& context) {
  MRVLC_ASSIGN(Extraction e, extraction(context.infer_view()));
  MRVLC_ASSIGN(auto indices, read_indices(context.in(1), e.dim));
  take_slices({e.rows, e.dim, 1}, indices, context.in(0), context.out());
  return {};
}

Status emit_extractor(EmitContext& context) {
  MRVLC_ASSIGN(Extraction e, extraction(emit_view(context)));
  if (e.rows * e.count == 0) return {};
  context.loop("i", e.rows * e.count);
  emit_index(context, "k", fmt::format("{}[i % {}]", context.in(1), e.count), e.dim);
  context.line(fmt::format("{}[i] = {}[i / {} * {} + k];", context.out(0), context.in(0), e.count, e.dim));
  context.close();
  return {};
}

// -- Binarizer

Result<std::vector<TensorType>> infer_same(const InferContext& context) {
  return std::vector<TensorType>{context.type(0)};
}

Status eval_binarizer(const EvalContext& context) {
  double threshold = static_cast<double>(context.infer_view().float_attr("threshold"));
  for (int64_t i = 0; i < context.out().elements(); ++i)
    context.out().set_int(i, context.in(0).as_double(i) > threshold ? 1 : 0);
  return {};
}

Status emit_binarizer(EmitContext& context) {
  double threshold = static_cast<double>(emit_view(context).float_attr("threshold"));
  ElementType elem = context.in_type(0).elem, wide = elem == E::F32 ? E::F32 : E::F64;
  context.loop("i", context.out_type(0).elements());
  context.line(fmt::format("{}[i] = ({})(({}){}[i] > {});", context.out(0), c_type(elem), c_type(wide),
                           context.in(0), c_literal(threshold, wide)));
  context.close();
  return {};
}

// -- Imputer: what equals one value becomes another; one for all, or one for each element of the last
// dimension

struct Imputation {
  double replaced = 0;
  int64_t replaced_int = 0;
  Tensor values;  // of the element type
};

Result<Imputation> imputation(const InferContext& context) {
  Imputation p;
  const TensorType& x = context.type(0);
  p.replaced = static_cast<double>(context.float_attr("replaced_value_float"));
  p.replaced_int = context.int_attr("replaced_value_int64");
  const auto& reals = ml::floats(context, "imputed_value_floats");
  const auto& ints = context.ints_attr("imputed_value_int64s");
  if (is_float(x.elem)) {
    p.values = Tensor::of(x.elem, {static_cast<int64_t>(reals.size())}, reals);
  } else {
    p.values = Tensor::of(x.elem, {static_cast<int64_t>(ints.size())}, ints);
  }
  int64_t count = p.values.elements(), last = x.rank() == 0 ? 1 : x.shape.back();
  if (count != 1 && count != last)
    return bad_operands(fmt::format("{} imputed values for {} features", count, last));
  return p;
}

Result<std::vector<TensorType>> infer_imputer(const InferContext& context) {
  MRVLC_TRY(imputation(context));
  return std::vector<TensorType>{context.type(0)};
}

Status eval_imputer(const EvalContext& context) {
  MRVLC_ASSIGN(Imputation p, imputation(context.infer_view()));
  const Tensor& x = context.in(0);
  Tensor& y = context.out();
  for (int64_t i = 0; i < x.elements(); ++i) {
    int64_t k = i % p.values.elements();
    if (is_float(x.elem())) {
      double v = x.as_double(i);
      y.set_double(i,
                   v == p.replaced || (std::isnan(v) && std::isnan(p.replaced)) ? p.values.as_double(k) : v);
    } else {
      y.set_int(i, x.as_int(i) == p.replaced_int ? p.values.as_int(k) : x.as_int(i));
    }
  }
  return {};
}

Status emit_imputer(EmitContext& context) {
  MRVLC_ASSIGN(Imputation p, imputation(emit_view(context)));
  if (context.out_type(0).elements() == 0) return {};
  ElementType elem = context.in_type(0).elem;
  std::string values = context.table(p.values), x = context.in(0) + "[i]";
  std::string hit = std::isnan(p.replaced) ? fmt::format("{0} != {0}", x)
                                           : fmt::format("{} == {}", x, c_literal(p.replaced, elem));
  if (!is_float(elem)) hit = fmt::format("{} == {}", x, c_literal(p.replaced_int, E::I64));
  context.loop("i", context.out_type(0).elements());
  context.line(
      fmt::format("{}[i] = {} ? {}[i % {}] : {};", context.out(0), hit, values, p.values.elements(), x));
  context.close();
  return {};
}

// -- FeatureVectorizer: rows of the inputs one after the other, as float

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
  MRVLC_ASSIGN(auto parts, vectorizer_parts(emit_view(context)));
  int64_t width = total_columns(parts), first = 0;
  for (size_t k = 0; k < parts.size(); first += parts[k++].cols) {
    if (parts[k].rows * parts[k].cols == 0) continue;
    context.loop("i", parts[k].rows * parts[k].cols);
    context.line(fmt::format("{0}[i / {1} * {2} + {3} + i % {1}] = (float){4}[i];", context.out(0),
                             parts[k].cols, width, first, context.in(k)));
    context.close();
  }
  return {};
}

// -- Normalizer: rows divided by their maximum, sum of absolute values, or Euclidean norm, unless that is 0

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
  InferContext view = emit_view(context);
  MRVLC_ASSIGN(Norm norm, norm_of(view));
  MRVLC_ASSIGN(ml::Rows m, ml::rows_of(view));
  if (m.rows * m.cols == 0) return {};
  context.loop("r", m.rows);
  context.line(
      fmt::format("const {}* x = {} + r * {};", c_type(context.in_type(0).elem), context.in(0), m.cols));
  context.line(fmt::format("float* y = {} + r * {};", context.out(0), m.cols));
  context.line(fmt::format("float n = {};", norm == Norm::Max ? "(float)x[0]" : "0.0f"));
  constexpr std::string_view kSteps[] = {"n = (float)x[c] > n ? (float)x[c] : n;", "n += fabsf((float)x[c]);",
                                         "n += (float)x[c] * (float)x[c];"};
  context.line(
      fmt::format("for (ptrdiff_t c = 0; c < {}; ++c) {}", m.cols, kSteps[static_cast<size_t>(norm)]));
  if (norm == Norm::L2) context.line("n = sqrtf(n);");
  context.line("if (n == 0.0f) n = 1.0f;");
  context.line(fmt::format("for (ptrdiff_t c = 0; c < {}; ++c) y[c] = (float)x[c] / n;", m.cols));
  context.close();
  return {};
}

// -- Scaler: (x - offset) * scale

struct Scaling {
  std::vector<float> offset, scale;
};

Result<Scaling> scaling(const InferContext& context) {
  Scaling s{ml::floats(context, "offset"), ml::floats(context, "scale")};
  if (s.offset.empty()) s.offset = {0};
  if (s.scale.empty()) s.scale = {1};
  const TensorType& x = context.type(0);
  for (const auto* list : {&s.offset, &s.scale}) {
    auto n = static_cast<int64_t>(list->size());
    if (n != 1 && (x.rank() == 0 || n != x.shape.back()))
      return bad_attr(list == &s.offset ? "offset" : "scale", "must be one number, or one for each feature");
  }
  return s;
}

Result<std::vector<TensorType>> infer_scaler(const InferContext& context) {
  MRVLC_TRY(scaling(context));
  return one_type(E::F32, context.type(0).shape);
}

Status eval_scaler(const EvalContext& context) {
  MRVLC_ASSIGN(Scaling s, scaling(context.infer_view()));
  for (int64_t i = 0; i < context.out().elements(); ++i) {
    double offset = static_cast<double>(s.offset[at(i) % s.offset.size()]);
    double scale = static_cast<double>(s.scale[at(i) % s.scale.size()]);
    context.out().set_double(i, (context.in(0).as_double(i) - offset) * scale);
  }
  return {};
}

Status emit_scaler(EmitContext& context) {
  MRVLC_ASSIGN(Scaling s, scaling(emit_view(context)));
  if (context.out_type(0).elements() == 0) return {};
  auto table = [&](const std::vector<float>& v) {
    if (v.size() == 1) return c_literal(static_cast<double>(v[0]), E::F32);
    return fmt::format("{}[i % {}]", ml::table_of(context, E::F32, v), v.size());
  };
  std::string offset = table(s.offset), scale = table(s.scale);
  std::string wide = context.in_type(0).elem == E::F32 ? "float" : "double";
  context.loop("i", context.out_type(0).elements());
  context.line(fmt::format("{}[i] = (float)((({}){}[i] - {}) * {});", context.out(0), wide, context.in(0),
                           offset, scale));
  context.close();
  return {};
}

}  // namespace

const OpDef& def_ArrayFeatureExtractor() {
  static const OpDef op = [] {
    OpDef d = ml::op("ArrayFeatureExtractor");
    d.types.bits |= types_of({E::String}).bits;
    d.min_inputs = d.max_inputs = 2;
    d.infer = infer_extractor;
    d.eval = eval_extractor;
    d.emit = emit_extractor;
    return d;
  }();
  return op;
}

const OpDef& def_Binarizer() {
  static const OpDef op = [] {
    OpDef d = ml::op("Binarizer");
    d.attrs = {with_float("threshold", 0)};
    d.infer = infer_same;
    d.eval = eval_binarizer;
    d.emit = emit_binarizer;
    return d;
  }();
  return op;
}

const OpDef& def_FeatureVectorizer() {
  static const OpDef op = [] {
    OpDef d = ml::op("FeatureVectorizer");
    d.attrs = {optional("inputdimensions", ir::AttrKind::Ints)};
    d.max_inputs = -1;
    d.infer = infer_vectorizer;
    d.eval = eval_vectorizer;
    d.emit = emit_vectorizer;
    return d;
  }();
  return op;
}

const OpDef& def_Imputer() {
  static const OpDef op = [] {
    OpDef d = ml::op("Imputer");
    d.attrs = {optional("imputed_value_floats", ir::AttrKind::Floats),
               optional("imputed_value_int64s", ir::AttrKind::Ints), with_float("replaced_value_float", 0),
               with_int("replaced_value_int64", 0)};
    d.infer = infer_imputer;
    d.eval = eval_imputer;
    d.emit = emit_imputer;
    return d;
  }();
  return op;
}

const OpDef& def_Normalizer() {
  static const OpDef op = [] {
    OpDef d = ml::op("Normalizer");
    d.attrs = {with_string("norm", "MAX")};
    d.infer = infer_normalizer;
    d.eval = eval_normalizer;
    d.emit = emit_normalizer;
    return d;
  }();
  return op;
}

const OpDef& def_Scaler() {
  static const OpDef op = [] {
    OpDef d = ml::op("Scaler");
    d.attrs = {optional("offset", ir::AttrKind::Floats), optional("scale", ir::AttrKind::Floats)};
    d.infer = infer_scaler;
    d.eval = eval_scaler;
    d.emit = emit_scaler;
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops

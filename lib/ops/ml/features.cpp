// Operators of ai.onnx.ml that prepare features: ArrayFeatureExtractor, Binarizer, FeatureVectorizer,
// Imputer, Normalizer, Scaler (all of version 1).
#include <algorithm>
#include <cmath>
#include <functional>

#include "common/index_util.h"
#include "common/slices.h"
#include "ml/ml.h"
#include "movement/index_open.h"

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

// A loop over the indices; `put_index` writes that of the feature `k` from a C expression.
void emit_extractor_lines(EmitContext& context,
                          const std::function<void(const std::string& index)>& put_index) {
  Texts x = in_dims(context, 0);
  std::string count = product_text(in_dims(context, 1));
  open_loop(context, "j", count);
  put_index(context.in(1) + "[j]");
  open_loop(context, "r", product_text(x, 0, x.size() - 1));
  context.line(
      fmt::format("{}[r * {} + j] = {}[r * {} + k];", context.out(0), count, context.in(0), x.back()));
  context.close();
  context.close();
}

Status emit_extractor(EmitContext& context) {
  MRVLC_ASSIGN(Extraction e, extraction(emit_view(context)));
  if (e.rows * e.count == 0) return {};
  emit_extractor_lines(context, [&](const std::string& index) { emit_index(context, "k", index, e.dim); });
  return {};
}

Status emit_open_extractor(EmitContext& context) {
  Texts x = in_dims(context, 0), dims(x.begin(), x.end() - 1);
  if (dims.empty()) dims = {"1"};
  dims.push_back(product_text(in_dims(context, 1)));
  context.set_dims(0, dims);
  emit_extractor_lines(context,
                       [&](const std::string& index) { emit_checked_index(context, "k", index, x.back()); });
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
  open_loop(context, "i", ml::count_text(context));
  context.line(fmt::format("{}[i] = ({})(({}){}[i] > {});", context.out(0), c_type(elem), c_type(wide),
                           context.in(0), c_literal(threshold, wide)));
  context.close();
  return {};
}

// A list with one number for each element of the last dimension, unless it is one for all.
void require_features(EmitContext& context, int64_t count) {
  if (count != 1) require_equal(context, ml::column_text(context), fmt::format("{}", count));
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
  require_features(context, p.values.elements());
  open_loop(context, "i", ml::count_text(context));
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

Result<std::vector<TensorType>> infer_open_vectorizer(const InferContext& context) {
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
    if (!rows.open && !result[0].open && rows.bound != result[0].bound)
      return bad_operands("inputs differ in their rows");
    if (!sizes.empty() && (columns.open ? sizes[i] < 0 : sizes[i] != columns.bound))
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

// `width`: columns of the result.
void emit_vectorizer_lines(EmitContext& context, const std::string& width) {
  context.line(fmt::format("float* y = {};", context.out(0)));
  for (size_t k = 0; k < context.node().inputs.size(); ++k) {
    const std::string columns = ml::column_text(context, k);
    open_loop(context, "r", ml::row_text(context, k));
    context.line(fmt::format("for (ptrdiff_t c = 0; c < {0}; ++c) y[r * {1} + c] = (float){2}[r * {0} + c];",
                             columns, width, context.in(k)));
    context.close();
    context.line(fmt::format("y += {};", columns));
  }
}

Status emit_vectorizer(EmitContext& context) {
  MRVLC_ASSIGN(auto parts, vectorizer_parts(emit_view(context)));
  if (context.out_type(0).elements() != 0)
    emit_vectorizer_lines(context, fmt::format("{}", total_columns(parts)));
  return {};
}

Status emit_open_vectorizer(EmitContext& context) {
  const auto& sizes = emit_view(context).ints_attr("inputdimensions");
  std::string width = "0";
  for (size_t k = 0; k < context.node().inputs.size(); ++k) {
    const std::string columns = ml::column_text(context, k);
    if (k > 0) require_equal(context, ml::row_text(context, k), ml::row_text(context));
    if (!sizes.empty()) require_equal(context, columns, fmt::format("{}", sizes[k]));
    width += " + " + columns;
  }
  context.line(fmt::format("const int64_t width = {};", width));
  context.set_dims(0, {ml::row_text(context), "width"});
  emit_vectorizer_lines(context, "width");
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
  require_features(context, static_cast<int64_t>(std::max(s.offset.size(), s.scale.size())));
  open_loop(context, "i", ml::count_text(context));
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
    d.emit_open = emit_open_extractor;
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
    d.emit_open = ml::emit_open_same<emit_binarizer>;
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
    d.infer_open = infer_open_vectorizer;
    d.eval = eval_vectorizer;
    d.emit = emit_vectorizer;
    d.emit_open = emit_open_vectorizer;
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
    d.emit_open = ml::emit_open_same<emit_imputer>;
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
    d.emit_open = ml::emit_open_same<emit_normalizer>;
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
    d.emit_open = ml::emit_open_same<emit_scaler>;
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops

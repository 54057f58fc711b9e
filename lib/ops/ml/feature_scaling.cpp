// Operators of ai.onnx.ml-1 that change each feature by itself: Binarizer, Imputer, Scaler.
#include <algorithm>
#include <cmath>

#include "ml/ml.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

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
  set_same_dims(context);
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
  set_same_dims(context);
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
  set_same_dims(context);
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

const OpDef& def_Binarizer() {
  static const OpDef op = [] {
    OpDef d = ml::op("Binarizer");
    d.attrs = {with_float("threshold", 0)};
    d.infer = infer_same;
    d.eval = eval_binarizer;
    d.emit = d.emit_dynamic = emit_binarizer;
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
    d.emit = d.emit_dynamic = emit_imputer;
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
    d.emit = d.emit_dynamic = emit_scaler;
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops

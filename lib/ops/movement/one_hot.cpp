// OneHot (ONNX OneHot-11): indices outside [-depth, depth) give a row of the off value.
#include "common/dynamic_facets.h"
#include "common/index_util.h"
#include "mrvlc/ops/work.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

struct OneHotSizes {
  int64_t outer = 1, depth = 0, inner = 1;
  Shape result;
};

Result<OneHotSizes> one_hot_sizes(const InferContext& context) {
  const Shape& x = context.type(0).shape;
  MRVLC_ASSIGN(double depth, known_number(context, 1, "depth"));
  if (!(depth >= 0)) return bad_operands(fmt::format("a depth of {}", depth));
  if (depth > static_cast<double>(kMaxElements)) return too_large();
  if (context.type(2).shape != Shape{2}) return bad_operands("values must be two elements");
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), context.type(0).rank() + 1));
  OneHotSizes s;
  s.depth = static_cast<int64_t>(depth);
  s.outer = element_count(Shape(x.begin(), x.begin() + axis));
  s.inner = element_count(Shape(x.begin() + axis, x.end()));
  s.result = x;
  s.result.insert(s.result.begin() + axis, s.depth);
  return s;
}

Result<std::vector<TensorType>> infer_one_hot(const InferContext& context) {
  MRVLC_TRY(check_elem(context, 2, kFixedSize));
  MRVLC_ASSIGN(OneHotSizes s, one_hot_sizes(context));
  return one_type(context.type(2).elem, s.result);
}

Status eval_one_hot(const EvalContext& context) {
  MRVLC_ASSIGN(OneHotSizes s, one_hot_sizes(context.infer_view()));
  Tensor& y = context.out();
  ElementBytes bytes(context.in(2), y);
  for (int64_t i = 0; i < y.elements(); ++i) bytes.copy(0, i, 1);
  for (int64_t i = 0; i < s.outer * s.inner; ++i) {
    double v = context.in(0).as_double(i), depth = static_cast<double>(s.depth);
    if (!(v >= -depth && v < depth)) continue;
    auto k = static_cast<int64_t>(v);
    if (k < 0) k += s.depth;
    bytes.copy(1, (i / s.inner * s.depth + k) * s.inner + i % s.inner, 1);
  }
  return {};
}

Status emit_one_hot(EmitContext& context) {
  MRVLC_ASSIGN(OneHotSizes s, one_hot_sizes(emit_view(context)));
  int64_t elements = context.out_type(0).elements();
  if (elements == 0) return {};
  std::string y = context.out(0), values = context.in(2);
  std::string wide = is_float(context.in_type(0).elem) ? "double" : "int64_t";
  MRVLC_TRY(require_widened(context));
  context.line(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) {}[i] = {}[0];", elements, y, values));
  context.loop("i", s.outer * s.inner);
  context.line(fmt::format("const {0} v = ({0}){1}[i];", wide, context.in(0)));
  context.open(fmt::format("if (v >= -{0} && v < {0})", s.depth));
  context.line(fmt::format("const ptrdiff_t k = v < 0 ? (ptrdiff_t)v + {} : (ptrdiff_t)v;", s.depth));
  context.line(
      fmt::format("{0}[(i / {1} * {2} + k % {2}) * {1} + i % {1}] = {3}[1];", y, s.inner, s.depth, values));
  context.close();
  context.close();
  return {};
}

}  // namespace

const OpDef& def_OneHot() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "OneHot";
    d.traits = {.work = Work::Linear};
    d.since_min = 9;
    d.attrs = {with_int("axis", -1)};
    d.min_inputs = d.max_inputs = 3;
    d.types = kNumeric;
    d.infer = infer_one_hot;
    d.eval = eval_one_hot;
    d.emit = emit_one_hot;
    d.infer_dynamic = infer_dynamic_one_hot;
    d.emit_dynamic = emit_dynamic_one_hot;
    d.declined = "the accelerator has no writes at computed addresses";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops

// OneHot (ONNX OneHot-11): indices outside [-depth, depth) give a row of the off value.
#include "common/index_util.h"
#include "common/lanes.h"
#include "common/slices.h"
#include "mrvlc/ops/work.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Result<std::vector<TensorType>> infer_one_hot(const InferContext& context) {
  const TensorType &x = context.type(0), &depth = context.type(1), &values = context.type(2);
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_elem(context, 2, kFixedSize));
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), x.rank() + 1));
  if (!depth.is_static() || depth.elements() != 1) return bad_operands("the depth must be one number");
  if (!values.is_static() || values.shape != Shape{2}) return bad_operands("values must be two elements");
  Dim size = kAnyDim;
  if (context.constant(1) != nullptr) {
    MRVLC_ASSIGN(double known, known_number(context, 1, "depth"));
    if (!(known >= 0)) return bad_operands(fmt::format("a depth of {}", known));
    if (known > static_cast<double>(kMaxElements)) return too_large();
    size = {static_cast<int64_t>(known), false};
  }
  Dims dims = dims_of(x);
  dims.insert(dims.begin() + axis, size);
  return one_type(values.elem, dims, size.dynamic ? kNoBound : all_pairs(x.elements(), size.bound));
}

Status eval_one_hot(const EvalContext& context) {
  MRVLC_ASSIGN(int64_t axis,
               normalize_axis(context.infer_view().int_attr("axis"), context.out().type().rank()));
  const AxisSizes s = axis_sizes(context.out().shape(), axis);
  Tensor& y = context.out();
  ElementBytes bytes(context.in(2), y);
  for (int64_t i = 0; i < y.elements(); ++i) bytes.copy(0, i, 1);
  for (int64_t i = 0; i < s.outer * s.inner; ++i) {
    double v = context.in(0).as_double(i), depth = static_cast<double>(s.dim);
    if (!(v >= -depth && v < depth)) continue;
    auto k = static_cast<int64_t>(v);
    if (k < 0) k += s.dim;
    bytes.copy(1, (i / s.inner * s.dim + k) * s.inner + i % s.inner, 1);
  }
  return {};
}

// The depth as C text, read from the operand where it is no constant.
Result<std::string> depth_text(EmitContext& context) {
  const Tensor* known = context.constant(1);
  if (known != nullptr) return fmt::format("{}", static_cast<int64_t>(known->as_double(0)));
  MRVLC_TRY(require_widened(context, 1));
  const std::string depth = context.in(1) + "[0]";
  const ElementType elem = context.in_type(1).elem;
  const bool may_be_negative = is_float(elem) || is_signed_integer(elem);
  context.fail_if(fmt::format("{}(double){} > {}.0",
                              may_be_negative ? fmt::format("!({} >= 0) || ", depth) : std::string(), depth,
                              kMaxElements));
  context.line(fmt::format("const int64_t classes = (int64_t){};", depth));
  return std::string("classes");
}

Status emit_one_hot(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.node().int_attr("axis"), context.in_type(0).rank() + 1));
  MRVLC_ASSIGN(std::string depth, depth_text(context));
  const Texts x = in_dims(context, 0);
  Texts dims = x;
  dims.insert(dims.begin() + axis, depth);
  context.set_dims(0, dims);
  if (context.out_type(0).elements() == 0) return {};
  depth = named_size(context, "depth", depth);
  const std::string y = context.out(0), values = context.in(2),
                    inner = named_size(context, "inner", product_text(x, at(axis), x.size()));
  const std::string wide = is_float(context.in_type(0).elem) ? "double" : "int64_t";
  const std::string limit = is_number(depth) ? depth : fmt::format("({}){}", wide, depth);
  context.line(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) {}[i] = {}[0];",
                           product_text(out_dims(context)), y, values));
  open_loop(context, "i", product_text(x));
  context.line(fmt::format("const {0} v = ({0}){1}[i];", wide, context.in(0)));
  context.open(fmt::format("if (v >= -{0} && v < {0})", limit));
  context.line(fmt::format("const ptrdiff_t k = v < 0 ? (ptrdiff_t)v + {} : (ptrdiff_t)v;", depth));
  context.line(
      fmt::format("{0}[(i / {1} * {2} + k % {2}) * {1} + i % {1}] = {3}[1];", y, inner, depth, values));
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
    d.infer = d.infer_dynamic = infer_one_hot;
    d.eval = eval_one_hot;
    d.emit = d.emit_dynamic = emit_one_hot;
    d.declined = "the accelerator has no writes at computed addresses";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops

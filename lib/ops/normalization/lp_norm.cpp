// LpNormalization: lanes divided by their 1- or 2-norm (a lane of zeros stays zero).
#include <cmath>

#include "common/emit_util.h"
#include "common/lanes.h"

namespace mrvlc::ops {
namespace {

Result<AxisView> view_of(const ir::OpSchema& op, const std::vector<ir::Attr>& attrs, const Shape& shape) {
  auto axis = std::get<int64_t>(attrs[at(op.attr_index("axis"))]);
  MRVLC_ASSIGN(axis, normalize_axis(axis, static_cast<int64_t>(shape.size())));
  return axis_view(shape, axis);
}

Result<std::vector<TensorType>> infer_lp_norm(const InferContext& c) {
  if (c.int_attr("p") != 1 && c.int_attr("p") != 2) return bad_attr("p", "must be 1 or 2");
  auto view = view_of(*c.op, *c.attrs, c.type(0).shape);
  if (!view.ok()) return std::move(view).error();
  return std::vector<TensorType>{c.type(0)};
}

Status eval_lp_norm(const EvalContext& c) {
  MRVLC_ASSIGN(AxisView view, view_of(*c.op, *c.attrs, c.in(0).shape()));
  bool squares = c.infer_view().int_attr("p") == 2;
  map_lanes(c, view, [&](std::vector<double>& lane) {
    double norm = 0;
    for (double v : lane) norm += squares ? v * v : std::fabs(v);
    if (squares) norm = std::sqrt(norm);
    for (double& v : lane) v = norm == 0 ? 0 : v / norm;
  });
  return {};
}

Status emit_lp_norm(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  MRVLC_ASSIGN(int64_t axis, axis_attr(c));
  set_same_dims(c);
  if (c.out_type(0).elements() == 0) return {};
  const AxisText view(c, 0, axis);
  ElementType elem = c.in_type(0).elem;
  std::string_view f = elem == ElementType::F64 ? "" : "f";
  bool squares = c.node().int_attr("p") == 2;
  open_loop(c, "o", view.outer);
  open_loop(c, "i", view.inner);
  c.line(fmt::format("const {}* x = {} + o * {} + i;", c_type(elem), c.in(0), view.lane()));
  c.line(fmt::format("{}* y = {} + o * {} + i;", c_type(elem), c.out(0), view.lane()));
  emit_sum(c, "norm", elem, view.n, [&](const std::string& k) {
    std::string x = fmt::format("x[{} * {}]", k, view.inner);
    return squares ? fmt::format("{0} * {0}", x) : fmt::format("fabs{}({})", f, x);
  });
  if (squares) c.line(fmt::format("norm = sqrt{}(norm);", f));
  c.line(fmt::format("for (ptrdiff_t k = 0; k < {0}; ++k) y[k * {1}] = norm == 0 ? 0 : x[k * {1}] / norm;",
                     view.n, view.inner));
  c.close();
  c.close();
  return {};
}

}  // namespace

const OpDef& def_LpNormalization() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "LpNormalization";
    d.traits = {.work = Work::Linear};
    d.attrs = {spec::with_int("axis", -1), spec::with_int("p", 2)};
    d.types = spec::kFloats;
    d.infer = infer_lp_norm;
    d.eval = eval_lp_norm;
    d.emit = d.emit_dynamic = emit_lp_norm;
    d.declined = "accelerator: no layer divides lanes by their norm";
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops

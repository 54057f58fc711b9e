// RMSNormalization (ONNX -23): rows of everything from `axis` on, divided by the root of their mean square:
//   y = x / sqrt(mean(x * x) + epsilon) * scale
#include <cmath>

#include "common/bulk.h"
#include "common/emit_util.h"
#include "common/lanes.h"
#include "elementwise/elementwise.h"
#include "mrvlc/support/diag/ops.h"
#include "normalization/row_norm.h"

namespace mrvlc::ops {
namespace {

// The shape of one row; the scale broadcasts to it.
Result<Shape> row_shape(const InferContext& c) {
  MRVLC_ASSIGN(int64_t axis, normalize_axis(c.int_attr("axis"), c.type(0).rank()));
  MRVLC_TRY(check_same_elem(c, 1));
  Shape row(c.type(0).shape.begin() + axis, c.type(0).shape.end());
  auto merged = broadcast_shapes(row, c.type(1).shape);
  if (merged && *merged == row) return row;
  return make_diag<DiagCode::MRV0205>(to_string(c.type(0).shape), to_string(c.type(1).shape),
                                      "the scale must broadcast to the normalised dimensions");
}

Result<std::vector<TensorType>> infer_rms_norm(const InferContext& c) {
  auto row = row_shape(c);
  if (!row.ok()) return std::move(row).error();
  return std::vector<TensorType>{c.type(0)};
}

Status eval_rms_norm(const EvalContext& c) {
  const InferContext view = c.infer_view();
  MRVLC_ASSIGN(Shape shape, row_shape(view));
  const int64_t n = element_count(shape);
  const auto epsilon = static_cast<double>(view.float_attr("epsilon"));
  Tensor normalized(TensorType{ElementType::F64, c.in(0).shape()});
  std::vector<double> row(at(n));
  for (int64_t first = 0; first < c.in(0).elements(); first += n) {
    load_run(c.in(0), first, 1, n, row.data());
    double squares = 0;
    for (double v : row) squares += v * v;
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
    for (double& v : row) v *= inverse;
    store_run(normalized, first, 1, n, row.data());
  }
  static constexpr ScalarOp scale{
      [](const double* x, const ir::OpSchema&, const Attrs&) { return x[0] * x[1]; }, nullptr, nullptr};
  return eval_scalar(scale, c, {&normalized, &c.in(1)}, false);
}

// Pointers x and y to a row of `n` elements, and the inverse of the root of its mean square.
void emit_inverse(EmitContext& c, const std::string& n) {
  const ElementType elem = c.in_type(0).elem;
  emit_row_pointers(c, elem, n);
  emit_sum(c, "squares", elem, n, [](const std::string& i) { return fmt::format("x[{0}] * x[{0}]", i); });
  c.line(fmt::format("const {0} inverse = 1 / sqrt{1}(squares / ({0}){2} + {3});", c_type(elem),
                     elem == ElementType::F64 ? "" : "f", n,
                     c_literal(static_cast<double>(c.node().float_attr("epsilon")), elem)));
}

Status emit_rms_norm(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  MRVLC_ASSIGN(int64_t axis, axis_attr(c));
  set_same_dims(c);
  if (c.out_type(0).elements() == 0) return {};
  const AxisText view(c, 0, axis, true);
  const Texts dims = in_sizes(c, 0), row(dims.begin() + axis, dims.end());
  const LoopTexts loops = broadcast_texts(c, row, {row, in_sizes(c, 1)});
  c.shared_loop("row", view.outer, kRowWork * c.in_type(0).elements());
  emit_inverse(c, view.n);
  for (size_t d = 0; d < loops.size.size(); ++d) open_loop(c, fmt::format("i{}", d), loops.size[d]);
  const std::string i = index_text(loops.strides[0]);
  c.line(fmt::format("y[{0}] = x[{0}] * inverse * {1}[{2}];", i, c.in(1), index_text(loops.strides[1])));
  for (size_t d = 0; d <= loops.size.size(); ++d) c.close();
  return {};
}

}  // namespace

const OpDef& def_RMSNormalization() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "RMSNormalization";
    d.traits = {.work = Work::Linear};
    d.since_min = 23;
    d.attrs = {spec::with_int("axis", -1), spec::with_float("epsilon", 1e-5f),
               spec::with_int("stash_type", 1)};
    d.min_inputs = d.max_inputs = 2;
    d.types = spec::kFloats;
    d.infer = infer_rms_norm;
    d.eval = eval_rms_norm;
    d.emit = d.emit_dynamic = emit_rms_norm;
    d.accel = {LayerKind::Norm};
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops

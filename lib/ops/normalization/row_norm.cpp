// InstanceNormalization and LayerNormalization: runs of memory brought to mean 0 and variance 1, then scaled.
//   y = (x - mean) / sqrt(variance + epsilon) * scale + bias
#include "normalization/row_norm.h"

#include <cmath>

#include "common/bulk.h"
#include "common/dynamic_util.h"
#include "common/emit_util.h"
#include "common/lanes.h"
#include "elementwise/elementwise.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {

Moments moments_of(const std::vector<double>& row, double epsilon) {
  double sum = 0, squares = 0;
  for (double v : row) sum += v;
  double mean = sum / static_cast<double>(row.size());
  for (double v : row) squares += (v - mean) * (v - mean);
  return {mean, 1 / std::sqrt(squares / static_cast<double>(row.size()) + epsilon)};
}

void emit_moments(EmitContext& c, ElementType elem, const std::string& n, float epsilon) {
  std::string_view f = elem == ElementType::F64 ? "" : "f";
  std::string count = fmt::format("({}){}", c_type(elem), n);
  emit_sum(c, "sum", elem, n, [](const std::string& i) { return fmt::format("x[{}]", i); });
  c.line(fmt::format("const {} mean = sum / {};", c_type(elem), count));
  emit_sum(c, "squares", elem, n,
           [](const std::string& i) { return fmt::format("(x[{0}] - mean) * (x[{0}] - mean)", i); });
  c.line(fmt::format("const {0} inverse = 1 / sqrt{1}(squares / {2} + {3});", c_type(elem), f, count,
                     c_literal(static_cast<double>(epsilon), elem)));
}

void emit_row_pointers(EmitContext& c, ElementType elem, const std::string& n) {
  c.line(fmt::format("const {}* x = {} + row * {};", c_type(elem), c.in(0), n));
  c.line(fmt::format("{}* y = {} + row * {};", c_type(elem), c.out(0), n));
}

namespace {

// -- InstanceNormalization: rows are the channels of each image

Status upgrade_instance_norm(RawNode& node) {
  node.take("consumed_inputs");
  return {};
}

Result<std::vector<TensorType>> infer_instance_norm(const InferContext& c) {
  MRVLC_TRY(check_rank(c, 0, 3));
  for (size_t i : {size_t{1}, size_t{2}}) {
    MRVLC_TRY(check_same_elem(c, i));
    if (c.type(i).shape == Shape{c.type(0).shape[1]}) continue;
    return make_diag<DiagCode::MRV0205>(to_string(c.type(0).shape), to_string(c.type(i).shape),
                                        fmt::format("input {} must be a vector over the channels", i));
  }
  return std::vector<TensorType>{c.type(0)};
}

Status eval_instance_norm(const EvalContext& c) {
  auto epsilon = static_cast<double>(c.infer_view().float_attr("epsilon"));
  AxisView view = axis_view(c.in(0).shape(), 1);
  std::vector<double> row(at(view.inner));
  for (int64_t k = 0; k < view.outer * view.n; ++k) {
    load_run(c.in(0), k * view.inner, 1, view.inner, row.data());
    Moments m = moments_of(row, epsilon);
    double factor = m.inverse_deviation * c.in(1).as_double(k % view.n), bias = c.in(2).as_double(k % view.n);
    for (double& v : row) v = (v - m.mean) * factor + bias;
    store_run(c.out(), k * view.inner, 1, view.inner, row.data());
  }
  return {};
}

Status emit_instance_norm(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  set_same_dims(c);
  for (size_t i : {size_t{1}, size_t{2}}) require_equal(c, c.in_dim(i, 0), c.in_dim(0, 1));
  if (c.out_type(0).elements() == 0) return {};
  const AxisText view(c, 0, 1);
  ElementType elem = c.in_type(0).elem;
  c.shared_loop("row", times(view.outer, view.n), kRowWork * c.in_type(0).elements());
  emit_row_pointers(c, elem, view.inner);
  emit_moments(c, elem, view.inner, c.node().float_attr("epsilon"));
  c.line(fmt::format("const {} factor = inverse * {}[row % {}];", c_type(elem), c.in(1), view.n));
  c.line(fmt::format("const {0} offset = {1}[row % {2}] - mean * factor;", c_type(elem), c.in(2), view.n));
  c.line(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) y[i] = x[i] * factor + offset;", view.inner));
  c.close();
  return {};
}

// -- LayerNormalization: rows are everything from `axis` on

Result<AxisView> layer_rows(const InferContext& c) {
  MRVLC_ASSIGN(int64_t axis, normalize_axis(c.int_attr("axis"), c.type(0).rank()));
  return flattened_from(c.type(0).shape, axis);
}

// Scale and bias are read at their own strides; they must broadcast to the data.
Result<std::vector<TensorType>> infer_layer_norm(const InferContext& c) {
  MRVLC_TRY(check_rank(c, 0, 1));
  MRVLC_ASSIGN(int64_t axis, normalize_axis(c.int_attr("axis"), c.type(0).rank()));
  for (size_t i = 1; i < c.num_inputs(); ++i) {
    if (!c.has(i)) continue;
    MRVLC_TRY(check_same_elem(c, i));
    auto merged = broadcast_shapes(c.type(0).shape, c.type(i).shape);
    if (merged && *merged == c.type(0).shape) continue;
    return make_diag<DiagCode::MRV0205>(to_string(c.type(0).shape), to_string(c.type(i).shape),
                                        fmt::format("input {} must broadcast to the data", i));
  }
  std::vector<TensorType> types{c.type(0)};
  TensorType statistics{c.int_attr("stash_type") == 1 ? ElementType::F32 : c.type(0).elem, c.type(0).shape};
  for (auto d = at(axis); d < statistics.shape.size(); ++d) statistics.shape[d] = 1;
  while (types.size() < c.num_outputs) types.push_back(statistics);
  return types;
}

Status eval_layer_norm(const EvalContext& c) {
  InferContext view_of = c.infer_view();
  MRVLC_ASSIGN(AxisView view, layer_rows(view_of));
  auto epsilon = static_cast<double>(view_of.float_attr("epsilon"));
  Tensor normalized(TensorType{ElementType::F64, c.in(0).shape()});
  std::vector<double> row(at(view.n));
  for (int64_t k = 0; k < view.outer && view.n != 0; ++k) {
    load_run(c.in(0), k * view.n, 1, view.n, row.data());
    Moments m = moments_of(row, epsilon);
    for (double& v : row) v = (v - m.mean) * m.inverse_deviation;
    store_run(normalized, k * view.n, 1, view.n, row.data());
    if (c.outputs->size() > 1) c.out(1).set_double(k, m.mean);
    if (c.outputs->size() > 2) c.out(2).set_double(k, m.inverse_deviation);
  }
  // Scale and bias as one broadcasting operation on three operands.
  static constexpr ScalarOp affine{
      [](const double* x, const ir::OpSchema&, const Attrs&) { return x[0] * x[1] + x[2]; }, nullptr,
      nullptr};
  Tensor zero(TensorType{c.in(0).elem(), {}});
  return eval_scalar(affine, c, {&normalized, &c.in(1), c.has(2) ? &c.in(2) : &zero}, false);
}

// The element of a scale or bias, which broadcasts to the data, for element i of a row; rows are everything
// from `axis` on, of n elements. The usual case, one for each element of a row, needs no division.
std::string operand_text(EmitContext& c, size_t input, int64_t axis, const std::string& n) {
  const Texts data = in_sizes(c, 0), own = in_sizes(c, input), strides = broadcast_steps(c, own, data);
  const bool whole = std::equal(own.rbegin(), own.rend(), data.rbegin());
  if (whole && size_product(own) == size_product(data, at(axis), data.size()))
    return fmt::format("{}[i]", c.in(input));
  std::string index;
  for (size_t d = 0; d < data.size(); ++d) {
    if (strides[d] == "0") continue;
    index += fmt::format("{}(row * {} + i) / {} % {} * {}", index.empty() ? "" : " + ", n,
                         size_product(data, d + 1, data.size()), data[d], strides[d]);
  }
  return fmt::format("{}[{}]", c.in(input), index.empty() ? "0" : index);
}

Status emit_layer_norm(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  MRVLC_ASSIGN(int64_t axis, axis_attr(c));
  Texts statistics = in_dims(c, 0);
  for (size_t d = at(axis); d < statistics.size(); ++d) statistics[d] = "1";
  set_same_dims(c);
  for (size_t i = 1; i < c.node().outputs.size(); ++i) c.set_dims(i, statistics);
  if (c.out_type(0).elements() == 0) return {};
  const ElementType elem = c.in_type(0).elem;
  const AxisText view(c, 0, axis, true);
  const std::string bias = c.has(2) ? " + " + operand_text(c, 2, axis, view.n) : "",
                    scale = operand_text(c, 1, axis, view.n);
  c.shared_loop("row", view.outer, kRowWork * c.in_type(0).elements());
  emit_row_pointers(c, elem, view.n);
  emit_moments(c, elem, view.n, c.node().float_attr("epsilon"));
  c.line(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) y[i] = (x[i] - mean) * inverse * {}{};", view.n,
                     scale, bias));
  for (size_t i = 1; i < c.node().outputs.size(); ++i) {
    c.line(
        fmt::format("{}[row] = ({}){};", c.out(i), c_type(c.out_type(i).elem), i == 1 ? "mean" : "inverse"));
  }
  c.close();
  return {};
}

}  // namespace

const OpDef& def_InstanceNormalization() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "InstanceNormalization";
    d.traits = {.work = Work::Linear, .by_channel = true};
    d.attrs = {spec::with_float("epsilon", 1e-5f)};
    d.min_inputs = d.max_inputs = 3;
    d.types = spec::kFloats;
    d.upgrade = upgrade_instance_norm;
    d.infer = infer_instance_norm;
    d.eval = eval_instance_norm;
    d.emit = d.emit_dynamic = emit_instance_norm;
    d.accel = {LayerKind::Norm};
    return d;
  }();
  return op;
}

const OpDef& def_LayerNormalization() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "LayerNormalization";
    d.traits = {.work = Work::Linear};
    d.attrs = {spec::with_int("axis", -1), spec::with_float("epsilon", 1e-5f),
               spec::with_int("stash_type", 1)};
    d.min_inputs = 2;
    d.max_inputs = 3;
    d.max_outputs = 3;
    d.types = spec::kFloats;
    d.infer = infer_layer_norm;
    d.eval = eval_layer_norm;
    d.emit = d.emit_dynamic = emit_layer_norm;
    d.accel = {LayerKind::Norm};
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops

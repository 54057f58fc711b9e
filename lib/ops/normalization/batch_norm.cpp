// BatchNormalization (ONNX -15), at inference: y = (x - mean) / sqrt(var + epsilon) * scale + bias for each
// channel.
#include <cmath>

#include "common/bulk.h"
#include "common/dynamic_util.h"
#include "common/lanes.h"
#include "mrvlc/support/diag/ops.h"
#include "normalization/batch_norm_training.h"

namespace mrvlc::ops {
namespace {

bool is_training(const InferContext& c) {
  return c.int_attr("training_mode") != 0;
}

// Opset 1 to 8 told training by `is_test` and by further outputs, and could keep statistics for each
// position.
Status upgrade_batch_norm(RawNode& node) {
  node.take("consumed_inputs");
  node.take("is_test");
  if (node.opset < 14 && node.num_outputs > 1)
    return bad_operands("further results are those of training, which is supported from opset 14 on");
  ir::Attr spatial = node.take("spatial");
  const auto* flag = std::get_if<int64_t>(&spatial);
  const TensorType* x = node.input_type(0);
  if (flag != nullptr && *flag == 0 && x != nullptr && x->rank() > 2) {
    return bad_attr("spatial", "of 0 is not supported: statistics must be those of channels");
  }
  return {};
}

Result<std::vector<TensorType>> infer_batch_norm(const InferContext& c) {
  if (!is_training(c) && c.num_outputs > 1)
    return bad_attr("training_mode", "is 0, but running statistics are asked for");
  if (is_training(c) && c.type(0).elements() == 0) return bad_operands("there is nothing to train on");
  MRVLC_TRY(check_rank(c, 0, 1));
  int64_t channels = c.type(0).rank() > 1 ? c.type(0).shape[1] : 1;
  for (size_t i = 1; i < 5; ++i) {
    MRVLC_TRY(check_elem(c, i, spec::kFloats));
    if (c.type(i).shape == Shape{channels}) continue;
    return make_diag<DiagCode::MRV0205>(to_string(c.type(0).shape), to_string(c.type(i).shape),
                                        fmt::format("input {} must be a vector over the channels", i));
  }
  std::vector<TensorType> types{c.type(0)};
  for (size_t i = 1; i < c.num_outputs; ++i) types.push_back(c.type(2 + i));
  return types;
}

Status eval_batch_norm(const EvalContext& c) {
  if (is_training(c.infer_view())) return eval_batch_norm_training(c);
  auto epsilon = static_cast<double>(c.infer_view().float_attr("epsilon"));
  AxisView view = axis_view(c.in(0).shape(), 1);
  std::vector<double> row(at(view.inner));
  for (int64_t k = 0; k < view.outer * view.n; ++k) {
    int64_t channel = k % view.n;
    double factor = c.in(1).as_double(channel) / std::sqrt(c.in(4).as_double(channel) + epsilon);
    double mean = c.in(3).as_double(channel), bias = c.in(2).as_double(channel);
    load_run(c.in(0), k * view.inner, 1, view.inner, row.data());
    for (double& v : row) v = (v - mean) * factor + bias;
    store_run(c.out(), k * view.inner, 1, view.inner, row.data());
  }
  return {};
}

Status emit_batch_norm(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  std::string channels = c.in_type(0).rank() > 1 ? c.in_dim(0, 1) : "1";
  for (size_t i = 1; i < 5; ++i) require_equal(c, c.in_dim(i, 0), channels);
  if (c.node().int_attr("training_mode") != 0) return emit_batch_norm_training(c);
  set_same_dims(c);
  if (c.out_type(0).elements() == 0) return {};
  const AxisText view(c, 0, 1);
  ElementType elem = c.in_type(0).elem;
  std::string epsilon = c_literal(static_cast<double>(c.node().float_attr("epsilon")), elem);
  open_loop(c, "b", view.outer);
  open_loop(c, "c", view.n);
  c.line(fmt::format("const {0} factor = ({0})({1}[c] / sqrt{2}({3}[c] + {4}));", c_type(elem), c.in(1),
                     elem == ElementType::F64 ? "" : "f", c.in(4), epsilon));
  c.line(fmt::format("const {0} offset = ({0})({1}[c] - {2}[c] * factor);", c_type(elem), c.in(2), c.in(3)));
  open_loop(c, "i", view.inner);
  std::string index = fmt::format("(b * {} + c) * {} + i", view.n, view.inner);
  c.line(fmt::format("{0}[{2}] = {1}[{2}] * factor + offset;", c.out(0), c.in(0), index));
  for (int k = 0; k < 3; ++k) c.close();
  return {};
}

}  // namespace

const OpDef& def_BatchNormalization() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "BatchNormalization";
    d.traits = {.work = Work::Linear, .by_channel = true};
    d.attrs = {spec::with_float("epsilon", 1e-5f), spec::with_float("momentum", 0.9f),
               spec::with_int("training_mode", 0)};
    d.min_inputs = d.max_inputs = 5;
    d.max_outputs = 3;
    d.types = spec::kFloats;
    d.upgrade = upgrade_batch_norm;
    d.infer = infer_batch_norm;
    d.eval = eval_batch_norm;
    d.emit = d.emit_dynamic = emit_batch_norm;
    d.accel = {LayerKind::Norm};
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops

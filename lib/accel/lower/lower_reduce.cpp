// Reductions, softmax and normalisations: chains of stages over one iteration space, intermediate values in
// fp32.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lower/lowering.h"
#include "lower/sums.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/support/checked.h"

namespace mrvlc::accel {
namespace {

using isa::EwOp;
using isa::ReduceOp;

int64_t count_of(const Dims& dims, const std::vector<int64_t>& axes) {
  int64_t n = 1;
  for (int64_t a : axes) n *= dims[static_cast<size_t>(a)];
  return n;
}

// `value` with the dimensions of `like`, those that were reduced and dropped as 1.
View kept_dims(Lowering& l, ir::ValueId value, const Dims& like, const std::vector<int64_t>& axes) {
  View out = l.result(value);
  if (out.dims.size() != like.size())
    for (int64_t a : axes) out = unsqueezed(out, static_cast<size_t>(a));
  return out;
}

EpilogueSpec table_of(Lowering& l, const std::function<double(double)>& f) {
  EpilogueSpec e;
  e.activation = isa::Activation::Table;
  e.table = l.table(make_table(f));
  return e;
}

}  // namespace

Status lower_reduce(Lowering& l) {
  const ir::Node& node = l.graph().node(l.layer().anchor);
  Reduction r;
  MRVLC_ASSIGN(r.axes, ops::reduce_axes(ops::infer_context(l.graph(), node)));
  const Dims& in = l.shape(node.inputs[0]);
  if (node.is(Op::ReduceMax)) {
    r.op = ReduceOp::Max;
  } else if (node.is(Op::ReduceMin)) {
    r.op = ReduceOp::Min;
  } else if (node.is(Op::ReduceSumSquare)) {
    r.op = ReduceOp::SumOfSquares;
  } else if (node.is(Op::ReduceProd)) {
    r.op = ReduceOp::Prod;
  } else if (node.is(Op::ReduceMean)) {
    r.alpha = 1.0f / static_cast<float>(count_of(in, r.axes));
  } else if (!node.is(Op::ReduceSum)) {
    return make_diag<DiagCode::MRV0502>("operator " + std::string(node.op->name));
  }
  View out = kept_dims(l, node.outputs[0], in, r.axes);
  MRVLC_TRY(reduce_to(l, l.read(node.inputs[0]), r, out, node.id));
  return finish_layer(l, node.outputs[0]);
}

namespace {

// max + log of the sum of exp(x - max). An infinite maximum is taken as the largest finite number, which
// leaves infinities where they are: the difference of two would be NaN.
Status log_sum_exp(Lowering& l, const ir::Node& node) {
  const Dims& dims = l.shape(node.inputs[0]);
  MRVLC_ASSIGN(std::vector<int64_t> axes, ops::reduce_axes(ops::infer_context(l.graph(), node)));
  PeBuilder b(l, dims, node.id);
  PeOperand x = b.view(l.read(node.inputs[0]));
  PeOperand max = b.reduced_temp(axes), e = b.temp(), sum = b.reduced_temp(axes), log = b.reduced_temp(axes),
            y = b.reduced_temp(axes);
  EpilogueSpec finite;
  finite.activation = isa::Activation::Clip;
  finite.alpha = std::numeric_limits<float>::lowest();
  finite.beta = std::numeric_limits<float>::max();
  b.reduce(ReduceOp::Max, max, x, 1, 0, finite);
  b.apply(EwOp::Sub, e, x, max, 0, 0, table_of(l, [](double v) { return std::exp(v); }));
  b.reduce(ReduceOp::Sum, sum, e);
  b.apply(EwOp::Copy, log, sum, {}, 0, 0, table_of(l, [](double v) { return std::log(v); }));
  b.apply(EwOp::Add, y, log, max);
  return b.finish(y, kept_dims(l, node.outputs[0], dims, axes));
}

}  // namespace

// x - max, its exponential, the sum of those; then the quotient, or for the logarithm the difference from
// log(sum).
Status lower_softmax(Lowering& l) {
  const ir::Node& node = l.graph().node(l.layer().anchor);
  if (node.is(Op::ReduceLogSumExp)) {
    MRVLC_TRY(log_sum_exp(l, node));
    return finish_layer(l, node.outputs[0]);
  }
  const Dims& dims = l.shape(node.inputs[0]);
  MRVLC_ASSIGN(int64_t axis, ops::normalize_axis(ops::attr::axis(node), static_cast<int64_t>(dims.size())));
  PeBuilder b(l, dims, node.id);
  PeOperand x = b.view(l.read(node.inputs[0]));
  PeOperand max = b.reduced_temp({axis});
  b.reduce(ReduceOp::Max, max, x);
  EpilogueSpec exp = table_of(l, [](double v) { return std::exp(v); });
  PeOperand e = b.temp(), sum = b.reduced_temp({axis});
  if (node.is(Op::LogSoftmax)) {
    PeOperand centred = b.temp(), scale = b.reduced_temp({axis});
    b.apply(EwOp::Sub, centred, x, max);
    b.apply(EwOp::Copy, e, centred, {}, 0, 0, exp);
    b.reduce(ReduceOp::Sum, sum, e);
    b.apply(EwOp::Copy, scale, sum, {}, 0, 0, table_of(l, [](double v) { return std::log(v); }));
    PeOperand y = b.temp();
    b.apply(EwOp::Sub, y, centred, scale);
    MRVLC_TRY(b.finish(y, l.result(node.outputs[0])));
  } else {
    b.apply(EwOp::Sub, e, x, max, 0, 0, exp);
    b.reduce(ReduceOp::Sum, sum, e);
    PeOperand inverse = b.reduced_temp({axis});
    b.apply(EwOp::Reciprocal, inverse, sum);
    PeOperand y = b.temp();
    b.apply(EwOp::Mul, y, e, inverse);
    MRVLC_TRY(b.finish(y, l.result(node.outputs[0])));
  }
  return finish_layer(l, node.outputs[0]);
}

namespace {

// A constant operand in fp32, its dimensions placed so that it broadcasts to `rank` dimensions from `first`
// on.
View parameter(Lowering& l, ir::ValueId v, size_t first, size_t rank) {
  const Tensor* t = l.graph().constant(v);
  std::vector<float> values;
  for (double d : t->to_doubles()) values.push_back(static_cast<float>(d));
  Dims dims = t->shape();
  dims.insert(dims.begin(), first, 1);
  while (dims.size() < rank) dims.push_back(1);
  return l.constant(values, dims, isa::DataType::F32);
}

constexpr size_t kFromRight = SIZE_MAX;

// Factors of 1 and terms of 0 are not computed with.
bool changes_nothing(const Tensor& t, double neutral) {
  for (int64_t i = 0; i < t.elements(); ++i)
    if (t.as_double(i) != neutral) return false;
  return true;
}

struct Statistics {
  View x;                    // what is scaled,
  std::optional<View> mean;  // less this
  View variance;             // fp32: variance + epsilon
};

// Only the mean of squares counts: nothing is taken away.
bool takes_mean_away(const ir::Node& node) {
  return !node.is(Op::RMSNormalization);
}

// One group would leave tiles without work: only what is not summed can be divided along a row. Where it is
// short, dividing costs more than it saves.
bool few_rows(const Lowering& l, const Dims& dims, const std::vector<int64_t>& axes) {
  constexpr int64_t kLong = 512;
  int64_t row = count_of(dims, axes), all = 1;
  for (int64_t d : dims) all *= d;
  return row >= kLong && all / row < l.machine().max_tiles;
}

// Sums that take several steps, and those of few rows, are groups of their own.
Result<Statistics> statistics_apart(Lowering& l, const ir::Node& node, const Reduction& mean_of,
                                    const Reduction& variance_of) {
  View x = l.read(node.inputs[0]);
  Dims kept = x.dims;
  for (int64_t a : mean_of.axes) kept[static_cast<size_t>(a)] = 1;
  auto stored = [&](const Dims& d) { return l.scratch(d, l.perm_of(node.outputs[0]), isa::DataType::F32); };
  Statistics s{x, std::nullopt, stored(kept)};
  Reduction squares = variance_of;
  if (takes_mean_away(node)) {
    s.mean = stored(kept);
    MRVLC_TRY(reduce_to(l, x, mean_of, *s.mean, node.id));
    squares.less = s.mean;
  }
  MRVLC_TRY(reduce_to(l, x, squares, s.variance, node.id));
  return s;
}

// (x - mean) / sqrt(variance + epsilon) over `axes`, or x / sqrt(mean square + epsilon), then scale and bias
// (either may be absent).
Status normalise(Lowering& l, const ir::Node& node, const std::vector<int64_t>& axes,
                 size_t parameters_from) {
  const Dims& dims = l.shape(node.inputs[0]);
  float share = 1.0f / static_cast<float>(count_of(dims, axes));
  bool instance = parameters_from != kFromRight;  // rows of a layer normalisation fit on-chip memory
  Reduction mean_of{ReduceOp::Sum, axes, share, 0, instance},
      variance_of{ReduceOp::SumOfSquares, axes, share, ops::attr::epsilon(node), instance};
  PeBuilder b(l, dims, node.id);
  PeOperand centred, variance;
  if (at_once(dims, mean_of) && !few_rows(l, dims, axes)) {
    centred = b.view(l.read(node.inputs[0]));
    if (takes_mean_away(node)) {
      PeOperand x = centred, mean = b.reduced_temp(axes);
      centred = b.temp();
      b.reduce(mean_of.op, mean, x, mean_of.alpha);
      b.apply(EwOp::Sub, centred, x, mean);
    }
    variance = b.reduced_temp(axes);
    b.reduce(variance_of.op, variance, centred, variance_of.alpha, variance_of.beta);
  } else {
    MRVLC_ASSIGN(Statistics apart, statistics_apart(l, node, mean_of, variance_of));
    centred = b.view(apart.x);
    if (apart.mean) {
      centred = b.temp();
      b.apply(EwOp::Sub, centred, b.view(apart.x), b.view(*apart.mean));
    }
    variance = b.view(apart.variance);
  }
  PeOperand deviation = b.reduced_temp(axes), inverse = b.reduced_temp(axes), y = b.temp();
  b.apply(EwOp::Sqrt, deviation, variance);
  b.apply(EwOp::Reciprocal, inverse, deviation);
  b.apply(EwOp::Mul, y, centred, inverse);
  for (size_t i = 1; i < 3; ++i) {
    if (i >= node.inputs.size() || !node.inputs[i].valid()) continue;
    if (!l.graph().is_constant(node.inputs[i]))
      return make_diag<DiagCode::MRV0502>("scale or bias is not constant");
    if (changes_nothing(*l.graph().constant(node.inputs[i]), i == 1 ? 1 : 0)) continue;
    size_t own = l.shape(node.inputs[i]).size();  // aligned to the right unless told where to start
    size_t first = parameters_from == kFromRight ? dims.size() - own : parameters_from;
    PeOperand p = b.view(parameter(l, node.inputs[i], first, dims.size())), t = b.temp();
    b.apply(i == 1 ? EwOp::Mul : EwOp::Add, t, y, p);
    y = t;
  }
  return b.finish(y, l.result(node.outputs[0]));
}

Status batch_norm(Lowering& l, const ir::Node& node) {
  const Dims& dims = l.shape(node.inputs[0]);
  std::vector<const Tensor*> c;
  for (size_t i = 1; i < 5; ++i) {
    c.push_back(l.graph().constant(node.inputs[i]));
    if (c.back() == nullptr) return make_diag<DiagCode::MRV0502>("statistics are not constant");
  }
  std::vector<float> scale, shift;
  for (int64_t i = 0; i < c[0]->elements(); ++i) {
    double s =
        c[0]->as_double(i) / std::sqrt(c[3]->as_double(i) + static_cast<double>(ops::attr::epsilon(node)));
    scale.push_back(static_cast<float>(s));
    shift.push_back(static_cast<float>(c[1]->as_double(i) - c[2]->as_double(i) * s));
  }
  Dims along(dims.size(), 1);
  along[1] = dims[1];
  PeBuilder b(l, dims, node.id);
  PeOperand t = b.temp(), y = b.temp();
  b.apply(EwOp::Mul, t, b.view(l.read(node.inputs[0])), b.view(l.constant(scale, along, isa::DataType::F32)));
  b.apply(EwOp::Add, y, t, b.view(l.constant(shift, along, isa::DataType::F32)));
  return b.finish(y, l.result(node.outputs[0]));
}

}  // namespace

Status lower_norm(Lowering& l) {
  const ir::Node& node = l.graph().node(l.layer().anchor);
  auto rank = static_cast<int64_t>(l.shape(node.inputs[0]).size());
  for (size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i].valid() && l.graph().use_count(node.outputs[i]) > 0)
      return make_diag<DiagCode::MRV0502>("statistics as outputs");
  std::vector<int64_t> axes;
  if (node.is(Op::BatchNormalization)) {
    MRVLC_TRY(batch_norm(l, node));
  } else if (node.is(Op::InstanceNormalization)) {
    for (int64_t d = 2; d < rank; ++d) axes.push_back(d);
    MRVLC_TRY(normalise(l, node, axes, 1));
  } else if (node.is(Op::LayerNormalization, Op::RMSNormalization)) {
    MRVLC_ASSIGN(int64_t axis, ops::normalize_axis(ops::attr::axis(node), rank));
    for (int64_t d = axis; d < rank; ++d) axes.push_back(d);
    MRVLC_TRY(normalise(l, node, axes, kFromRight));
  } else {
    return make_diag<DiagCode::MRV0502>("operator " + std::string(node.op->name));
  }
  return finish_layer(l, node.outputs[0]);
}

}  // namespace mrvlc::accel

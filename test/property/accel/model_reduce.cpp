// Reductions, softmax and normalisations.
#include <algorithm>
#include <cmath>
#include <limits>

#include "model.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel_random {
namespace {

float combine(Fold fold, bool first, float v, float x) {
  switch (fold) {
    case Fold::Sum:
      return first ? x : v + x;
    case Fold::Squares:
      return std::fma(x, x, first ? 0.0f : v);
    case Fold::Max:
      return first ? x : maximum(v, x);
    case Fold::Min:
      return first ? x : minimum(v, x);
    case Fold::Product:
      return first ? x : v * x;
  }
  return v;
}

// The sums along one dimension of `part` elements each (the last of what is left), ending with fma(alpha, v,
// beta).
Tensor along(const Tensor& x, size_t axis, int64_t part, Fold fold, float alpha, float beta) {
  Shape out = x.shape(), from = row_major_strides(x.shape());
  int64_t n = out[axis];
  out[axis] = (n + part - 1) / part;
  Tensor r = zeros(out);
  std::span<float> to = r.mutable_data<float>();
  each_index(out, [&](Shape index, int64_t i) {
    int64_t begin = index[axis] * part;
    index[axis] = 0;
    const float* row = x.data<float>().data() + position(index, from);
    float v = 0;
    for (int64_t k = begin; k < std::min(n, begin + part); ++k)
      v = combine(fold, k == begin, v, row[k * from[axis]]);
    to[static_cast<size_t>(i)] = std::fma(alpha, v, beta);
  });
  return r;
}

// r[i] = f(x[i], s[i]) where s is repeated.
Tensor with(const Tensor& x, const Tensor& s, const Binary& f) {
  Tensor r = zeros(x.shape());
  Shape strides = broadcast_strides(s.shape(), x.shape());
  std::span<float> out = r.mutable_data<float>();
  each_index(x.shape(), [&](const Shape& index, int64_t i) {
    out[static_cast<size_t>(i)] = f(x.data<float>()[static_cast<size_t>(i)],
                                    s.data<float>()[static_cast<size_t>(position(index, strides))]);
  });
  return r;
}

float minus(float a, float b) {
  return a - b;
}
float times(float a, float b) {
  return a * b;
}
float plus(float a, float b) {
  return a + b;
}

void each(Tensor& t, const Unary& f) {
  for (float& v : t.mutable_data<float>()) v = f(v);
}

int64_t count_of(const Shape& dims, const std::vector<int64_t>& axes) {
  int64_t n = 1;
  for (int64_t a : axes) n *= dims[static_cast<size_t>(a)];
  return n;
}

}  // namespace

// One dimension after the other, the last first; long ones in parts of 1024. Dimensions of one element do not
// count.
Tensor reduced(Tensor x, std::vector<int64_t> axes, Fold fold, bool parts, float alpha, float beta) {
  std::vector<int64_t> wide;
  for (int64_t a : axes)
    if (x.shape()[static_cast<size_t>(a)] > 1) wide.push_back(a);
  axes = wide.empty() ? std::vector<int64_t>{axes.back()} : wide;
  for (size_t i = axes.size(); i-- > 0;) {
    auto axis = static_cast<size_t>(axes[i]);
    Fold further = fold == Fold::Squares ? Fold::Sum : fold;
    if (parts && x.shape()[axis] > 1024) {
      x = along(x, axis, 1024, fold, 1, 0);
      fold = further;
    }
    x = along(x, axis, x.shape()[axis], fold, i == 0 ? alpha : 1, i == 0 ? beta : 0);
    fold = further;
  }
  return x;
}

Status Model::reduce(const partition::Layer& layer) {
  const ir::Node& node = graph_.node(layer.anchor);
  MRVLC_ASSIGN(std::vector<int64_t> axes, ops::reduce_axes(ops::infer_context(graph_, node)));
  Fold fold = node.is(Op::ReduceMax)         ? Fold::Max
              : node.is(Op::ReduceMin)       ? Fold::Min
              : node.is(Op::ReduceProd)      ? Fold::Product
              : node.is(Op::ReduceSumSquare) ? Fold::Squares
                                             : Fold::Sum;
  const Tensor& x = get(node.inputs[0]);
  float alpha = node.is(Op::ReduceMean) ? 1.0f / static_cast<float>(count_of(x.shape(), axes)) : 1.0f;
  store(node.outputs[0], reduced(x, axes, fold, true, alpha).reshaped(shape(node.outputs[0])));
  return {};
}

Status Model::softmax(const partition::Layer& layer) {
  const ir::Node& node = graph_.node(layer.anchor);
  if (node.is(Op::ReduceLogSumExp)) return log_sum_exp(node);
  const Tensor& x = get(node.inputs[0]);
  MRVLC_ASSIGN(int64_t axis, ops::normalize_axis(node.int_attr("axis"), x.type().rank()));
  Tensor centred = with(x, reduced(x, {axis}, Fold::Max, false), minus), e = centred;
  std::vector<float> exp = segments([](double v) { return std::exp(v); });
  each(e, [&](float v) { return look_up(exp, v); });
  Tensor sum = reduced(e, {axis}, Fold::Sum, false);
  if (node.is(Op::LogSoftmax)) {
    std::vector<float> log = segments([](double v) { return std::log(v); });
    each(sum, [&](float v) { return look_up(log, v); });
    store(node.outputs[0], with(centred, sum, minus));
  } else {
    each(sum, [](float v) { return 1 / v; });
    store(node.outputs[0], with(e, sum, times));
  }
  return {};
}

Status Model::log_sum_exp(const ir::Node& node) {
  const Tensor& x = get(node.inputs[0]);
  MRVLC_ASSIGN(std::vector<int64_t> axes, ops::reduce_axes(ops::infer_context(graph_, node)));
  constexpr float kMost = std::numeric_limits<float>::max();
  Tensor most = reduced(x, axes, Fold::Max, false);
  each(most, [](float v) { return v < -kMost ? -kMost : v > kMost ? kMost : v; });
  Tensor e = with(x, most, minus);
  std::vector<float> exp = segments([](double v) { return std::exp(v); }),
                     log = segments([](double v) { return std::log(v); });
  each(e, [&](float v) { return look_up(exp, v); });
  Tensor sum = reduced(e, axes, Fold::Sum, false);
  each(sum, [&](float v) { return look_up(log, v); });
  store(node.outputs[0], with(sum, most, plus).reshaped(shape(node.outputs[0])));
  return {};
}

Status Model::normalise(const ir::Node& node, const std::vector<int64_t>& axes, size_t parameters_from) {
  const Tensor& x = get(node.inputs[0]);
  bool parts = parameters_from > 0;  // the rows of a layer normalisation are summed as they are
  float share = 1.0f / static_cast<float>(count_of(x.shape(), axes));
  Tensor y = x;
  if (!node.is(Op::RMSNormalization)) y = with(x, reduced(x, axes, Fold::Sum, parts, share), minus);
  Tensor deviation = reduced(y, axes, Fold::Squares, parts, share, node.float_attr("epsilon"));
  each(deviation, [](float v) { return 1 / std::sqrt(v); });
  y = with(y, deviation, times);
  for (size_t i = 1; i < 3 && i < node.inputs.size(); ++i) {
    const Tensor* c = graph_.constant(node.inputs[i]);
    if (c == nullptr) continue;
    std::vector<double> values = c->to_doubles();
    if (std::ranges::count(values, i == 1 ? 1.0 : 0.0) == c->elements()) continue;
    Shape dims = c->shape();  // to the right, or from a given dimension on
    if (parameters_from > 0) {
      dims.insert(dims.begin(), parameters_from, 1);
      dims.resize(x.shape().size(), 1);
    }
    y = with(y, c->reshaped(dims), i == 1 ? times : plus);
  }
  store(node.outputs[0], y);
  return {};
}

Status Model::batch_norm(const ir::Node& node) {
  const Tensor& x = get(node.inputs[0]);
  Shape along(x.shape().size(), 1);
  along[1] = x.shape()[1];
  Tensor scale = zeros(along), shift = zeros(along);
  for (int64_t c = 0; c < along[1]; ++c) {
    auto value = [&](size_t i) { return graph_.constant(node.inputs[i])->as_double(c); };
    double s = value(1) / std::sqrt(value(4) + static_cast<double>(node.float_attr("epsilon")));
    scale.set_double(c, s);
    shift.set_double(c, value(2) - value(3) * s);
  }
  store(node.outputs[0], with(with(x, scale, times), shift, plus));
  return {};
}

Status Model::norm(const partition::Layer& layer) {
  const ir::Node& node = graph_.node(layer.anchor);
  if (node.is(Op::BatchNormalization)) return batch_norm(node);
  auto rank = static_cast<int64_t>(shape(node.inputs[0]).size());
  std::vector<int64_t> axes;
  int64_t first = 2;
  bool rows = node.is(Op::LayerNormalization, Op::RMSNormalization);
  if (rows) {
    MRVLC_ASSIGN(first, ops::normalize_axis(node.int_attr("axis"), rank));
  }
  for (int64_t d = first; d < rank; ++d) axes.push_back(d);
  return normalise(node, axes, rows ? 0 : 1);
}

}  // namespace mrvlc::accel_random

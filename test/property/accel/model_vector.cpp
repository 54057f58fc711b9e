// Element-wise layers and epilogues, reductions, softmax and normalisations.
#include <algorithm>
#include <cmath>

#include "model.h"
#include "mrvlc/support/diag/accel.h"

namespace mrvlc::accel_random {
namespace {

float maximum(float a, float b) {
  return a != a ? a : b != b ? b : a > b ? a : b;
}
float minimum(float a, float b) {
  return a != a ? a : b != b ? b : a < b ? a : b;
}

using Binary = std::function<float(float, float)>;
Binary binary_of(const ir::Node& node) {
  if (node.is("Add")) return [](float a, float b) { return a + b; };
  if (node.is("Sub")) return [](float a, float b) { return a - b; };
  if (node.is("Mul")) return [](float a, float b) { return a * b; };
  if (node.is("Div")) return [](float a, float b) { return a / b; };
  if (node.is("Max")) return maximum;
  if (node.is("Min")) return minimum;
  if (node.is("PRelu")) return [](float a, float b) { return a < 0 ? a * b : a; };
  return {};
}

// fma(alpha, x, beta), for the operators that are a line in one operand when the other is one constant value.
std::optional<Unary> line_of(const ir::Node& node, bool constant_left, double c) {
  auto line = [](double alpha, double beta) -> Unary {
    return
        [a = static_cast<float>(alpha), b = static_cast<float>(beta)](float x) { return std::fma(a, x, b); };
  };
  if (node.is("Add")) return line(1, c);
  if (node.is("Sub")) return constant_left ? line(-1, c) : line(1, -c);
  if (node.is("Mul") && std::isfinite(c) && c != 0) return line(c, 0);
  if (node.is("Div") && !constant_left && std::isfinite(1 / c)) return line(1 / c, 0);
  return std::nullopt;
}

Unary instruction_of(const ir::Node& node) {
  if (node.is("Sqrt")) return [](float x) { return std::sqrt(x); };
  if (node.is("Reciprocal")) return [](float x) { return 1 / x; };
  if (node.is("Abs")) return [](float x) { return std::fabs(x); };
  if (node.is("Neg")) return [](float x) { return -x; };
  if (node.is("Floor")) return [](float x) { return std::floor(x); };
  if (node.is("Ceil")) return [](float x) { return -std::floor(-x); };
  return {};
}

}  // namespace

// The value between the nodes stays in float.
class Chain {
 public:
  Chain(Model& model, ir::ValueId value) : m_(model), value_(value) {
    if (value.valid()) current_ = model.get(value);
  }

  Status append(const ir::Node& node) {
    const Shape& out = m_.shape(node.outputs[0]);
    const Tensor* left = scalar(node, 0);
    const Tensor* right = node.inputs.size() > 1 ? scalar(node, 1) : nullptr;
    Tensor result;
    if (std::optional<Unary> f = activation_of(m_.graph_, node)) {
      result = map(operand(node, 0), *f);
    } else if (Unary instruction = instruction_of(node)) {
      result = map(operand(node, 0), instruction);
    } else if (node.is("Pow")) {
      MRVLC_ASSIGN(result, power(node, right->as_double(0)));
    } else {
      std::optional<Unary> line;
      if ((left != nullptr) != (right != nullptr))
        line = line_of(node, left != nullptr, (left != nullptr ? left : right)->as_double(0));
      Binary g = binary_of(node);
      if (!g) return make_diag<DiagCode::MRV0502>(std::string(node.op->name));
      result = line ? map(spread(operand(node, left != nullptr ? 1 : 0), out), *line)
                    : map2(spread(operand(node, 0), out), spread(operand(node, 1), out), g);
    }
    current_ = std::move(result);
    value_ = node.outputs[0];
    return {};
  }
  Tensor take() { return std::move(current_); }
  ir::ValueId value() const { return value_; }

 private:
  const Tensor* scalar(const ir::Node& node, size_t i) const {
    const Tensor* t = m_.graph_.constant(node.inputs[i]);
    return t != nullptr && t->elements() == 1 ? t : nullptr;
  }
  const Tensor& operand(const ir::Node& node, size_t i) {
    return node.inputs[i] == value_ ? current_ : m_.get(node.inputs[i]);
  }
  static Tensor map(const Tensor& x, const Unary& f) {
    Tensor r = zeros(x.shape());
    std::span<float> out = r.mutable_data<float>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = f(x.data<float>()[i]);
    return r;
  }
  static Tensor map2(const Tensor& a, const Tensor& b, const Binary& f) {
    Tensor r = zeros(a.shape());
    std::span<float> out = r.mutable_data<float>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = f(a.data<float>()[i], b.data<float>()[i]);
    return r;
  }
  static Tensor spread(const Tensor& x, const Shape& to) {
    if (x.shape() == to) return x;
    Tensor r = zeros(to);
    Shape strides = broadcast_strides(x.shape(), to);
    std::span<float> out = r.mutable_data<float>();
    each_index(to, [&](const Shape& index, int64_t i) {
      out[static_cast<size_t>(i)] = x.data<float>()[static_cast<size_t>(position(index, strides))];
    });
    return r;
  }
  // A square is a product; other exponents are looked up.
  Result<Tensor> power(const ir::Node& node, double exponent) {
    const Tensor& x = operand(node, 0);
    if (exponent == 2) return map2(x, x, [](float a, float b) { return a * b; });
    const ops::ScalarOp* pow = ops::op_def(node).scalar;
    auto f = [&](double v) {
      double args[2] = {v, exponent};
      return pow->eval(args, *node.op, node.attrs);
    };
    return map(x, [table = segments(f)](float v) { return look_up(table, v); });
  }

  Model& m_;
  ir::ValueId value_;
  Tensor current_;
};

Status Model::chain(const partition::Layer& layer, size_t from, ir::ValueId value) {
  if (from == layer.nodes.size()) return {};
  Chain c(*this, value);
  for (size_t i = from; i < layer.nodes.size(); ++i) MRVLC_TRY(c.append(graph_.node(layer.nodes[i])));
  ir::ValueId result = c.value();
  store(result, c.take());
  return {};
}

namespace {

enum class Fold { Sum, Squares, Max, Min, Product };

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

Shape kept_shape(const Shape& in, const std::vector<int64_t>& axes) {
  Shape kept = in;
  for (int64_t a : axes) kept[static_cast<size_t>(a)] = 1;
  return kept;
}

// One value for each position outside the axes; elements are visited in the order of `order` (dimensions,
// outermost first). fma(alpha, v, beta) at the end.
Tensor folded(const Tensor& x, const std::vector<int64_t>& axes, const std::vector<size_t>& order, Fold fold,
              float alpha = 1, float beta = 0) {
  Tensor r = zeros(kept_shape(x.shape(), axes));
  std::vector<bool> seen(static_cast<size_t>(r.elements()), false);
  Shape to = broadcast_strides(r.shape(), x.shape()), from = row_major_strides(x.shape());
  Shape dims, from_o, to_o;
  for (size_t d : order) {
    dims.push_back(x.shape()[d]);
    from_o.push_back(from[d]);
    to_o.push_back(to[d]);
  }
  std::span<float> out = r.mutable_data<float>();
  each_index(dims, [&](const Shape& index, int64_t) {
    auto at = static_cast<size_t>(position(index, to_o));
    out[at] =
        combine(fold, !seen[at], out[at], x.data<float>()[static_cast<size_t>(position(index, from_o))]);
    seen[at] = true;
  });
  for (float& v : out) v = std::fma(alpha, v, beta);
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

// The order matters when more than one reduced dimension has several elements.
bool order_matters(const Shape& dims, const std::vector<int64_t>& axes) {
  int64_t wide = 0;
  for (int64_t a : axes) wide += dims[static_cast<size_t>(a)] > 1 ? 1 : 0;
  return wide > 1;
}

}  // namespace

Result<std::vector<size_t>> Model::order_for(ir::ValueId value, const std::vector<int64_t>& axes) const {
  std::optional<std::vector<size_t>> order = storage_.order(value);
  if (order) return *order;
  if (order_matters(shape(value), axes))
    return make_diag<DiagCode::MRV0502>("the order of a view's elements");
  std::vector<size_t> row_major;
  for (size_t d = 0; d < shape(value).size(); ++d) row_major.push_back(d);
  return row_major;
}

Status Model::reduce(const partition::Layer& layer) {
  const ir::Node& node = graph_.node(layer.anchor);
  MRVLC_ASSIGN(std::vector<int64_t> axes, ops::reduce_axes(ops::infer_context(graph_, node)));
  MRVLC_ASSIGN(std::vector<size_t> order, order_for(node.inputs[0], axes));
  Fold fold = node.is("ReduceMax")         ? Fold::Max
              : node.is("ReduceMin")       ? Fold::Min
              : node.is("ReduceProd")      ? Fold::Product
              : node.is("ReduceSumSquare") ? Fold::Squares
                                           : Fold::Sum;
  const Tensor& x = get(node.inputs[0]);
  float alpha = node.is("ReduceMean") ? 1.0f / static_cast<float>(count_of(x.shape(), axes)) : 1.0f;
  std::vector<int64_t> sorted = axes;
  std::ranges::sort(sorted);
  bool by_rows = (fold == Fold::Sum || fold == Fold::Squares) && x.shape().size() == 4 &&
                 sorted == std::vector<int64_t>{2, 3};
  Tensor y = by_rows ? folded(folded(x, {3}, order, fold, 1.0f), {2}, order, Fold::Sum, alpha)
                     : folded(x, axes, order, fold, alpha);
  store(node.outputs[0], y.reshaped(shape(node.outputs[0])));
  return {};
}

Status Model::softmax(const partition::Layer& layer) {
  const ir::Node& node = graph_.node(layer.anchor);
  const Tensor& x = get(node.inputs[0]);
  MRVLC_ASSIGN(int64_t axis, ops::normalize_axis(node.int_attr("axis"), x.type().rank()));
  MRVLC_ASSIGN(std::vector<size_t> order, order_for(node.inputs[0], {axis}));
  Tensor centred = with(x, folded(x, {axis}, order, Fold::Max), minus), e = centred;
  std::vector<float> exp = segments([](double v) { return std::exp(v); });
  each(e, [&](float v) { return look_up(exp, v); });
  Tensor sum = folded(e, {axis}, order, Fold::Sum);
  if (node.is("LogSoftmax")) {
    std::vector<float> log = segments([](double v) { return std::log(v); });
    each(sum, [&](float v) { return look_up(log, v); });
    store(node.outputs[0], with(centred, sum, minus));
  } else {
    each(sum, [](float v) { return 1 / v; });
    store(node.outputs[0], with(e, sum, times));
  }
  return {};
}

Status Model::normalise(const ir::Node& node, const std::vector<int64_t>& axes, size_t parameters_from) {
  const Tensor& x = get(node.inputs[0]);
  MRVLC_ASSIGN(std::vector<size_t> order, order_for(node.inputs[0], axes));
  float share = 1.0f / static_cast<float>(count_of(x.shape(), axes));
  Tensor y = with(x, folded(x, axes, order, Fold::Sum, share), minus);
  Tensor deviation = folded(y, axes, order, Fold::Squares, share, node.float_attr("epsilon"));
  each(deviation, [](float v) { return 1 / std::sqrt(v); });
  y = with(y, deviation, times);
  for (size_t i = 1; i < 3 && i < node.inputs.size(); ++i) {
    const Tensor* c = graph_.constant(node.inputs[i]);
    if (c == nullptr) continue;
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
  if (node.is("BatchNormalization")) return batch_norm(node);
  auto rank = static_cast<int64_t>(shape(node.inputs[0]).size());
  std::vector<int64_t> axes;
  int64_t first = 2;
  if (node.is("LayerNormalization")) {
    MRVLC_ASSIGN(first, ops::normalize_axis(node.int_attr("axis"), rank));
  }
  for (int64_t d = first; d < rank; ++d) axes.push_back(d);
  return normalise(node, axes, node.is("LayerNormalization") ? 0 : 1);
}

}  // namespace mrvlc::accel_random

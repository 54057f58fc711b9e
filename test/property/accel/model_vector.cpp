// Element-wise layers and epilogues.
#include <cmath>
#include <limits>

#include "model.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/accel.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::accel_random {
namespace {

Binary binary_of(const ir::Node& node) {
  if (node.is(Op::Add)) return [](float a, float b) { return a + b; };
  if (node.is(Op::Sub)) return [](float a, float b) { return a - b; };
  if (node.is(Op::Mul)) return [](float a, float b) { return a * b; };
  if (node.is(Op::Div)) return [](float a, float b) { return a / b; };
  if (node.is(Op::Max)) return maximum;
  if (node.is(Op::Min)) return minimum;
  if (node.is(Op::PRelu)) return [](float a, float b) { return a < 0 ? a * b : a; };
  return {};
}

// fma(alpha, x, beta), for the operators that are a line in one operand when the other is one constant value.
std::optional<Unary> line_of(const ir::Node& node, bool constant_left, double c) {
  auto line = [](double alpha, double beta) -> Unary {
    return
        [a = static_cast<float>(alpha), b = static_cast<float>(beta)](float x) { return std::fma(a, x, b); };
  };
  if (node.is(Op::Add)) return line(1, c);
  if (node.is(Op::Sub)) return constant_left ? line(-1, c) : line(1, -c);
  if (node.is(Op::Mul) && std::isfinite(c) && c != 0) return line(c, 0);
  if (node.is(Op::Div) && !constant_left && std::isfinite(1 / c)) return line(1 / c, 0);
  return std::nullopt;
}

// e to the 2n, n the first float16 number of its segment.
float whole_power(float n) {
  uint16_t half = float_to_half(n);
  double first = static_cast<double>(half_to_float(static_cast<uint16_t>(half & ~31)));
  double y = std::exp(2 * first);
  return n != n                                                       ? n
         : y > static_cast<double>(std::numeric_limits<float>::max()) ? std::numeric_limits<float>::infinity()
                                                                      : static_cast<float>(y);
}

Unary exponential() {
  return [table = segments([](double v) { return std::exp(v); })](float x) {
    float half = std::fma(0.5f, x, 0.0f), n = std::floor(half < -64 ? -64 : half > 64 ? 64 : half);
    return whole_power(n) * look_up(table, std::fma(1.0f, x, -2 * n));
  };
}

Unary cosine() {
  return [exp = exponential()](float x) {
    float e = exp(std::fabs(x));
    return std::fma(0.5f, e, 0.5f * (1 / e));
  };
}

// Several instructions and tables.
// `large`: the operand may be beyond the square of what float16 holds.
Unary composed(const ir::Node& node, bool large) {
  if (node.is(Op::Exp)) return exponential();
  if (node.is(Op::Cosh)) return cosine();
  if (node.is(Op::Log)) {
    auto table = segments([large](double v) { return (large ? 4 : 2) * std::log(v); });
    return [table, large](float x) { return look_up(table, std::sqrt(large ? std::sqrt(x) : x)); };
  }
  if (node.is(Op::Sinh)) {
    auto table = segments([](double v) { return std::tanh(v); });
    return [table, cosh = cosine()](float x) { return look_up(table, x) * cosh(x); };
  }
  return {};
}

Unary instruction_of(const ir::Node& node) {
  if (node.is(Op::Sqrt)) return [](float x) { return std::sqrt(x); };
  if (node.is(Op::Reciprocal)) return [](float x) { return 1 / x; };
  if (node.is(Op::Abs)) return [](float x) { return std::fabs(x); };
  if (node.is(Op::Neg)) return [](float x) { return -x; };
  if (node.is(Op::Floor)) return [](float x) { return std::floor(x); };
  if (node.is(Op::Ceil)) return [](float x) { return -std::floor(-x); };
  return {};
}

}  // namespace

// The value between the nodes stays in float.
class Chain {
 public:
  Chain(Model& model, const partition::Layer& layer, ir::ValueId value)
      : m_(model), layer_(layer), value_(value) {
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
    } else if (Unary function = composed(node, large(node))) {
      result = map(operand(node, 0), function);
    } else if (node.is(Op::Pow)) {
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
  bool large(const ir::Node& node) const {
    return m_.asked_.contains(node.inputs[0]) ||
           m_.asked_.contains(m_.graph_.node(layer_.nodes.back()).outputs[0]);
  }
  const Tensor* scalar(const ir::Node& node, size_t i) const {
    const Tensor* t = m_.graph_.constant(node.inputs[i]);
    return t != nullptr && t->elements() == 1 ? t : nullptr;
  }
  const Tensor& operand(const ir::Node& node, size_t i) {
    return node.inputs[i] == value_ ? current_ : m_.operand(node.inputs[i], layer_);
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
  // Squares and cubes are products. The square root is one but for -infinity.
  Result<Tensor> power(const ir::Node& node, double exponent) {
    const Tensor& x = operand(node, 0);
    if (exponent == 0.5) {
      auto table = segments([](double v) { return std::isinf(v) ? std::fabs(v) : v; });
      return map(x, [table](float v) { return std::sqrt(look_up(table, v)); });
    }
    bool cube = exponent == 3;
    return map(x, [cube](float v) { return cube ? v * v * v : v * v; });
  }

  Model& m_;
  const partition::Layer& layer_;
  ir::ValueId value_;
  Tensor current_;
};

Status Model::chain(const partition::Layer& layer, size_t from, ir::ValueId value) {
  if (from == layer.nodes.size()) return {};
  Chain c(*this, layer, value);
  for (size_t i = from; i < layer.nodes.size(); ++i) MRVLC_TRY(c.append(graph_.node(layer.nodes[i])));
  ir::ValueId result = c.value();
  store(result, c.take());
  return {};
}

}  // namespace mrvlc::accel_random

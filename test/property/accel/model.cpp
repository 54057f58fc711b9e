#include "model.h"

#include <cmath>
#include <limits>

#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/accel.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::accel_random {

float narrow(float v) {
  return half_to_float(float_to_half(v));
}

float WeightRounding::operator()(float scaled, int64_t channel) {
  if (!carries_ || scaled == 0) return narrow(scaled);
  float& lost = lost_[channel];
  float wanted = scaled + lost, stored = narrow(wanted);
  lost = std::isfinite(stored) ? wanted - stored : 0;
  return std::isfinite(stored) ? stored : narrow(scaled);
}

Tensor zeros(Shape shape) {
  return Tensor({ElementType::F32, std::move(shape)});
}

int64_t position(const Shape& index, const Shape& strides) {
  int64_t at = 0;
  for (size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
  return at;
}

Tensor narrowed(const Tensor& t) {
  Tensor r = zeros(t.shape());
  std::span<float> out = r.mutable_data<float>();
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = half_to_float(double_to_half(t.as_double(static_cast<int64_t>(i))));
  return r;
}

const Tensor& Model::get(ir::ValueId v) {
  auto it = values_.find(v);
  if (it == values_.end()) it = values_.emplace(v, narrowed(*graph_.constant(v))).first;
  return it->second;
}

Tensor Model::unrounded(ir::ValueId v) {
  const Tensor* t = graph_.constant(v);
  if (t == nullptr) return get(v);
  Tensor whole = zeros(t->shape());
  for (int64_t i = 0; i < t->elements(); ++i) whole.set_double(i, t->as_double(i));
  return whole;
}

const Tensor& Model::operand(ir::ValueId v, const partition::Layer& layer) {
  const Tensor* t = graph_.constant(v);
  if (t == nullptr) return get(v);
  bool asked = asked_.contains(graph_.node(layer.nodes.back()).outputs[0]);
  if (!asked && fits_half(*t)) return get(v);
  return operands_.emplace(v, unrounded(v)).first->second;
}

Tensor Model::high(ir::ValueId v) {
  Tensor t = unrounded(v), r = zeros(t.shape());
  float factor = std::ldexp(1.0f, -precision(v).shift);
  for (size_t i = 0; i < t.data<float>().size(); ++i)
    r.mutable_data<float>()[i] = narrow(std::fma(factor, t.data<float>()[i], 0.0f));
  return r;
}

Tensor Model::low(ir::ValueId v) {
  Tensor t = unrounded(v), r = high(v);
  float factor = std::ldexp(1.0f, -precision(v).shift);
  for (size_t i = 0; i < t.data<float>().size(); ++i) {
    float& e = r.mutable_data<float>()[i];
    e = narrow(std::fma(factor, t.data<float>()[i], -e));
  }
  return r;
}

std::vector<Model::Term> Model::left_terms(ir::ValueId left, ir::ValueId right) {
  std::vector<Term> terms = {{high(left), false}};
  if (is_pair(left)) terms.push_back({low(left), false});
  if (is_pair(right)) terms.push_back({terms[0].halves, true});
  return terms;
}

void Model::take_power(const partition::Layer& layer, size_t channel, const Tensor* p,
                       const std::function<int64_t(int64_t)>& channel_of, Tail& tail) {
  const ir::Node& anchor = graph_.node(layer.anchor);
  int power = precision(anchor.inputs[0]).shift + (p == nullptr ? precision(anchor.inputs[1]).shift : 0);
  tail.of_weights = tail.scale;
  if (power == 0) return;
  if (p != nullptr) {
    std::vector<float> factors(static_cast<size_t>(shape(anchor.outputs[0])[channel]), 1.0f);
    if (!tail.scale.empty()) factors = tail.scale;
    for (float& f : factors) f *= std::ldexp(1.0f, power);
    Tensor scaled = zeros(p->shape());
    for (int64_t i = 0; i < p->elements(); ++i)
      scaled.mutable_data<float>()[static_cast<size_t>(i)] =
          static_cast<float>(p->as_double(i)) * factors[static_cast<size_t>(channel_of(i))];
    if (fits_half(scaled)) {
      tail.of_weights = factors;
      return;
    }
  }
  tail = tail_of(graph_, layer, channel, p != nullptr, false, true);
  tail.of_weights = tail.scale;
  tail.after = power;
}

Status Model::run(const partition::Layer& layer) {
  const LayerKind kind = layer.kind;
  if (kind == LayerKind::Conv || kind == LayerKind::ConvTranspose) return conv(layer);
  if (kind == LayerKind::Fc || kind == LayerKind::Matmul) return product(layer);
  if (kind == LayerKind::Elementwise) return chain(layer, 0, ir::ValueId());
  if (kind == LayerKind::Pool) return pool(layer);
  if (kind == LayerKind::Reduce) return reduce(layer);
  if (kind == LayerKind::Softmax) return softmax(layer);
  if (kind == LayerKind::Norm) return norm(layer);
  if (kind == LayerKind::Resize) return resize(layer);
  if (kind == LayerKind::Concat) return concat(layer);
  if (kind == LayerKind::Move) return move(layer);
  return reshape(layer);
}

namespace {

// To float32; beyond its range infinite.
float single(double v) {
  double largest = static_cast<double>(std::numeric_limits<float>::max());
  bool beyond = std::isfinite(v) && std::fabs(v) >= largest * (1 + 0x1p-25);
  return beyond ? std::copysign(std::numeric_limits<float>::infinity(), v > 0 ? 1.0f : -1.0f)
                : static_cast<float>(v);
}

}  // namespace

std::vector<float> segments(const std::function<double(double)>& f) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  std::vector<float> table;
  auto put = [&](double c0, double c1) {
    table.push_back(single(c0));
    table.push_back(single(c1));
  };
  for (uint32_t i = 0; i < 2048; ++i) {
    double sign = i < 1024 ? 1 : -1;
    uint32_t magnitude = i % 1024 * 32;  // the smallest float16 number of the segment, without its sign
    if (magnitude > 0x7c00) {
      put(std::numeric_limits<double>::quiet_NaN(), 0);
    } else if (magnitude == 0x7c00) {
      double y = f(sign * inf);
      put(std::isnan(y) ? f(sign * 65504) : y, 0);
    } else {
      auto value = [&](uint32_t half) {
        return static_cast<double>(half_to_float(static_cast<uint16_t>(half)));
      };
      double a = sign * value(magnitude),
             b = sign * (magnitude + 32 == 0x7c00 ? 65504 : value(magnitude + 32));
      double fa = f(a), c1 = (f(b) - fa) / (b - a), c0 = fa - c1 * a;
      double middle = (a + b) / 2, error = f(middle) - (c0 + c1 * middle);
      if (a != 0 && fa != 0 && std::isfinite(error)) c0 += error / 2;
      if (!std::isfinite(single(c0)) || !std::isfinite(single(c1))) {
        c0 = fa;
        c1 = 0;
      }
      put(c0, c1);
    }
  }
  return table;
}

float look_up(const std::vector<float>& table, float x) {
  uint16_t half = x != x ? 0x7e00 : float_to_half(x);
  float c0 = table[half / 32 * size_t{2}], c1 = table[half / 32 * size_t{2} + 1];
  return c1 == 0 && x == x ? c0 : std::fma(c1, x, c0);
}

namespace {

float clip(float v, float low, float high) {
  v = v < low ? low : v;
  return v > high ? high : v;
}

std::optional<Unary> clip_of(const ir::Graph& graph, const ir::Node& node) {
  float bounds[2] = {-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()};
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid()) continue;
    const Tensor* bound = graph.constant(node.inputs[i]);
    if (bound == nullptr) return std::nullopt;
    bounds[i - 1] = static_cast<float>(bound->as_double(0));
  }
  return [low = bounds[0], high = bounds[1]](float x) { return clip(x, low, high); };
}

// What an instruction computes.
constexpr Op kNoTable[] = {Op::Abs,      Op::Neg, Op::Sqrt, Op::Reciprocal, Op::Floor, Op::Ceil,
                           Op::Identity, Op::Exp, Op::Log,  Op::Sinh,       Op::Cosh};

}  // namespace

std::optional<Unary> activation_of(const ir::Graph& graph, const ir::Node& node) {
  if (node.is(Op::Relu)) return [](float x) { return x > 0 || x != x ? x : 0.0f; };
  if (node.is(Op::Clip)) return clip_of(graph, node);
  if (node.is(Op::LeakyRelu))
    return [alpha = node.float_attr("alpha")](float x) { return x < 0 ? alpha * x : x; };
  if (node.is(Op::HardSigmoid) || node.is(Op::HardSwish)) {
    bool swish = node.is(Op::HardSwish);
    float alpha = swish ? static_cast<float>(1.0 / 6) : node.float_attr("alpha");
    float beta = swish ? 0.5f : node.float_attr("beta");
    return [=](float x) {
      float gate = clip(std::fma(alpha, x, beta), 0, 1);
      return swish ? x * gate : gate;
    };
  }
  for (Op op : kNoTable)
    if (node.is(op)) return std::nullopt;
  const ops::ScalarOp* scalar = ops::op_def(node).scalar;
  if (node.inputs.size() != 1 || scalar == nullptr) return std::nullopt;
  auto f = [&](double x) { return scalar->eval(&x, *node.op, node.attrs); };
  return [table = segments(f)](float x) { return look_up(table, x); };
}

}  // namespace mrvlc::accel_random

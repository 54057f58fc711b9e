// Mean, variance, epsilon, root and quotient of a normalisation, in the forms that exporters write.
#include "norm_formula.h"

#include <cmath>

#include "mrvlc/ops/op_kind.h"

namespace mrvlc::passes {
namespace {

void add(Nodes& to, const Nodes& nodes) {
  to.insert(to.end(), nodes.begin(), nodes.end());
}

// The mean of x over `axes`.
std::optional<Nodes> mean_nodes(const Graph& g, ValueId value, ValueId x, const Axes& axes) {
  auto mean = reduced(g, value, Op::ReduceMean);
  if (!mean || mean->x != x || mean->axes != axes) return std::nullopt;
  return mean->nodes;
}

// x - mean of x over `axes`: x.
std::optional<Reduced> centred(const Graph& g, ValueId value, const Axes& axes) {
  const Node* sub = producer_of(g, value, Op::Sub);
  if (sub == nullptr || !(type_of(g, sub->inputs[0]) == type_of(g, value))) return std::nullopt;
  auto nodes = mean_nodes(g, sub->inputs[1], sub->inputs[0], axes);
  if (!nodes) return std::nullopt;
  nodes->push_back(sub->id);
  return Reduced{sub->inputs[0], axes, *nodes};
}

// The x whose squares have this mean.
std::optional<Reduced> mean_square(const Graph& g, ValueId value) {
  if (auto mean = reduced(g, value, Op::ReduceMean)) {
    ValueId x = squared_operand(g, mean->x);
    if (!x.valid()) return std::nullopt;
    mean->nodes.push_back(producer(g, mean->x)->id);
    mean->x = x;
    return mean;
  }
  const Node* n = producer(g, value);
  auto share = n != nullptr ? scaled(g, *n) : std::nullopt;
  auto sum = share ? reduced(g, share->x, Op::ReduceSumSquare) : std::nullopt;
  if (!sum || !divides_by(g, *share, reduced_count(g, sum->x, sum->axes))) return std::nullopt;
  sum->nodes.push_back(n->id);
  return sum;
}

// ReduceMean(x * x) - m * m, in exact arithmetic the variance, and not negative.
std::optional<Moments> difference_of_squares(const Graph& g, ValueId value) {
  const Node* n = producer(g, value);
  Moments m;
  bool not_negative = n != nullptr && (n->is(Op::Relu) || (n->is(Op::Max) && n->inputs.size() == 2));
  if (not_negative) {
    size_t zero = n->is(Op::Max) && uniform_constant(g, n->inputs[0]) == 0.0 ? 0 : 1;
    if (n->is(Op::Max) && uniform_constant(g, n->inputs[zero]) != 0.0) return std::nullopt;
    m.nodes.push_back(n->id);
    n = producer(g, n->inputs[1 - zero]);
  }
  auto squares = n != nullptr && n->is(Op::Sub) ? mean_square(g, n->inputs[0]) : std::nullopt;
  ValueId mean = squares ? squared_operand(g, n->inputs[1]) : ValueId();
  auto nodes = mean.valid() ? mean_nodes(g, mean, squares->x, squares->axes) : std::nullopt;
  if (!nodes) return std::nullopt;
  m.x = squares->x;
  m.centred = true;
  m.axes = squares->axes;
  add(m.nodes, squares->nodes);
  add(m.nodes, *nodes);
  add(m.nodes, {producer(g, n->inputs[1])->id, n->id});
  return m;
}

std::optional<Moments> variance(const Graph& g, ValueId value) {
  if (auto m = difference_of_squares(g, value)) return m;
  auto squares = mean_square(g, value);
  if (!squares) return std::nullopt;
  Moments m{squares->x, false, squares->axes, 0, squares->nodes};
  if (auto d = centred(g, squares->x, squares->axes)) {
    m.x = d->x;
    m.centred = true;
    add(m.nodes, d->nodes);
  }
  return m;
}

// The constant that is added, as an attribute holds it; 0: not a positive number.
float epsilon_of(const Graph& g, ValueId value) {
  auto c = uniform_constant(g, value);
  auto epsilon = static_cast<float>(c.value_or(0));
  return c && static_cast<double>(epsilon) == *c && epsilon > 0 && std::isfinite(epsilon) ? epsilon : 0;
}

std::optional<Moments> with_epsilon(const Graph& g, ValueId value) {
  const Node* n = producer_of(g, value, Op::Add);
  if (n == nullptr) return std::nullopt;
  for (size_t i : {size_t{1}, size_t{0}}) {
    float epsilon = epsilon_of(g, n->inputs[i]);
    auto m = epsilon > 0 && type_of(g, n->inputs[1 - i]) == type_of(g, value) ? variance(g, n->inputs[1 - i])
                                                                              : std::nullopt;
    if (!m) continue;
    m->epsilon = epsilon;
    m->nodes.push_back(n->id);
    return m;
  }
  return std::nullopt;
}

// (v + epsilon) ^ power
std::optional<Moments> power_of_moments(const Graph& g, ValueId value, double power) {
  const Node* n = producer(g, value);
  if (n == nullptr) return std::nullopt;
  std::optional<Moments> m;
  if (n->is(Op::Pow)) {
    if (uniform_constant(g, n->inputs[1]) == power) m = with_epsilon(g, n->inputs[0]);
  } else if (n->is(Op::Sqrt) && power == 0.5) {
    m = with_epsilon(g, n->inputs[0]);
  } else if (n->is(Op::Reciprocal) && power < 0) {
    m = power_of_moments(g, n->inputs[0], -power);
  } else if (n->is(Op::Div) && power < 0 && uniform_constant(g, n->inputs[0]) == 1.0) {
    m = power_of_moments(g, n->inputs[1], -power);
  }
  if (m) m->nodes.push_back(n->id);
  return m;
}

// A product of activations and at most one constant, what is divided by included.
struct Factors {
  std::vector<ValueId> times, over;
  ValueId constant;
  Nodes nodes;
  bool ok = true;
};

void add_factor(const Graph& g, ValueId v, Factors& f, int depth) {
  if (g.is_constant(v)) {
    f.ok = f.ok && !f.constant.valid();
    f.constant = v;
    return;
  }
  constexpr int kMostNested = 3;
  const Node* n = producer(g, v);
  bool product = n != nullptr && n->is(Op::Mul, Op::Div) && n->inputs[0] != n->inputs[1];
  bool inverse = product && n->is(Op::Div) && g.is_constant(n->inputs[0]);
  if (!product || inverse || depth == kMostNested || (depth > 0 && !single_use(g, v))) {
    f.times.push_back(v);
    return;
  }
  f.nodes.push_back(n->id);
  add_factor(g, n->inputs[0], f, depth + 1);
  if (n->is(Op::Mul)) return add_factor(g, n->inputs[1], f, depth + 1);
  f.over.push_back(n->inputs[1]);
}

// d / Sqrt(v + epsilon), d or x by what v is of.
bool normalises(const Graph& g, Norm& norm, ValueId data, const Moments& m) {
  norm.of = m;
  add(norm.nodes, m.nodes);
  if (!m.centred) return data == m.x;
  auto d = centred(g, data, m.axes);
  if (!d || d->x != m.x) return false;
  add(norm.nodes, d->nodes);
  return true;
}

std::optional<Norm> quotient(const Graph& g, const Node& root) {
  Factors f;
  add_factor(g, root.outputs[0], f, 0);
  if (!f.ok || f.nodes.empty() || f.times.size() + f.over.size() != 2 || f.times.empty()) return std::nullopt;
  for (size_t i : {size_t{0}, size_t{1}}) {
    bool over = !f.over.empty();
    if (over && i == 1) break;
    auto m = power_of_moments(g, over ? f.over[0] : f.times[1 - i], over ? 0.5 : -0.5);
    Norm norm{{}, f.constant, {}, f.nodes};
    if (m && normalises(g, norm, f.times[i], *m)) return norm;
  }
  return std::nullopt;
}

// scale / Sqrt(v + epsilon)
std::optional<Norm> scaled_inverse(const Graph& g, ValueId value) {
  if (auto m = power_of_moments(g, value, -0.5)) return Norm{*m, {}, {}, m->nodes};
  const Node* n = producer_of(g, value, Op::Mul);
  for (size_t i : {size_t{0}, size_t{1}}) {
    if (n == nullptr || !g.is_constant(n->inputs[1 - i])) continue;
    auto m = power_of_moments(g, n->inputs[i], -0.5);
    if (!m) continue;
    Norm norm{*m, n->inputs[1 - i], {}, m->nodes};
    norm.nodes.push_back(n->id);
    return norm;
  }
  return std::nullopt;
}

// The other operand of a product; invalid: `value` is none of `factor`.
ValueId other_factor(const Graph& g, ValueId value, ValueId factor) {
  const Node* n = producer_of(g, value, Op::Mul);
  if (n == nullptr) return {};
  return n->inputs[0] == factor ? n->inputs[1] : n->inputs[1] == factor ? n->inputs[0] : ValueId();
}

// x * f + (bias - m * f), x * f - m * f
std::optional<Norm> affine(const Graph& g, ValueId scaled_x, ValueId offset, bool negative) {
  const Node *product = producer_of(g, scaled_x, Op::Mul), *minus = producer_of(g, offset, Op::Sub);
  if (product == nullptr || (!negative && (minus == nullptr || !g.is_constant(minus->inputs[0]))))
    return std::nullopt;
  ValueId scaled_mean = negative ? offset : minus->inputs[1];
  for (size_t i : {size_t{0}, size_t{1}}) {
    auto norm = scaled_inverse(g, product->inputs[i]);
    if (!norm || !norm->of.centred || product->inputs[1 - i] != norm->of.x) continue;
    ValueId mean = other_factor(g, scaled_mean, product->inputs[i]);
    auto nodes = mean.valid() ? mean_nodes(g, mean, norm->of.x, norm->of.axes) : std::nullopt;
    if (!nodes) continue;
    add(norm->nodes, *nodes);
    add(norm->nodes, {product->id, producer(g, scaled_mean)->id});
    if (negative) return norm;
    norm->bias = minus->inputs[0];
    norm->nodes.push_back(minus->id);
    return norm;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Norm> norm_formula(const Graph& g, const Node& n) {
  if (n.is(Op::Mul, Op::Div)) return quotient(g, n);
  if (n.is(Op::Sub)) return affine(g, n.inputs[0], n.inputs[1], true);
  if (!n.is(Op::Add)) return std::nullopt;
  auto norm = affine(g, n.inputs[0], n.inputs[1], false);
  return norm ? norm : affine(g, n.inputs[1], n.inputs[0], false);
}

}  // namespace mrvlc::passes

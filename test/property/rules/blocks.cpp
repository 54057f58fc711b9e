#include "blocks.h"

namespace mrvlc::rule_trials {
namespace {

using graphs::Grower;
using E = ElementType;

bool is_matrix(const Grower& g, int v) {
  return v >= 0 && g.elem(v) == E::F32 && g.rank(v) >= 2 && element_count(g.shape(v)) > 0;
}

// A constant that broadcasts without changing the shape: one element, or one a channel.
int factor(Grower& g, int v) {
  if (g.dice.chance(40)) return g.scalar(E::F32, g.dice.real(0.25, 2));
  Shape s(static_cast<size_t>(g.rank(v)), 1);
  const size_t channel = g.rank(v) > 2 ? 1 : s.size() - 1;
  s[channel] = g.shape(v)[channel];
  return g.constant(g.random_tensor(E::F32, s));
}

// A value of the type that is no constant: the model's data, not what folds.
int input(Grower& g, const Shape& shape) {
  std::vector<int> found;
  for (size_t v = 0; v < g.model.values.size(); ++v) {
    const graphs::Value& value = g.model.values[v];
    if (!value.leaf && value.kind != graphs::Kind::Constant && value.data.elem() == E::F32 &&
        value.data.shape() == shape)
      found.push_back(static_cast<int>(v));
  }
  if (!found.empty() && g.dice.chance(70)) return g.dice.of(found);
  return g.make(g.random_tensor(E::F32, shape), false);
}

int swish(Grower& g, int v) {
  const int s = g.add("Sigmoid", {v});
  return s < 0 ? -1 : g.add("Mul", g.dice.chance(50) ? std::vector<int>{v, s} : std::vector<int>{s, v});
}

// x * clip(x + 3, 0, 6) / 6
int hard_swish(Grower& g, int v) {
  const int a = g.add("Add", {v, g.scalar(E::F32, 3)});
  const int c = a < 0 ? -1 : g.add("Clip", {a, g.scalar(E::F32, 0), g.scalar(E::F32, 6)});
  const int m = c < 0 ? -1 : g.add("Mul", {v, c});
  return m < 0 ? -1 : g.add("Div", {m, g.scalar(E::F32, 6)});
}

int layer_norm(Grower& g, int v) {
  const int axes = g.ints({-1});
  const int mean = g.add("ReduceMean", {v, axes}), d = mean < 0 ? -1 : g.add("Sub", {v, mean});
  if (d < 0) return -1;
  const int q = g.dice.chance(50) ? g.add("Mul", {d, d}) : g.add("Pow", {d, g.scalar(E::F32, 2)});
  const int var = q < 0 ? -1 : g.add("ReduceMean", {q, axes});
  const int e = var < 0 ? -1 : g.add("Add", {var, g.scalar(E::F32, 0.5)});
  const int s = e < 0 ? -1 : g.add("Sqrt", {e});
  return s < 0 ? -1 : g.add("Div", {d, s});
}

int follow(Grower& g, int v) {
  switch (g.dice.pick(0, 9)) {
    case 0:
      return g.add("Add", {v, factor(g, v)});
    case 1:
      return g.add("Mul", {factor(g, v), v});
    case 2:
      return g.add("Add", {v, input(g, g.shape(v))});  // the residual
    case 3:
      return swish(g, v);
    case 4:
      return hard_swish(g, v);
    case 5:
      return layer_norm(g, v);
    case 6:
      return g.add("Clip", {v, g.scalar(E::F32, 0), g.scalar(E::F32, 6)});
    case 7:
      return g.rank(v) > 2
                 ? g.add("MaxPool", {v}, {{"kernel_shape", std::vector<int64_t>(g.shape(v).size() - 2, 1)}})
                 : g.add("Softmax", {v}, {{"axis", int64_t{-1}}});
    default:
      return g.add(g.dice.of<const char*>({"Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSwish", "Abs"}), {v});
  }
}

// Weights as exporters of quantised networks write them.
int dequantized(Grower& g, const Shape& shape) {
  const int w = g.constant(g.random_tensor(E::I8, shape));
  return g.add("DequantizeLinear", {w, g.scalar(E::F32, 0.015625), g.scalar(E::I8, 0)});
}

int product(Grower& g) {
  const int64_t in = g.dice.pick(1, 4), out = g.dice.pick(1, 5), k = g.dice.pick(1, 3);
  const bool integers = g.dice.chance(35);
  auto weights = [&](const Shape& s) {
    return integers ? dequantized(g, s) : g.constant(g.random_tensor(E::F32, s));
  };
  if (g.dice.chance(35)) {
    const int w = weights({in, out});
    return w < 0 ? -1 : g.add("MatMul", {input(g, {g.dice.pick(1, 4), in}), w});
  }
  int x = input(g, {1, in, g.dice.pick(3, 6), g.dice.pick(3, 6)});
  if (g.dice.chance(20)) x = g.add("Pad", {x, g.ints({0, 0, 1, 0, 0, 0, 1, 1})});
  const int w = x < 0 ? -1 : weights({out, in, k, k});
  return w < 0 ? -1 : g.add("Conv", {x, w}, {{"kernel_shape", std::vector<int64_t>{k, k}}});
}

}  // namespace

void add_block(Grower& g) {
  int v = product(g);
  for (int64_t left = g.dice.pick(0, 4); left > 0 && is_matrix(g, v); --left) v = follow(g, v);
}

}  // namespace mrvlc::rule_trials

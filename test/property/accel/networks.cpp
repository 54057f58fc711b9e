// Small networks: random layers on random values, and the blocks that real networks are made of.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "builder.h"

namespace mrvlc::accel_random {
namespace {

const Grower& pick_grower(Builder& b, int64_t rank) {
  int total = 0;
  auto fits = [&](const Grower& g) { return rank == 0 || (rank >= g.rank[0] && rank <= g.rank[1]); };
  for (const Grower& g : growers()) total += fits(g) ? g.weight : 0;
  int64_t at = b.dice.pick(0, total - 1);
  for (const Grower& g : growers()) {
    if (!fits(g)) continue;
    if (at < g.weight) return g;
    at -= g.weight;
  }
  return growers().front();
}

bool multiplies(const Grower& g) {
  for (const char* name : {"conv", "depthwise", "conv_transpose", "fully_connected", "matrix_product"})
    if (std::string(g.name) == name) return true;
  return false;
}

// Values nobody reads are the results; now and then one that is read as well.
void finish(Builder& b) {
  ir::Graph& g = b.net.graph;
  std::vector<ir::ValueId> outputs;
  for (ir::NodeId n : g.topological_order())
    for (ir::ValueId v : g.node(n).outputs)
      if (v.valid() && (g.use_count(v) == 0 || b.dice.chance(6))) outputs.push_back(v);
  for (ir::ValueId v : outputs) b.net.output(v);
}

ir::ValueId relu6(Builder& b, ir::ValueId x) {
  return b.add("Clip", {x, b.scalar(0), b.scalar(6)});
}

ir::ValueId act(Builder& b, ir::ValueId x) {
  int64_t kind = b.dice.pick(0, 4);
  return kind == 0 ? x : kind == 1 ? relu6(b, x) : kind == 2 ? activation(b, x) : b.add("Relu", {x});
}

// A block gives back an invalid value when the budget does not allow it; what it added so far stays.
using Block = ir::ValueId (*)(Builder&, ir::ValueId);

ir::ValueId random_layer(Builder& b, ir::ValueId x) {
  const Grower& g = pick_grower(b, b.rank(x));
  ir::ValueId y = g.grow(b, x);
  if (!y.valid() || !multiplies(g) || b.dice.chance(50)) return y;
  bool image = std::string(g.name) == "conv" || std::string(g.name) == "conv_transpose";
  return epilogue(b, y, image ? 1 : b.shape(y).size() - 1);
}

ir::ValueId chain_block(Builder& b, ir::ValueId x) {
  ir::ValueId y =
      conv_to(b, x, b.dice.size(1, 64), b.dice.of({int64_t{1}, int64_t{3}, int64_t{5}}), b.dice.pick(1, 2));
  return y.valid() ? act(b, y) : y;
}

ir::ValueId residual_block(Builder& b, ir::ValueId x) {
  int64_t c = b.dim(x, 1);
  ir::ValueId y = conv_to(b, x, b.dice.size(1, 48), b.dice.of({int64_t{1}, int64_t{3}}), 1);
  if (!y.valid()) return y;
  ir::ValueId z = conv_to(b, act(b, y), c, b.dice.of({int64_t{1}, int64_t{3}}), 1);
  if (!z.valid()) return y;
  return act(b, b.dice.chance(50) ? b.add("Add", {z, x}) : b.add("Add", {x, z}));
}

ir::ValueId inverted_bottleneck(Builder& b, ir::ValueId x) {
  int64_t c = b.dim(x, 1), wide = std::min<int64_t>(c * b.dice.pick(2, 6), 160),
          stride = b.dice.of({int64_t{1}, int64_t{1}, int64_t{2}});
  ir::ValueId y = conv_to(b, x, wide, 1, 1);
  if (!y.valid()) return y;
  y = act(b, y);
  ir::ValueId z = conv_to(b, y, wide, b.dice.of({int64_t{3}, int64_t{5}}), stride, wide);
  if (!z.valid()) return y;
  z = act(b, z);
  ir::ValueId w = conv_to(b, z, c, 1, 1);
  if (!w.valid()) return z;
  return stride == 1 ? b.add("Add", {x, w}) : w;
}

ir::ValueId squeeze_excite(Builder& b, ir::ValueId x) {
  int64_t c = b.dim(x, 1);
  ir::ValueId s = b.dice.chance(50) ? b.add("GlobalAveragePool", {x})
                                    : b.add("ReduceMean", {x, b.ints({2, 3})}, {{"keepdims", int64_t{1}}});
  s = conv_to(b, s, std::max<int64_t>(1, c / 4), 1, 1);
  if (!s.valid()) return s;
  s = conv_to(b, b.add("Relu", {s}), c, 1, 1);
  if (!s.valid()) return s;
  s = b.add(b.dice.chance(50) ? "HardSigmoid" : "Sigmoid", {s});
  return b.dice.chance(50) ? b.add("Mul", {x, s}) : b.add("Mul", {s, x});
}

ir::ValueId dense_block(Builder& b, ir::ValueId x) {
  int64_t grow = b.dice.size(1, 24);
  for (int64_t i = b.dice.pick(1, 3); i > 0; --i) {
    ir::ValueId y = conv_to(b, x, grow, b.dice.of({int64_t{1}, int64_t{3}}), 1);
    if (!y.valid()) return i == 0 ? y : x;
    x = b.add("Concat", {x, act(b, y)}, {{"axis", int64_t{1}}});
  }
  return x;
}

// Several branches of different depth, joined.
ir::ValueId branches(Builder& b, ir::ValueId x) {
  std::vector<ir::ValueId> parts;
  int64_t c = b.dim(x, 1);
  for (int64_t i = b.dice.pick(2, 4); i > 0; --i) {
    ir::ValueId y = x;
    if (b.dice.chance(25))
      y = b.add(b.dice.chance(50) ? "MaxPool" : "AveragePool", {x},
                {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
    else if (b.dice.chance(70))
      y = conv_to(b, x, b.dice.chance(50) ? c : b.dice.size(1, 40), b.dice.of({int64_t{1}, int64_t{3}}), 1);
    if (y.valid()) parts.push_back(y);
  }
  if (parts.empty()) return {};
  if (std::ranges::all_of(parts, [&](ir::ValueId v) { return b.shape(v) == b.shape(parts[0]); }) &&
      parts.size() > 1)
    return act(b, b.add("Add", {parts[0], parts[1]}));
  return b.add("Concat", parts, {{"axis", int64_t{1}}});
}

// A coarser level, brought back to the size of `x` and added.
ir::ValueId pyramid(Builder& b, ir::ValueId x) {
  if (b.dim(x, 2) % 2 != 0 || b.dim(x, 3) % 2 != 0) return {};
  int64_t c = b.dice.size(1, 32);
  ir::ValueId down = conv_to(b, x, b.dice.size(1, 48), 3, 2);
  if (!down.valid()) return down;
  down = b.add("Relu", {down});
  ir::ValueId lateral = conv_to(b, x, c, 1, 1), coarse = conv_to(b, down, c, 1, 1);
  if (!lateral.valid() || !coarse.valid()) return down;
  bool nearest = b.dice.chance(60);
  AttrList attrs = {{"mode", std::string(nearest ? "nearest" : "linear")}};
  if (nearest) attrs.emplace_back("coordinate_transformation_mode", std::string("asymmetric"));
  ir::ValueId up = b.add("Resize", {coarse, {}, b.net.values({4}, {1, 1, 2, 2})}, attrs);
  ir::ValueId sum = b.add("Add", {lateral, up});
  ir::ValueId smooth = conv_to(b, sum, c, 3, 1);
  return smooth.valid() ? smooth : sum;
}

// Halves along the channels, one of them worked on, joined again.
ir::ValueId shuffle(Builder& b, ir::ValueId x) {
  const Shape s = b.shape(x);
  if (s[1] % 2 != 0 || s[1] < 4) return {};
  ir::ValueId left = b.add("Split", {x, b.ints({s[1] / 2, s[1] / 2})}, {{"axis", int64_t{1}}}, 2);
  ir::ValueId right = b.outputs_of(left)[1];
  ir::ValueId y = conv_to(b, right, s[1] / 2, 3, 1, b.dice.chance(50) ? s[1] / 2 : 1);
  if (y.valid()) right = act(b, y);
  ir::ValueId joined = b.add("Concat", {left, right}, {{"axis", int64_t{1}}});
  if (b.dice.chance(40)) return joined;
  ir::ValueId five = b.add("Reshape", {joined, b.ints({s[0], 2, s[1] / 2, s[2], s[3]})});
  five = b.add("Transpose", {five}, {{"perm", Ints{0, 2, 1, 3, 4}}});
  return b.add("Reshape", {five, b.ints(s)});
}

ir::ValueId classifier(Builder& b, ir::ValueId x) {
  ir::ValueId y = b.dice.chance(60) ? b.add("GlobalAveragePool", {x}) : x;
  y = b.add("Flatten", {y});
  ir::ValueId z = fully_connected(b, y);
  if (!z.valid()) return y;
  return b.dice.chance(50) ? b.add("Softmax", {z}, {{"axis", int64_t{-1}}}) : act(b, z);
}

ir::ValueId attention(Builder& b, ir::ValueId x) {
  int64_t d = b.shape(x).back(), m = b.dim(x, 1);
  if (m > 100 || !b.spend(3 * b.elements(x) * d + 2 * b.elements(x) * m)) return {};
  double bound = 1.7 / std::sqrt(static_cast<double>(d));
  auto project = [&] { return b.add("MatMul", {x, b.constant({d, d}, -bound, bound)}); };
  ir::ValueId q = project(), k = b.add("Transpose", {project()}, {{"perm", Ints{0, 2, 1}}}), v = project();
  ir::ValueId scores = b.add("MatMul", {q, k});
  scores = b.add("Mul", {scores, b.scalar(bound)});
  ir::ValueId y = b.add("MatMul", {b.add("Softmax", {scores}, {{"axis", int64_t{-1}}}), v});
  y = b.add("Add", {x, y});
  return b.add("LayerNormalization", {y, b.constant({d}, 0.5, 2), b.constant({d}, -1, 1)},
               {{"axis", int64_t{-1}}});
}

// Heads as a dimension of their own, as transformers have them.
ir::ValueId multi_head(Builder& b, ir::ValueId x) {
  const Shape s = b.shape(x);
  int64_t heads = s[2] % 4 == 0 ? 4 : s[2] % 3 == 0 ? 3 : s[2] % 2 == 0 ? 2 : 1, d = s[2] / heads;
  if (s[1] > 100 || !b.spend(3 * b.elements(x) * s[2] + 2 * b.elements(x) * s[1])) return {};
  double bound = 1.7 / std::sqrt(static_cast<double>(s[2]));
  auto project = [&](Ints perm) {
    ir::ValueId y = b.add("MatMul", {x, b.constant({s[2], s[2]}, -bound, bound)});
    y = b.add("Add", {y, b.constant({s[2]}, -1, 1)});
    y = b.add("Reshape", {y, b.ints({s[0], s[1], heads, d})});
    return b.add("Transpose", {y}, {{"perm", perm}});
  };
  ir::ValueId q = project({0, 2, 1, 3}), k = project({0, 2, 3, 1}), v = project({0, 2, 1, 3});
  ir::ValueId scores = b.add("Mul", {b.add("MatMul", {q, k}), b.scalar(0.5)});
  ir::ValueId y = b.add("MatMul", {b.add("Softmax", {scores}, {{"axis", int64_t{-1}}}), v});
  y = b.add("Reshape", {b.add("Transpose", {y}, {{"perm", Ints{0, 2, 1, 3}}}), b.ints(s)});
  y = b.add("MatMul", {y, b.constant({s[2], s[2]}, -bound, bound)});
  return b.dice.chance(70) ? b.add("Add", {x, y}) : y;
}

Block pick_block(Builder& b, ir::ValueId x) {
  if (b.dice.chance(35)) return random_layer;
  if (b.rank(x) == 4) {
    static constexpr Block list[] = {chain_block,    chain_block, residual_block, inverted_bottleneck,
                                     squeeze_excite, dense_block, branches,       pyramid,
                                     shuffle,        classifier,  residual_block};
    return list[b.dice.pick(0, 10)];
  }
  if (b.rank(x) == 3) return b.dice.chance(35) ? attention : b.dice.chance(50) ? multi_head : fully_connected;
  return b.rank(x) == 2 && b.dice.chance(60) ? fully_connected : random_layer;
}

}  // namespace

void single_layer(Builder& b) {
  const char* only = std::getenv("MRVLC_RANDOM_LAYER");
  const Grower* chosen = &pick_grower(b, 0);
  for (const Grower& g : growers())
    if (only != nullptr && std::string(only) == g.name) chosen = &g;
  const Grower& g = *chosen;
  for (int attempt = 0; attempt < 8; ++attempt) {
    int64_t rank = b.dice.chance(60) ? g.rank[1] : b.dice.pick(g.rank[0], g.rank[1]);
    ir::ValueId x = random_input(b, rank), y = g.grow(b, x);
    if (!y.valid()) continue;
    bool image = std::string(g.name) == "conv" || std::string(g.name) == "conv_transpose" ||
                 std::string(g.name) == "depthwise";
    if (multiplies(g) && b.dice.chance(60)) epilogue(b, y, image ? 1 : b.shape(y).size() - 1);
    return finish(b);
  }
  ir::ValueId x = random_input(b, 2);
  b.add("Relu", {x});
  finish(b);
}

void network(Builder& b) {
  int64_t layers = b.dice.pick(2, 12);
  std::vector<ir::ValueId> values = {
      random_input(b, b.dice.of({int64_t{4}, int64_t{4}, int64_t{4}, int64_t{3}, int64_t{2}}))};
  if (b.dice.chance(20)) values.push_back(random_input(b, 4));
  for (int attempt = 0; attempt < 30; ++attempt) {
    if (static_cast<int64_t>(b.net.graph.node_slots()) >= layers) break;
    ir::ValueId x = b.dice.chance(70) ? values.back() : b.dice.of(values);
    ir::ValueId y = pick_block(b, x)(b, x);
    if (!y.valid() || b.elements(y) > 200000 || b.rank(y) == 0) continue;
    values.push_back(y);
    if (b.net.graph.value(y).kind != ir::ValueKind::Result) values.pop_back();
  }
  if (b.net.graph.node_slots() == 0) b.add("Relu", {values[0]});
  finish(b);
}

}  // namespace mrvlc::accel_random

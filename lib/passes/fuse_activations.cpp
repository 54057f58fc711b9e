// fuse-activations
//   Max(x, LeakyRelu(x, a)), Max(x, x*a), 0 < a < 1           ->  LeakyRelu(x, a)
//   x * 0.5 * (1 + Erf(x / sqrt 2))                           ->  Gelu(x)
//   x * Sigmoid(x)                                            ->  Swish(x)
//   x * Clip(x + 3, 0, 6) / 6, x * HardSigmoid(x, 1/6, 0.5)   ->  HardSwish(x)
// Products are matched in any order and nesting. Preconditions: constants agree with the formula to the
// precision of the type, and nobody else reads the values in between. Safe because these are the definitions
// of the operators (ONNX: LeakyRelu, Gelu with approximate "none", Swish, HardSwish). All but the first
// round in other places than the written-out form, within a few units in the last place.
#include <algorithm>
#include <cmath>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

// Factors of a product, flattened through single-use Mul, and Div by a constant; constants multiplied up.
struct Product {
  double scale = 1;
  std::vector<ValueId> factors;
  std::vector<NodeId> nodes;  // products before it go first, the root last
  size_t visited = 0;
};

constexpr size_t kMostProducts = 4;  // no formula here needs more; bounds the recursion, too

void add_factor(const Graph& g, ValueId v, Product& p);

// Returns whether the node is a product whose operands were added.
bool add_operands(const Graph& g, const Node& n, Product& p) {
  ++p.visited;
  if (n.is(Op::Div)) {
    auto c = uniform_constant(g, n.inputs[1]);
    if (!c || *c == 0) return false;
    p.scale /= *c;
    add_factor(g, n.inputs[0], p);
  } else if (n.is(Op::Mul)) {
    add_factor(g, n.inputs[0], p);
    add_factor(g, n.inputs[1], p);
  } else {
    return false;
  }
  p.nodes.push_back(n.id);
  return true;
}

void add_factor(const Graph& g, ValueId v, Product& p) {
  if (auto c = uniform_constant(g, v)) {
    p.scale *= *c;
    return;
  }
  const Node* n = producer(g, v);
  bool descend = n != nullptr && single_use(g, v) && p.visited < kMostProducts;
  if (descend && add_operands(g, *n, p)) return;
  p.factors.push_back(v);
}

bool close(double a, double b, ElementType elem) {
  double tolerance = elem == ElementType::F16 ? 1e-3 : elem == ElementType::BF16 ? 8e-3 : 1e-6;
  return std::abs(a - b) <= tolerance * std::abs(b);
}

// The data operand of Add(x, c) with c close to `value`, either way round.
ValueId plus_constant(const Graph& g, const Node* add, double value) {
  if (add == nullptr) return {};
  for (size_t i : {size_t{1}, size_t{0}}) {
    auto c = uniform_constant(g, add->inputs[i]);
    ValueId data = add->inputs[1 - i];
    if (c && close(*c, value, type_of(g, data).elem) && type_of(g, data) == type_of(g, add->outputs[0]))
      return data;
  }
  return {};
}

// What a matched factor stands for: f(x), made by `nodes`.
struct Gate {
  ValueId x;
  double scale = 1;  // the factor is scale * f(x)
  std::vector<NodeId> nodes;
};

// 1 + Erf(x / sqrt 2)
std::optional<Gate> erf_gate(const Graph& g, ValueId v) {
  const Node* add = producer_of(g, v, Op::Add);
  if (add == nullptr || !single_use(g, v)) return std::nullopt;
  ValueId e = plus_constant(g, add, 1);
  const Node* erf = e.valid() && single_use(g, e) ? producer_of(g, e, Op::Erf) : nullptr;
  const Node* inner = erf != nullptr && single_use(g, erf->inputs[0]) ? producer(g, erf->inputs[0]) : nullptr;
  if (inner == nullptr) return std::nullopt;
  Product p;
  if (!add_operands(g, *inner, p) || p.factors.size() != 1 || p.nodes.size() != 1) return std::nullopt;
  if (!close(p.scale, std::sqrt(0.5), type_of(g, v).elem)) return std::nullopt;
  return Gate{p.factors[0], 1, {inner->id, erf->id, add->id}};
}

// Clip(x + 3, 0, 6), which is 6 * HardSigmoid(x, 1/6, 0.5); or that itself.
std::optional<Gate> hard_sigmoid_gate(const Graph& g, ValueId v) {
  if (!single_use(g, v)) return std::nullopt;
  ElementType elem = type_of(g, v).elem;
  if (const Node* h = producer_of(g, v, Op::HardSigmoid)) {
    bool match = close(static_cast<double>(ops::attr::alpha(*h)), 1.0 / 6, ElementType::F32) &&
                 ops::attr::beta(*h) == 0.5f;
    return match ? std::optional(Gate{h->inputs[0], 1, {h->id}}) : std::nullopt;
  }
  const Node* clip = producer_of(g, v, Op::Clip);
  if (clip == nullptr || !single_use(g, clip->inputs[0])) return std::nullopt;
  auto low = uniform_constant(g, input_or_none(*clip, 1)),
       high = uniform_constant(g, input_or_none(*clip, 2));
  if (low != 0.0 || !high || !close(*high, 6, elem)) return std::nullopt;
  const Node* add = producer_of(g, clip->inputs[0], Op::Add);
  ValueId x = plus_constant(g, add, 3);
  if (!x.valid()) return std::nullopt;
  return Gate{x, 6, {add->id, clip->id}};
}

std::optional<Gate> sigmoid_gate(const Graph& g, ValueId v) {
  const Node* sigmoid = single_use(g, v) ? producer_of(g, v, Op::Sigmoid) : nullptr;
  return sigmoid == nullptr ? std::nullopt : std::optional(Gate{sigmoid->inputs[0], 1, {sigmoid->id}});
}

using GateMatcher = std::optional<Gate> (*)(const Graph& g, ValueId v);

// root == scale * x * gate(x) with the given scale.
bool fuse_gated(Rewriter& rw, NodeId id, GateMatcher match, double scale, Op op) {
  const Graph& g = rw.graph();
  const Node& root = g.node(id);
  if (root.outputs.size() != 1 || g.use_count(root.outputs[0]) == 0) return false;
  Product p;
  if (!is_float(type_of(g, root.outputs[0]).elem) || !add_operands(g, root, p) || p.factors.size() != 2)
    return false;
  for (size_t i : {size_t{0}, size_t{1}}) {
    auto gate = match(g, p.factors[i]);
    TensorType type = type_of(g, root.outputs[0]);
    if (!gate || gate->x != p.factors[1 - i] || !close(p.scale * gate->scale, scale, type.elem)) continue;
    if (!(type_of(g, gate->x) == type)) continue;
    std::vector<NodeId> from = gate->nodes;
    from.insert(from.end(), p.nodes.begin(), p.nodes.end());
    const ir::OpSchema& schema = ops::op_def(op);
    NodeId fused = rw.create(schema, {gate->x}, ir::default_attrs(schema), {type}, from);
    bypass(rw, id, rw.output(fused), "recognised as part of " + std::string(schema.name));
    for (auto it = from.rbegin(); it != from.rend(); ++it) {
      erase_if_unused(rw, *it, "recognised as part of " + std::string(schema.name));
    }
    return true;
  }
  return false;
}

bool fuse_gelu(Rewriter& rw, NodeId id) {
  return fuse_gated(rw, id, erf_gate, 0.5, Op::Gelu);
}
bool fuse_swish(Rewriter& rw, NodeId id) {
  return fuse_gated(rw, id, sigmoid_gate, 1, Op::Swish);
}
bool fuse_hard_swish(Rewriter& rw, NodeId id) {
  return fuse_gated(rw, id, hard_sigmoid_gate, 1, Op::HardSwish);
}

// The slope when `v` is x scaled by a constant in (0, 1) that a float attribute holds exactly, or LeakyRelu
// of x.
std::optional<float> slope_of(const Graph& g, ValueId v, ValueId x) {
  const Node* n = producer(g, v);
  if (n == nullptr || !(type_of(g, v) == type_of(g, x))) return std::nullopt;
  double slope = 0;
  if (n->is(Op::LeakyRelu) && n->inputs[0] == x) {
    slope = static_cast<double>(ops::attr::alpha(*n));
  } else if (n->is(Op::Mul) && (n->inputs[0] == x || n->inputs[1] == x)) {
    slope = uniform_constant(g, n->inputs[n->inputs[0] == x ? 1 : 0]).value_or(0);
  }
  auto alpha = static_cast<float>(slope);
  if (!(slope > 0 && slope < 1) || static_cast<double>(alpha) != slope) return std::nullopt;
  return alpha;
}

bool fuse_leaky_relu(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (!n.is(Op::Max) || n.inputs.size() != 2 || g.use_count(n.outputs[0]) == 0) return false;
  if (!is_float(type_of(g, n.outputs[0]).elem)) return false;
  for (size_t i : {size_t{0}, size_t{1}}) {
    ValueId x = n.inputs[i], scaled = n.inputs[1 - i];
    auto alpha = slope_of(g, scaled, x);
    if (!alpha) continue;
    NodeId inner = producer(g, scaled)->id;
    TensorType type = type_of(g, n.outputs[0]);
    bypass(rw, id, make(rw, Op::LeakyRelu, {x}, type, {inner, id}, {{"alpha", Attr(*alpha)}}),
           "recognised as LeakyRelu");
    erase_if_unused(rw, inner, "recognised as part of LeakyRelu");
    return true;
  }
  return false;
}

}  // namespace

Status fuse_activations(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "fuse-activations", is_any<Op::Max, Op::Mul, Op::Div>, fuse_leaky_relu,
                          fuse_gelu, fuse_swish, fuse_hard_swish);
  return {};
}

}  // namespace mrvlc::passes

// canonicalize-math
//   Sum(a, b)                      ->  Add(a, b)
//   Max(x, 0)                      ->  Relu(x)
//   Max(x, c), Min(x, c)           ->  Clip(x, c, _), Clip(x, _, c)
//   Clip(Clip(x, a, b), c, d)      ->  Clip(x, max(a, c), min(b, d))
//   Clip(x, 0, _)                  ->  Relu(x)
//   Sub(x, c)                      ->  Add(x, -c)
//   Div(x, c), c powers of two     ->  Mul(x, 1/c)
//   Pow(x, 2)                      ->  Mul(x, x)
// Preconditions: c is constant and does not enlarge the result; bounds are one number; Relu, Sub, Div and Pow
// in floating point. Merged bounds do not cross. Safe because each pair gives the same bits: x-c is x+(-c)
// and x/2^k is x*2^-k in IEEE arithmetic as long as 2^-k is a normal number of the type.
#include <algorithm>
#include <cmath>
#include <limits>

#include "mrvlc/ops/op_kind.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

bool used(const Graph& g, const Node& n) {
  return !n.outputs.empty() && g.use_count(n.outputs[0]) != 0;
}

// For a commutative binary operator: the operand that is not constant, and the constant one; both types agree
// with the result's where it matters.
struct DataAndConstant {
  ValueId data, constant;
};

std::optional<DataAndConstant> split_operands(const Graph& g, const Node& n) {
  if (n.inputs.size() != 2 || !n.inputs[0].valid() || !n.inputs[1].valid()) return std::nullopt;
  for (size_t c : {size_t{1}, size_t{0}}) {
    ValueId constant = n.inputs[c], data = n.inputs[1 - c];
    if (!g.is_constant(constant) || g.is_constant(data)) continue;
    if (type_of(g, data) == type_of(g, n.outputs[0])) return DataAndConstant{data, constant};
  }
  return std::nullopt;
}

bool sum_to_add(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (!n.is(Op::Sum) || n.inputs.size() != 2 || !used(g, n)) return false;
  ValueId add = make(rw, Op::Add, n.inputs, type_of(g, n.outputs[0]), {id});
  return bypass(rw, id, add, "rewritten as Add");
}

ValueId bound_constant(Rewriter& rw, NodeId id, ElementType elem, double bound, std::string name) {
  return rw.constant(scalar_tensor(elem, bound), std::span(&id, 1), std::move(name));
}

// Bounds of integer types are compared and stored as doubles; larger ones would lose bits.
bool is_exact_bound(ElementType elem, double v) {
  if (std::isnan(v)) return false;
  return is_float(elem) || std::abs(v) < 0x1p53;
}

ValueId make_clip(Rewriter& rw, ValueId x, double low, double high, std::initializer_list<NodeId> from) {
  TensorType type = type_of(rw.graph(), x);
  NodeId last = *(from.end() - 1);
  if (low == 0 && high == kInf && is_float(type.elem)) return make(rw, Op::Relu, {x}, type, from);
  ValueId min, max;
  if (low != -kInf) min = bound_constant(rw, last, type.elem, low, "min");
  if (high != kInf) max = bound_constant(rw, last, type.elem, high, "max");
  std::vector<ValueId> inputs{x, min, max};
  while (!inputs.back().valid()) inputs.pop_back();
  return make(rw, Op::Clip, std::move(inputs), type, from);
}

// low <= data <= high, whichever operator says so.
struct Bounds {
  ValueId data;
  double low = -kInf, high = kInf;
};

std::optional<Bounds> max_min_bounds(const Graph& g, const Node& n) {
  auto operands = split_operands(g, n);
  auto bound = operands ? uniform_constant(g, operands->constant) : std::nullopt;
  if (!bound || !is_exact_bound(type_of(g, n.outputs[0]).elem, *bound)) return std::nullopt;
  return n.is(Op::Max) ? Bounds{operands->data, *bound, kInf} : Bounds{operands->data, -kInf, *bound};
}

// nullopt: not a bounding operator, or the bounds are not known at compile time, or not one number.
std::optional<Bounds> bounds_of(const Graph& g, const Node& n) {
  if (n.is(Op::Relu)) return Bounds{n.inputs[0], 0, kInf};
  if (n.is(Op::Max, Op::Min)) return max_min_bounds(g, n);
  if (!n.is(Op::Clip)) return std::nullopt;
  Bounds b{n.inputs[0]};
  for (size_t i : {size_t{1}, size_t{2}}) {
    ValueId v = input_or_none(n, i);
    if (!v.valid()) continue;
    auto c = uniform_constant(g, v);
    if (!c || !is_exact_bound(type_of(g, v).elem, *c)) return std::nullopt;
    (i == 1 ? b.low : b.high) = *c;
  }
  return b;
}

bool has_canonical_form(const Graph& g, const Node& n, const Bounds& b) {
  bool relu = b.low == 0 && b.high == kInf && is_float(type_of(g, n.outputs[0]).elem);
  return n.is(relu ? Op::Relu : Op::Clip);
}

// Bounds right after bounds are one operator, unless they cross.
bool merge_bounds(Rewriter& rw, NodeId id, const Bounds& outer) {
  const Graph& g = rw.graph();
  const Node* first = producer(g, outer.data);
  if (first == nullptr || !single_use(g, outer.data)) return false;
  auto inner = bounds_of(g, *first);
  if (!inner) return false;
  double low = std::max(outer.low, inner->low), high = std::min(outer.high, inner->high);
  if (low > high) return false;
  NodeId first_id = first->id;
  bypass(rw, id, make_clip(rw, inner->data, low, high, {first_id, id}), "merged with the bound before it");
  erase_if_unused(rw, first_id, "merged with the bound after it");
  return true;
}

bool canonical_bounds(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (!used(g, n)) return false;
  auto b = bounds_of(g, n);
  if (!b) return false;
  if (merge_bounds(rw, id, *b)) return true;
  if (has_canonical_form(g, g.node(id), *b)) return false;
  return bypass(rw, id, make_clip(rw, b->data, b->low, b->high, {id}), "rewritten as Relu or Clip");
}

Tensor map_elements(const Tensor& t, double (*f)(double)) {
  Tensor out(t.type());
  for (int64_t i = 0; i < t.elements(); ++i) out.set_double(i, f(t.as_double(i)));
  return out;
}

// Whether c is a power of two whose reciprocal is a normal number of the type, as c is.
bool has_exact_reciprocal(double c, ElementType elem) {
  int exponent = 0;
  if (!std::isfinite(c) || std::abs(std::frexp(c, &exponent)) != 0.5) return false;
  int limit = elem == ElementType::F16 ? 14 : elem == ElementType::F64 ? 1022 : 126;
  return std::abs(exponent - 1) <= limit;
}

bool replace_operand(Rewriter& rw, NodeId id, Op op, double (*f)(double)) {
  const Graph& g = rw.graph();
  std::vector<NodeId> from = origins(g, {id}, {g.node(id).inputs[1]});
  TensorType type = type_of(g, g.node(id).outputs[0]);
  ValueId constant = rw.constant(map_elements(*g.constant(g.node(id).inputs[1]), f), from);
  ValueId now = make(rw, op, {g.node(id).inputs[0], constant}, type, {id});
  return bypass(rw, id, now, "rewritten as " + std::string(ops::op_def(op).name) + " of a constant");
}

bool sub_to_add(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (!n.is(Op::Sub) || !used(g, n) || !g.is_constant(n.inputs[1]) || g.is_constant(n.inputs[0]))
    return false;
  if (!is_float(type_of(g, n.inputs[1]).elem)) return false;
  return replace_operand(rw, id, Op::Add, [](double c) { return -c; });
}

bool div_to_mul(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (!n.is(Op::Div) || !used(g, n) || !g.is_constant(n.inputs[1]) || g.is_constant(n.inputs[0]))
    return false;
  const Tensor& c = *g.constant(n.inputs[1]);
  if (!is_float(c.elem())) return false;
  for (int64_t i = 0; i < c.elements(); ++i) {
    if (!has_exact_reciprocal(c.as_double(i), c.elem())) return false;
  }
  return replace_operand(rw, id, Op::Mul, [](double v) { return 1 / v; });
}

bool square(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (!n.is(Op::Pow) || !used(g, n) || !is_float(type_of(g, n.inputs[0]).elem)) return false;
  if (uniform_constant(g, n.inputs[1]) != 2.0 || !(type_of(g, n.inputs[0]) == type_of(g, n.outputs[0])))
    return false;
  ValueId now = make(rw, Op::Mul, {n.inputs[0], n.inputs[0]}, type_of(g, n.outputs[0]), {id});
  return bypass(rw, id, now, "rewritten as a product with itself");
}

}  // namespace

Status canonicalize_math(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "canonicalize-math",
                          is_any<Op::Sum, Op::Relu, Op::Max, Op::Min, Op::Clip, Op::Sub, Op::Div, Op::Pow>,
                          sum_to_add, canonical_bounds, sub_to_add, div_to_mul, square);
  return {};
}

}  // namespace mrvlc::passes
